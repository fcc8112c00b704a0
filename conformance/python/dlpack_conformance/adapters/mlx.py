"""MLX on the CPU: its from_dlpack() copies."""

from ..adapter import Adapter

ADAPTER = Adapter(
    name="mlx",
    setup="import mlx.core as mx; mx.set_default_device(mx.cpu)",
    version="mx.__version__",
    dtype="mx.{name}",
    dtypes="int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 complex64",
    array="mx.array({values}, dtype={dtype})",
    ones="mx.ones({size}, dtype={dtype})",
    take="mx.from_dlpack({x})",
    values="{y}.tolist()",
    write="{y}[...] = 7",
)
