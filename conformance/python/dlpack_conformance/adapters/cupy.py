"""CuPy: arrays on CUDA devices alone."""

from ..adapter import VIEWS, Adapter

ADAPTER = Adapter(
    name="cupy",
    setup="import cupy as cp",
    version="cp.__version__",
    dtype="cp.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 "
    "complex64 complex128",
    views={**VIEWS, "broadcast": "cp.broadcast_to({x}[:1], (3, 4))"},
    values="{y}.tolist()",
    write="{y}.fill(7)",
    on_stream="cp.cuda.ExternalStream({stream})",
    work="{y} + 0",
    devices={
        "cuda": {
            "array": "cp.array({values}, dtype={dtype})",
            "ones": "cp.ones({size}, dtype={dtype})",
            "take": "cp.from_dlpack({x})",
        }
    },
)
