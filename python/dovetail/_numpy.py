"""Tensor.numpy() for types that NumPy lacks, and numpy.dtype(t). C++ handles all other types."""

from . import _core


def to_numpy(tensor):
    """Return an array that shares the tensor's memory. It is read-only if the tensor is.

    Types that NumPy lacks (bfloat16, float8, ...) become types of ml_dtypes, which must be
    installed. Raises TypeError for sub-byte elements (int4, float4) that share bytes, which NumPy
    can't hold; those with a byte each, as arrays of ml_dtypes have them, are shared.
    """
    import numpy

    if tensor.dtype.bits % 8 and not _is_padded(tensor):
        name = tensor.dtype.name
        raise TypeError(
            f"{name} elements share bytes, and NumPy gives each a byte of its own. Cast them, "
            "as in t.to(dovetail.int8) or t.to(dovetail.float32)"
        )
    dtype = to_numpy_dtype(tensor.dtype)
    if dtype.isbuiltin == 1:
        return numpy.asarray(_Bytes(tensor, dtype))
    return numpy.asarray(_Bytes(tensor, numpy.dtype(f"u{dtype.itemsize}"))).view(dtype)


def to_numpy_dtype(dtype):
    """Return the numpy.dtype of a DType: NumPy's own, or else that of ml_dtypes.

    A sub-byte type (int4, float4) becomes the type of ml_dtypes, whose elements have a byte each.
    Raises TypeError if there is no such type, or if it takes ml_dtypes, which is not installed.
    """
    import numpy

    name = dtype.name
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(
            f"NumPy has no type {name}; install ml_dtypes for bfloat16, the float8 types and "
            "integers of fewer than 8 bits"
        ) from None
    try:
        return numpy.dtype(getattr(ml_dtypes, name))
    except AttributeError:
        version = ml_dtypes.__version__
        raise TypeError(
            f"neither NumPy nor ml_dtypes {version} has a type {name}; cast to another type"
        ) from None


def _is_padded(tensor):
    *_, (_, _, _, _, padded, _) = _core._memory_of(tensor)
    return padded


class _Bytes:
    """The elements as elements of another type of the same size, for NumPy to import by address.

    NumPy would ask the tensor itself by __array__() in no_copies(), which calls to_numpy().
    """

    def __init__(self, tensor, dtype):
        self._tensor = tensor  # keeps the memory alive as long as the array exists
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "typestr": dtype.str,
            "data": (tensor.data_ptr(), tensor.readonly),
            "strides": tuple(dtype.itemsize * stride for stride in tensor.strides),
        }
