"""tvm-ffi's Tensor: it comes from another library's memory, and NumPy reads it."""

from ..adapter import Adapter

ADAPTER = Adapter(
    name="tvm_ffi",
    setup="import numpy as np, tvm_ffi",
    version="tvm_ffi.__version__",
    dtype="np.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128",
    array="tvm_ffi.from_dlpack(np.array({values}, dtype={dtype}))",
    ones="tvm_ffi.from_dlpack(np.ones({size}, dtype={dtype}))",
    views={},
    take="tvm_ffi.from_dlpack({x})",
    values="np.from_dlpack({y}).tolist()",
    passes_on=("types", "devices"),
    view=None,
    write="np.from_dlpack({y})[...] = 7",
)
