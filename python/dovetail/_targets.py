"""Classes that convert() makes by their library's own Python functions."""


class _Immutable:
    """A tensor for a library that never writes: its memory may be shared though it is read-only.

    JAX asks for a capsule of DLPack before 1.0, which has no way to say read-only, and so would be
    refused one.
    """

    def __init__(self, tensor):
        self._tensor = tensor

    def __dlpack__(self, **arguments):
        from dovetail._core import _to_immutable_consumer

        return _to_immutable_consumer(self._tensor)

    def __dlpack_device__(self):
        return self._tensor.__dlpack_device__()


def to_jax(tensor):
    """Gives a jax.Array over the tensor's memory."""
    import jax.dlpack

    if tensor.readonly:  # and on the CPU, as convert() sees to
        return jax.dlpack.from_dlpack(_Immutable(tensor))
    return jax.dlpack.from_dlpack(tensor)


def to_pyarrow(tensor):
    """Gives a pyarrow.Array over the memory of a tensor with one dimension."""
    import pyarrow

    return pyarrow.array(tensor)
