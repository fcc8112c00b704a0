"""array-api-strict: NumPy behind the array API standard's strict interface."""

from ..adapter import Adapter

ADAPTER = Adapter(
    name="array_api_strict",
    setup="import array_api_strict as xp, numpy as np",
    version="xp.__version__",
    dtype="xp.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
    "complex128",
    array="xp.asarray({values}, dtype={dtype})",
    ones="xp.ones({size}, dtype={dtype})",
    take="xp.from_dlpack({x})",
    here="xp.Device('CPU_DEVICE')",
    values="np.from_dlpack({y}).tolist()",
    view="{y}[1:, :]",
    write="{y}[...] = 7.0",
)
