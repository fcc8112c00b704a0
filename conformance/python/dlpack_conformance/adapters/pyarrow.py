"""PyArrow's Array: of one dimension, read-only, and takes nothing in."""

from ..adapter import Adapter

ADAPTER = Adapter(
    name="pyarrow",
    setup="import pyarrow as pa",
    version="pa.__version__",
    dtype="pa.{name}()",
    dtypes="int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64",
    array="pa.array({values}, type={dtype})",
    ones="pa.repeat(pa.scalar(1, {dtype}), {size})",
    one_dimensional=True,
    views={},
    read_only="{x}",
    unsupported={
        "text": "pa.array(['a'])",
        "nulls": "pa.array([1, None])",
        "bool": "pa.array([True])",
    },
    nulls="pa.array([1, None, 3], type=pa.float32())",
    take_buffer="pa.Array.from_buffers(pa.float32(), 4, [None, pa.py_buffer({x})])",
    take_arrow="pa.array({x})",
    values="{y}.to_pylist()",
)
