"""Pickling of tensors and types. The first pickling imports this module.

    >>> import pickle
    >>> import dovetail as dt
    >>> pickle.loads(pickle.dumps(dt.arange(3), protocol=5))
    tensor([0, 1, 2])

Pickling preserves elements, shape, dtype, readonly and requires_grad. It does not preserve strides
(the copy is row-major) or memory that tensors share with each other. With protocol 5 the elements
are one PickleBuffer, so that buffer_callback= can pass them on without a copy. A tensor loaded from
read-only buffers= is read-only, as NumPy's arrays are. Tensors on other devices are loaded on the
CPU, because the loading process may not have the device.
"""

from math import prod
from pickle import PickleBuffer

from dovetail import _core


def reduce_tensor(tensor, protocol):
    """Return the value of Tensor.__reduce_ex__."""
    data = _read_bytes(tensor.detach())
    # Before protocol 5, a bytearray: the loaded tensor must be writable.
    data = PickleBuffer(data) if protocol >= 5 else bytearray(memoryview(data))
    facts = (tensor.dtype.name, tensor.shape, tensor.readonly, tensor.requires_grad)
    return rebuild, (data, *facts)


def rebuild(data, dtype, shape, readonly, requires_grad):
    """Return the tensor that reduce_tensor pickled. `data` supports the buffer protocol."""
    for name, flag in (("readonly", readonly), ("requires_grad", requires_grad)):
        if not isinstance(flag, bool):
            raise TypeError(f"a pickled tensor's {name} must be True or False, not {flag!r:.100}")
    dtype = _core.dtype(dtype)
    count = prod(shape)
    if count == 0:
        tensor = _core.empty(shape, dtype=dtype)
        if readonly:  # a part of a read-only element: there is no empty buffer to read
            one = _core.frombuffer(bytes(dtype.itemsize), dtype=dtype, count=1)
            tensor = one[:0].reshape(tensor.shape)
    else:
        view = memoryview(data)
        if readonly:
            view = view.toreadonly()
        tensor = _core.frombuffer(view, dtype=dtype, count=count).reshape(shape)
    return tensor.requires_grad_(True) if requires_grad else tensor


def restore_dtype(name):
    """dovetail.dtype, as a Python function: pickle can't find a C++ function by name."""
    return _core.dtype(name)


def _read_bytes(tensor):
    """Return the elements as contiguous bytes on the CPU; shares the memory if it is so already."""
    if tensor.size == 0:
        return bytearray()
    if str(tensor.device) != "cpu":
        tensor = _core.tensor(tensor, device="cpu")
    elif tensor.dtype.bits * tensor.dtype.lanes % 8:
        tensor = tensor.copy()  # packs the elements
    return _core.frombuffer(tensor.contiguous(), dtype=_core.uint8)
