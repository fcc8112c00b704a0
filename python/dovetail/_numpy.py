"""Tensor.numpy(): a NumPy array over the tensor's memory."""


def to_numpy(tensor):
    """Gives an array that shares the tensor's memory, and is read-only where the tensor is.

    Types that NumPy lacks (bfloat16, float8, ...) come as those of ml_dtypes, which has to be
    installed. What shares bytes with its neighbours (packed int4, float4) has no array: TypeError.
    """
    import numpy

    name = tensor.dtype.name
    if hasattr(numpy, name):
        return numpy.asarray(tensor)
    try:
        import ml_dtypes

        dtype = numpy.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise TypeError(
            f"NumPy has no type {name}; install ml_dtypes for bfloat16 and the float8 types, or "
            "copy the tensor to another type"
        ) from None
    if tensor.dtype.bits % 8:
        raise TypeError(f"{name} elements share bytes, and NumPy gives each a byte of its own")
    return numpy.asarray(_Bytes(tensor, dtype.itemsize)).view(dtype)


class _Bytes:
    """The elements as unsigned integers of their size, which NumPy takes by address."""

    def __init__(self, tensor, itemsize):
        if tensor.requires_grad:
            raise BufferError("Can't export tensors that require gradient; use tensor.detach().")
        if tensor.__dlpack_device__()[0] != 1:
            raise BufferError(f"NumPy can't reach memory on {tensor.device}; copy it to the CPU.")
        self._tensor = tensor  # keeps the memory alive as long as the array
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "typestr": f"|u{itemsize}" if itemsize == 1 else f"=u{itemsize}",
            "data": (tensor.data_ptr(), tensor.readonly),
            "strides": tuple(itemsize * stride for stride in tensor.strides),
        }
