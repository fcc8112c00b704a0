"""Tensor.numpy() for types that NumPy lacks. C++ handles all other types."""


def to_numpy(tensor):
    """Return an array that shares the tensor's memory. It is read-only if the tensor is.

    Types that NumPy lacks (bfloat16, float8, ...) become types of ml_dtypes, which must be
    installed. Raises TypeError for packed sub-byte elements (int4, float4): NumPy can't hold them.
    """
    import numpy

    dtype = _find_dtype(numpy, tensor.dtype)
    if dtype.isbuiltin == 1:
        return numpy.asarray(tensor)
    return numpy.asarray(_Bytes(tensor, numpy.dtype(f"u{dtype.itemsize}"))).view(dtype)


def _find_dtype(numpy, dtype):
    name = dtype.name
    if dtype.bits % 8:
        raise TypeError(f"{name} elements share bytes, and NumPy gives each a byte of its own")
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise TypeError(
            f"NumPy has no type {name}; install ml_dtypes for bfloat16 and the float8 types, or "
            "copy the tensor to another type"
        ) from None


class _Bytes:
    """The elements as unsigned integers of the same size, for NumPy to import by address."""

    def __init__(self, tensor, dtype):
        self._tensor = tensor  # keeps the memory alive as long as the array exists
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "typestr": dtype.str,
            "data": (tensor.data_ptr(), tensor.readonly),
            "strides": tuple(dtype.itemsize * stride for stride in tensor.strides),
        }
