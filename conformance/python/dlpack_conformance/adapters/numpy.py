"""NumPy."""

from ..adapter import VIEWS, Adapter

ADAPTER = Adapter(
    name="numpy",
    setup="import numpy as np",
    version="np.__version__",
    dtype="np.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128",
    array="np.array({values}, dtype={dtype})",
    ones="np.ones({size}, dtype={dtype})",
    views={**VIEWS, "broadcast": "np.broadcast_to({x}[:1], (3, 4))"},
    read_only="np.broadcast_to({x}, (3, 4))",
    other_byte_order="np.array([1, 2], dtype=np.dtype('=i4').newbyteorder())",
    unsupported={"objects": "np.array([None])", "text": "np.array(['a'])"},
    take="np.from_dlpack({x})",
    here='"cpu"',
    take_buffer="np.asarray({x})",
    take_interface="np.asarray({x})",
    values="{y}.tolist()",
    write="{y}[...] = 7",
)
