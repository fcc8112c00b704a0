"""Targets of convert(): those that a name stands for, and those that a library itself makes."""

import importlib

from dovetail._core import (
    ExchangeError,
    backends,
    complex64,
    complex128,
    convert,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)

# Names for convert(), beside those of classes: the class in the module.
CLASSES = {
    "cupy": "ndarray",
    "dovetail": "Tensor",
    "dpnp": "ndarray",
    "jax": "Array",
    "numpy": "ndarray",
    "onnxruntime": "OrtValue",
    "paddle": "Tensor",
    "pyarrow": "Array",
    "tensorflow": "Tensor",
    "torch": "Tensor",
    "tvm_ffi": "Tensor",
}

# Libraries that take memory of GPUs alone, and the backend of these.
GPU_BACKENDS = {"cupy": "cuda"}


def device_for(library):
    """Return a device whose memory the library takes; None if there is none here."""
    backend = GPU_BACKENDS.get(library, "cpu")
    count = backends().get(backend)  # a reason, if the backend has no device
    return backend if isinstance(count, int) and count > 0 else None


def place_of(name):
    """Return where the class is that a library's name stands for: its module, and its name there,
    which may have dots."""
    module, _, rest = name.partition(".")
    attribute = rest or CLASSES.get(module)
    if not module or attribute is None:
        known = ", ".join(sorted(CLASSES))
        raise ValueError(f"convert() knows no library {name!r}; it knows {known}, and any class")
    return module, attribute


def class_named(name):
    """Return the class of tensors that a library's name stands for, and import the library."""
    module, attribute = place_of(name)
    found = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    return found


class _Immutable:
    """A read-only tensor for a library that never writes, so that it can share the memory.

    JAX and TensorFlow request a capsule of DLPack before 1.0. Such a capsule can't declare
    read-only memory, so a plain export would refuse it.
    """

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack__(self, **arguments):
        from dovetail._core import _to_immutable_consumer

        return _to_immutable_consumer(self._tensor)

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


def to_jax(tensor):
    """Return a jax.Array over the tensor's memory."""
    import jax.dlpack

    # (Read-only memory is on the CPU: convert() ensures that.)
    array = jax.dlpack.from_dlpack(_Immutable(tensor) if tensor.readonly else tensor)
    if array.nbytes < tensor.nbytes:
        raise ExchangeError(
            f"JAX would narrow {tensor.dtype} to {array.dtype}: it has types of 64 bits only after "
            f'jax.config.update("jax_enable_x64", True). Call that, or convert the tensor first: '
            f"x.to(dovetail.{array.dtype})."
        )
    return array


# What JAX makes of types of 64 bits that it does not have.
_NARROWED = {int64: int32, uint64: uint32, float64: float32, complex128: complex64}


def as_jax(tensor):
    """Return what jax.numpy.asarray(tensor) is: over the tensor's memory, but for types of 64 bits
    that JAX narrows unless it is told not to."""
    import jax

    narrow = _NARROWED.get(tensor.dtype)
    if narrow is not None and not jax.config.jax_enable_x64:
        tensor = tensor.to(narrow)
    return convert(tensor, jax.Array)


def to_pyarrow(tensor):
    """Return a pyarrow.Array over the memory of a one-dimensional tensor."""
    import pyarrow

    return pyarrow.array(tensor)


def to_onnxruntime(tensor):
    """Return an onnxruntime.OrtValue over the tensor's memory."""
    import onnxruntime

    if not hasattr(onnxruntime.OrtValue, "from_dlpack"):
        raise ExchangeError(
            f"ONNX Runtime {onnxruntime.__version__} takes no tensors by DLPack; update it"
        )
    return onnxruntime.OrtValue.from_dlpack(tensor)


def to_tensorflow(tensor):
    """Return an eager tensor of TensorFlow over the tensor's memory."""
    import tensorflow

    source = _Immutable(tensor) if tensor.readonly else tensor
    return tensorflow.experimental.dlpack.from_dlpack(source.__dlpack__())
