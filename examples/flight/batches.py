"""A tensor as a record batch of Arrow and back, without a copy.

The batch has one column, "tensor". Integers and floats of 16 to 64 bits have a row for each index
of the first dimension, a fixed shape tensor, which every client of Flight can read. A type that
Arrow lacks (bfloat16, float8, complex, int4) or packs in another way (bool) is one row with all
bytes of the tensor. The schema's metadata has the type and the shape.
"""

import json
from math import prod

import pyarrow as pa

import dovetail as dt

ARROW_TYPES = {f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)}
ARROW_TYPES |= {"float16", "float32", "float64"}


def to_batch(tensor):
    """Return a record batch over the tensor's memory, or over a row-major copy if it is strided."""
    facts = {"dtype": tensor.dtype.name, "shape": tensor.shape}
    rows = tensor.detach().contiguous()
    if tensor.dtype.name not in ARROW_TYPES:
        rows = _bytes_of(rows)[None]
    elif tensor.ndim == 0:
        rows = rows.reshape(1)
    type_ = pa.fixed_shape_tensor(pa.from_numpy_dtype(rows.dtype.name), rows.shape[1:])
    column = pa.ExtensionArray.from_storage(type_, pa.array(rows, type=type_.storage_type))
    schema = pa.schema([("tensor", type_)], metadata={"dovetail": json.dumps(facts)})
    return pa.record_batch([column], schema=schema)


def from_batch(batch):
    """Return the read-only tensor over a record batch that to_batch made.

    Raises ValueError, KeyError or TypeError if the batch is not one of these.
    """
    metadata = (batch.schema.metadata or {}).get(b"dovetail")
    if metadata is None or batch.schema.names != ["tensor"]:
        raise ValueError("this record batch was not made by to_batch()")
    facts = json.loads(metadata)
    dtype, shape = dt.dtype(facts["dtype"]), facts["shape"]
    tensor = dt.from_arrow(batch.column("tensor"))
    if dtype.name in ARROW_TYPES:
        if tensor.dtype != dtype:
            raise ValueError(f"the metadata says {dtype}, and the column has {tensor.dtype}")
    elif tensor.size:
        tensor = dt.frombuffer(tensor, dtype=dtype, count=prod(shape))
    else:
        tensor = dt.empty(0, dtype=dtype)
    return tensor.reshape(shape)


def _bytes_of(tensor):
    if tensor.size == 0:  # there is no empty buffer to read
        return dt.empty(0, dtype="uint8")
    return dt.frombuffer(tensor, dtype="uint8")
