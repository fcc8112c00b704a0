"""Dovetail: arrays of any device pass through it."""

from ..adapter import VIEWS, Adapter

ADAPTER = Adapter(
    name="dovetail",
    setup="import dovetail as dt",
    version="dt.__version__",
    dtype="dt.{name}",
    dtypes="bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 "
    "float64 complex64 complex128 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
    "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu",
    array="dt.tensor({values}, dtype={dtype})",
    ones="dt.full({size}, 1, dtype={dtype})",
    views=VIEWS,
    read_only="dt.frombuffer(bytes({x}), dtype=dt.float32).reshape(3, 4)",
    take="dt.from_dlpack({x})",
    here='"cpu"',
    take_buffer="dt.frombuffer({x}, dtype=dt.float32)",
    take_interface="dt.from_array_interface({x})",
    take_arrow="dt.from_arrow({x})",
    values="{y}.tolist()",
    passes_on=("devices",),
    write="{y}[...] = 7",
    on_stream="dt.stream({stream}, device='cuda')",
    work="{y}.copy()",
    devices={
        "cuda": {
            "array": "dt.tensor({values}, dtype={dtype}, device='cuda')",
            "ones": "dt.full({size}, 1, dtype={dtype}, device='cuda')",
            "here": '"cuda"',
            "read_only": None,
        }
    },
)
