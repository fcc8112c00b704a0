"""Pickling of tensors and types, imported when the first one is pickled.

    >>> import pickle
    >>> import dovetail as dt
    >>> pickle.loads(pickle.dumps(dt.arange(3), protocol=5))
    tensor([0, 1, 2])

Elements, shape, dtype, read-only and requires_grad are kept; strides are not (the copy is
row-major), nor is what tensors share with each other. With protocol 5 the elements go as one
PickleBuffer, so that buffer_callback= can hand them over without a copy. A tensor over read-only
buffers= is read-only, as NumPy's arrays are. Tensors of other devices come back on the CPU, since
the process that reads them may not have the device.
"""

from math import prod
from pickle import PickleBuffer

from dovetail import _core


def reduce_tensor(tensor, protocol):
    """What Tensor.__reduce_ex__ returns."""
    data = _read_bytes(tensor.detach())
    # Before protocol 5 as a bytearray, which may be written when it comes back.
    data = PickleBuffer(data) if protocol >= 5 else bytearray(memoryview(data))
    facts = (tensor.dtype.name, tensor.shape, tensor.readonly, tensor.requires_grad)
    return rebuild, (data, *facts)


def rebuild(data, dtype, shape, readonly, requires_grad):
    """The tensor that reduce_tensor took apart. `data` is any object with the buffer protocol."""
    for name, flag in (("readonly", readonly), ("requires_grad", requires_grad)):
        if not isinstance(flag, bool):
            raise TypeError(f"a pickled tensor's {name} must be True or False, not {flag!r:.100}")
    dtype = _core.dtype(dtype)
    count = prod(shape)
    if count == 0:
        tensor = _core.empty(shape, dtype=dtype)
    else:
        view = memoryview(data)
        if readonly:
            view = view.toreadonly()
        tensor = _core.frombuffer(view, dtype=dtype, count=count).reshape(shape)
    return tensor.requires_grad_(True) if requires_grad else tensor


def restore_dtype(name):
    """dovetail.dtype, which as a function of C++ has no name that pickle finds."""
    return _core.dtype(name)


def _read_bytes(tensor):
    """The elements without gaps, as bytes on the CPU; they are shared where they lie so already."""
    if tensor.size == 0:
        return bytearray()
    if str(tensor.device) != "cpu":
        tensor = _core.tensor(tensor, device="cpu")
    elif tensor.dtype.bits * tensor.dtype.lanes % 8:
        tensor = tensor.copy()  # without padding
    return _core.frombuffer(tensor.contiguous(), dtype=_core.uint8)
