"""New tensors under NumPy's names: of ones, like another tensor, of whatever there is."""

from dovetail import _core


def ones(*size, shape=None, dtype=None, device=None):
    """Return a tensor of ones. The default is float32 on the CPU."""
    if (shape is None) == (not size):
        raise TypeError("give the shape once: as ints, a sequence, or by shape=")
    if shape is None:
        shape = size[0] if len(size) == 1 else size
    return _core.full(shape, 1, dtype=_core.float32 if dtype is None else dtype, device=device)


def empty_like(x, *, dtype=None, device=None):
    """Return an uninitialised tensor with the shape of x, and its dtype and device by default."""
    shape, dtype, device = _like(x, dtype, device)
    return _core.empty(shape, dtype=dtype, device=device)


def zeros_like(x, *, dtype=None, device=None):
    """Return a tensor of zeros with the shape of x, and its dtype and device by default."""
    shape, dtype, device = _like(x, dtype, device)
    return _core.zeros(shape, dtype=dtype, device=device)


def ones_like(x, *, dtype=None, device=None):
    """Return a tensor of ones with the shape of x, and its dtype and device by default."""
    return full_like(x, 1, dtype=dtype, device=device)


def full_like(x, fill_value, *, dtype=None, device=None):
    """Return a tensor of fill_value with the shape of x, and its dtype and device by default."""
    shape, dtype, device = _like(x, dtype, device)
    return _core.full(shape, fill_value, dtype=dtype, device=device)


def asarray(x, /, *, dtype=None, device=None, copy=None):
    """What asarray() of _core does where it is more than convert(x, Tensor)."""
    if isinstance(x, (bool, int, float, complex, list, tuple, range)):
        if copy is False:
            raise _core.ExchangeError(f"a {type(x).__name__} has no memory that could be shared")
        return _core.tensor(x, dtype=dtype, device=device)
    tensor = _core.convert(x, _core.Tensor, copy=copy)
    dtype = tensor.dtype if dtype is None else _core.dtype(dtype)
    device = tensor.device if device is None else _core.Device(device)
    if copy is False and (tensor.dtype, tensor.device) != (dtype, device):
        raise _core.ExchangeError(
            f"a tensor of {tensor.dtype} on {tensor.device} as {dtype} on {device} takes a copy"
        )
    return tensor.to(device, dtype)


def _like(x, dtype, device):
    tensor = x if isinstance(x, _core.Tensor) else _core.convert(x, _core.Tensor)
    return tensor.shape, dtype or tensor.dtype, device or tensor.device
