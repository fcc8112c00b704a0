"""Messages of MPI, for mpi4py: strided tensors, bfloat16, float8 and packed elements.

    >>> from mpi4py import MPI
    >>> import dovetail as dt, dovetail.mpi
    >>> comm = MPI.COMM_WORLD
    >>> comm.Bcast(dovetail.mpi.message(t[::-1, ::2]))
    >>> comm.Allreduce(MPI.IN_PLACE, dovetail.mpi.message(x), dovetail.mpi.op("sum", dt.bfloat16))

mpi4py takes contiguous tensors of MPI's own types as they are: `comm.Send(t, dest=1)`. This module
describes the others, without a copy. Importing it imports mpi4py.MPI, which initialises MPI.

A message has the elements in row-major order, whatever the strides: the receiver's tensor can have
other ones. MPI transmits no type and no shape; the receiver makes its tensor beforehand.

Functions accept whatever from_dlpack() accepts. They raise ExchangeError, before MPI is called, for
tensors that require gradients, for packed elements (int4, float4) unless their runs are whole
bytes, and for memory on a GPU that this MPI library can't access. mpi4py itself refuses to receive
into read-only tensors (BufferError).
"""

import ctypes
from contextlib import suppress

from mpi4py import MPI

from dovetail import _core
from dovetail._runs import runs
from dovetail._streams import synchronize

__all__ = ["Group", "datatype", "element", "message", "messages", "op"]

_PREDEFINED = {
    "bool": MPI.C_BOOL,
    "int8": MPI.INT8_T,
    "int16": MPI.INT16_T,
    "int32": MPI.INT32_T,
    "int64": MPI.INT64_T,
    "uint8": MPI.UINT8_T,
    "uint16": MPI.UINT16_T,
    "uint32": MPI.UINT32_T,
    "uint64": MPI.UINT64_T,
    "float32": MPI.FLOAT,
    "float64": MPI.DOUBLE,
    "complex64": MPI.C_FLOAT_COMPLEX,
    "complex128": MPI.C_DOUBLE_COMPLEX,
}

# What op() computes in, for the types that MPI lacks.
_WIDER = {
    "float16": "float32",
    "bfloat16": "float32",
    "complex32": "complex64",
    "bcomplex32": "complex64",
}
for _variant in (
    "e3m4",
    "e4m3",
    "e4m3b11fnuz",
    "e4m3fn",
    "e4m3fnuz",
    "e5m2",
    "e5m2fnuz",
    "e8m0fnu",
):
    _WIDER[f"float8_{_variant}"] = "float32"

_HOST = ("cpu", "cuda_host", "rocm_host", "cuda_managed")

# The functions by which Open MPI and MPICH say that they can access a GPU's memory.
_QUERIES = {
    "cuda": ("MPIX_Query_cuda_support",),
    "rocm": ("MPIX_Query_rocm_support", "MPIX_Query_hip_support"),
}

_MOST = 2**31 - 1  # the count of elements that every MPI library accepts

_elements = {}  # the datatypes that element() made, by the name of the type
_operations = {}  # the operations that op() made, by name


class _Datatype(MPI.Datatype):
    """A committed datatype, freed with this object. MPI completes pending messages nevertheless."""

    tensor = None  # what an absolute address refers to

    def __del__(self):
        with suppress(AttributeError, TypeError):  # the interpreter is shutting down
            if self and not MPI.Is_finalized():
                self.Free()


def message(x):
    """Return the message of a tensor for mpi4py: (buffer, datatype) or (buffer, count, datatype).

    The buffer is at x.data_ptr() and keeps the memory alive: a pending Isend or Irecv needs no
    other reference. Nothing has to be freed.

    If the elements are contiguous, the datatype is element(), and all of mpi4py's calls accept the
    message. Otherwise, and for 2**31 elements or more, it is datatype(), and the message is for
    calls that transmit a whole tensor: Send, Recv, Bcast and the like, but not reductions, nor what
    Gather and Allgather receive.

    The host waits for the work that is pending on memory of a GPU, pinned, or managed memory.
    """
    tensor = _accessible(x)
    kind = _kind(tensor)
    if tensor.size == 0:
        return (b"" if tensor.readonly else bytearray(), kind)
    run, loops = runs(tensor)
    if not loops and run // kind.Get_size() <= _MOST:
        return (tensor, kind)
    return (tensor[(0,) * tensor.ndim], 1, _derived(kind, run, loops))


def messages(tensors, *, writable=False):
    """Return the message of several tensors for Alltoallw and Ialltoallw: one for each rank.

    writable  True: for receiving. Raises ExchangeError if a tensor is read-only, which mpi4py can't
              know.

    The tensors can have any types and strides, and need not be parts of one. The message keeps
    their memory alive. Keep it until the request of an Ialltoallw completes: mpi4py does not.
    """
    datatypes = []
    for x in tensors:
        tensor = _accessible(x)
        if writable and tensor.readonly:
            raise _core.ExchangeError("The tensor is read-only; nothing can be received into it.")
        datatypes.append(_at_address(tensor))
    return (MPI.BOTTOM, [1] * len(datatypes), [0] * len(datatypes), datatypes)


def datatype(x):
    """Return the derived MPI datatype of all elements of a tensor, committed.

    Its displacements are relative to x.data_ptr(), in row-major order of the elements; negative
    strides make negative ones. Use it with a count of 1, as message() does. The returned object
    frees it at its end; Free() does so earlier.
    """
    tensor = _core.from_dlpack(x)
    if tensor.size == 0:
        return _owned(_kind(tensor).Create_contiguous(0)).Commit()
    return _derived(_kind(tensor), *runs(tensor))


def element(dtype):
    """Return the MPI datatype of one element.

    It is MPI's own, or else (float16, bfloat16, float8, complex32, types with lanes) a committed
    datatype of as many bytes, with the type's name. Do not free it. Raises TypeError for packed
    types.
    """
    dtype = _core.dtype(dtype)
    if dtype.bits * dtype.lanes % 8:
        raise TypeError(f"{dtype.name} elements share bytes: MPI has no datatype for one of them")
    if dtype.name in _PREDEFINED:
        return _PREDEFINED[dtype.name]
    if dtype.name not in _elements:
        made = MPI.BYTE.Create_contiguous(dtype.itemsize).Commit()
        made.Set_name(dtype.name)
        _elements.setdefault(dtype.name, made)
    return _elements[dtype.name]


def op(name, dtype):
    """Return the MPI operation "sum", "prod", "max" or "min" for elements of this type.

    It is MPI's own, or else (float16, bfloat16, float8, complex32) one for messages with the
    datatype element(dtype), such as message(t). Do not free it.

    The latter converts both operands to float32 (complex32 to complex64), lets NumPy compute, and
    rounds the result to the nearest value of the type, ties to even. It does so for each pair that
    MPI combines, in MPI's order. To round only once, reduce a tensor of float32.

    Raises ValueError for another name; TypeError for bool, for packed types, and for "max" and
    "min" of complex numbers.
    """
    dtype = _core.dtype(dtype)
    if name not in ("sum", "prod", "max", "min"):
        raise ValueError(f'op() has "sum", "prod", "max" and "min", not {name!r}')
    unordered = dtype.name.startswith("complex") and name in ("max", "min")
    if unordered or dtype.name == "bool" or dtype.name not in _PREDEFINED | _WIDER:
        raise TypeError(f"no operation {name!r} for elements of {dtype.name}")
    if dtype.name in _PREDEFINED:
        return getattr(MPI, name.upper())
    if name not in _operations:
        _operations.setdefault(name, MPI.Op.Create(_reduction(name), commute=True))
    return _operations[name]


def _reduction(name):
    """Return the function of an MPI operation on the types in _WIDER."""
    import numpy

    compute = {
        "sum": numpy.add,
        "prod": numpy.multiply,
        "max": numpy.maximum,
        "min": numpy.minimum,
    }[name]

    # mpi4py ends all processes if this raises, because MPI has no way to report it.
    def reduce(inputs, results, datatype):
        dtype = next((name for name, made in _elements.copy().items() if made == datatype), None)
        if dtype not in _WIDER:
            raise TypeError(
                "this operation is for messages with the datatype element(dtype), as of message(t)"
            )
        a, b = (_core.frombuffer(buffer, dtype=dtype) for buffer in (inputs, results))
        with numpy.errstate(all="ignore"):
            value = compute(a.to(_WIDER[dtype]).numpy(), b.to(_WIDER[dtype]).numpy())
        _core.copyto(b, value)

    return reduce


def _accessible(x):
    """Return x as a tensor that MPI can access. Waits for the work on a GPU."""
    tensor = _core.from_dlpack(x)
    device = tensor.device
    if device.type in _HOST:
        synchronize(tensor)
        return tensor
    if device.type not in _QUERIES:
        raise _core.ExchangeError(f"MPI can't access memory of {device}; copy it to the CPU first.")
    library = ctypes.CDLL(MPI.__file__)
    queries = [getattr(library, name) for name in _QUERIES[device.type] if hasattr(library, name)]
    if queries and not any(query() for query in queries):
        version = MPI.Get_library_version().split(",")[0].splitlines()[0]
        raise _core.ExchangeError(
            f"This MPI library ({version}) is built without {device.type.upper()} support and "
            f'can\'t access memory of {device}; send a copy, as in t.to("cpu"), or use an MPI '
            "that is GPU-aware."
        )
    synchronize(tensor)
    return tensor


def _kind(tensor):
    """Return the datatype in which a tensor's elements are counted."""
    packed = tensor.dtype.bits * tensor.dtype.lanes % 8
    return MPI.BYTE if packed else element(tensor.dtype)


def _derived(kind, run, loops):
    made = _owned(kind.Create_contiguous(run // kind.Get_size()))
    for count, stride in reversed(loops):
        if stride == -1:
            # Open MPI 5.0 takes a stride of -1 byte for none, and uses the extent instead.
            made = _owned(made.Create_resized(0, -1))
            made = _owned(made.Create_contiguous(count))
        else:
            made = _owned(made.Create_hvector(count, 1, stride))
    return made.Commit()


def _at_address(tensor):
    made = _owned(datatype(tensor).Create_hindexed([1], [tensor.data_ptr()]))
    made.tensor = tensor
    return made.Commit()


def _owned(made):
    return made if isinstance(made, _Datatype) else _Datatype(made)


from dovetail.reshard._mpi_group import Group  # noqa: E402 (it uses this module)
