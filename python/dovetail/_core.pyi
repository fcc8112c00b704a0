"""Type stubs of the extension module. dovetail re-exports all of it; mypy.stubtest checks them."""

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, SupportsIndex, TypeVar, final, overload

import jax  # type checkers take what is not installed for Any
import numpy
import torch
from typing_extensions import Buffer, CapsuleType, Self

from dovetail import _typing as _t

_T = TypeVar("_T")

__version__: Final[str]
dlpack_version: Final[tuple[int, int]]

bool: Final[DType]
int2: Final[DType]
int4: Final[DType]
int8: Final[DType]
int16: Final[DType]
int32: Final[DType]
int64: Final[DType]
uint2: Final[DType]
uint4: Final[DType]
uint8: Final[DType]
uint16: Final[DType]
uint32: Final[DType]
uint64: Final[DType]
float16: Final[DType]
float32: Final[DType]
float64: Final[DType]
bfloat16: Final[DType]
complex32: Final[DType]
complex64: Final[DType]
complex128: Final[DType]
bcomplex32: Final[DType]
float8_e3m4: Final[DType]
float8_e4m3: Final[DType]
float8_e4m3b11fnuz: Final[DType]
float8_e4m3fn: Final[DType]
float8_e4m3fnuz: Final[DType]
float8_e5m2: Final[DType]
float8_e5m2fnuz: Final[DType]
float8_e8m0fnu: Final[DType]
float6_e2m3fn: Final[DType]
float6_e3m2fn: Final[DType]
float4_e2m1fn: Final[DType]
handle: Final[DType]

class ExchangeError(BufferError, ValueError):
    """A tensor can't be exchanged as it was asked for. The message says why, and what to do.

    Both a BufferError and a ValueError: the array API standard names the first for exports that
    can't be made and the second for copy=False where a copy would be needed.
    """

class StreamError(ExchangeError, RuntimeError):
    """A tensor was asked for on a stream that its device does not have.

    An ExchangeError that is a RuntimeError too, which is what NumPy raises.
    """

@final
class DType:
    """The type of a tensor's elements: a kind of number, its bits, and lanes."""

    @property
    def name(self) -> str:
        """As in "float32"; lanes print as in "float32x4"."""
    @property
    def itemsize(self) -> int:
        """Bytes of one element; an element that shares a byte with others counts as one byte."""
    @property
    def bits(self) -> int:
        """Bits of one lane."""
    @property
    def lanes(self) -> int:
        """Lanes of one element; 1 but for vector types."""
    @property
    def code(self) -> int:
        """DLPack's type code."""
    def __dlpack_data_type__(self) -> tuple[int, int, int]:
        """DLPack's type code, bits and lanes, by which other libraries take it as a type."""
    @property
    def __numpy_dtype__(self) -> Any:
        """The numpy.dtype of the same elements: what numpy.dtype(t) gives. TypeError if
        neither NumPy nor ml_dtypes has one.
        """
    @property
    def dtype(self) -> Any:
        """The same for NumPy before 2.4; AttributeError if there is none."""
    @property
    def type(self) -> Any:
        """NumPy's class of one element, such as numpy.float32, as numpy.dtype has it (which Dask
        asks for); AttributeError if there is none.
        """
    def __eq__(self, arg: object, /) -> builtins.bool: ...
    def __hash__(self) -> int: ...

@final
class Device:
    """Where memory lives: a type and an index, as in Device("cuda:0")."""

    def __init__(self, device: _t.DeviceLike, index: int | None = None) -> None: ...
    @property
    def type(self) -> str:
        """The type's name, "cpu" or "cuda"."""
    @property
    def index(self) -> int:
        """Which of the devices of that type."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device type and index, by which other libraries take it as a device."""
    def __eq__(self, arg: object, /) -> builtins.bool: ...
    def __hash__(self) -> int: ...

@final
class Stream:
    """A new queue of work on a device, as in Stream("cuda:0"). It lives as long as
    anything refers to it; any thread may use it.
    """

    def __init__(self, device: _t.DeviceLike) -> None: ...
    @property
    def device(self) -> Device:
        """The device that it belongs to."""
    @property
    def handle(self) -> int:
        """The vendor's handle (a cudaStream_t, a hipStream_t, the address of a sycl::queue) as a number; 0: the default stream."""
    @property
    def sycl_queue(self) -> Any:
        """The dpctl.SyclQueue that this stream of a oneAPI device is."""
    def __cuda_stream__(self) -> tuple[int, int]:
        """(0, handle): the protocol by which other libraries take the stream."""
    def record(self) -> Event:
        """An Event after the work that the stream holds now."""
    def wait(self, event: Event) -> None:
        """Work given to the stream from now on starts after the event. The host waits for an event of
        another vendor's device.
        """
    def synchronize(self) -> None:
        """The host waits for the work that the stream holds."""
    def __eq__(self, arg: object, /) -> builtins.bool: ...
    def __hash__(self) -> int: ...

@final
class Event:
    """A point in a stream's work, made by Stream.record(), that other streams and the
    host can wait for.
    """

    @property
    def device(self) -> Device:
        """The device whose work it is in."""
    def query(self) -> builtins.bool:
        """Whether it has happened."""
    def synchronize(self) -> None:
        """The host waits for it."""

@final
class _StreamContext:
    def __enter__(self) -> Stream: ...
    def __exit__(self, *args: object) -> None: ...

def stream(stream: Any, device: _t.DeviceLike | None = None) -> _StreamContext:
    """A context in which this thread's work on the stream's device goes to it, and on which
    other libraries' tensors are taken in.

    stream  a Stream, another library's stream (PyTorch's, CuPy's, anything with
            __cuda_stream__), or a handle, which must outlive the context
    device  whose stream it is, where the object does not say
    """

def current_stream(device: _t.DeviceLike | None = None) -> Stream:
    """The Stream that this thread's work on the device goes to: that of the innermost stream(),
    else the default one.
    """

def register_backend(capsule: CapsuleType, /) -> None:
    """Takes in a backend from another extension module: a capsule named "dovetail_backend"
    around the C struct of dovetail/core/abi/backend_abi.h, which can be used once.

    RuntimeError where a backend serves its devices already, ValueError for a struct of
    another major version. One that comes with Dovetail makes room where the environment
    variable DOVETAIL_BACKENDS leaves it out at import, as "cpu" does of cpu, cuda, rocm, oneapi.
    """

def allocators(device: _t.DeviceLike, kind: str = "device") -> list[str]:
    """The names that set_allocator() takes, the default first.

    kind  of memory: 'device', 'pinned', 'managed' or 'shared' (with other processes)
    """

def allocator_stats(device: _t.DeviceLike, kind: str = "device") -> dict[str, int]:
    """What the allocator in use gave out and holds: allocated_bytes, peak_bytes,
    reserved_bytes (taken from the system), allocations and retries (calls).
    """

def trim_memory(device: _t.DeviceLike, keep: int = 0, kind: str = "device") -> None:
    """Waits for the device and gives memory that nobody uses back to the system, that of every
    allocator of the device, all but keep bytes of the one in use. Not while a stream is
    captured into a graph.
    """

@final
class Tensor:
    """Typed, shaped access to memory that some framework owns on some device.

    Made by from_dlpack, frombuffer, tensor, empty and others; views and imports share memory.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions, a tuple of ints."""
    @property
    def strides(self) -> tuple[int, ...]:
        """How far apart neighbours in each dimension are, a tuple of ints, in elements."""
    @property
    def dtype(self) -> DType:
        """The type of the elements, a DType."""
    @property
    def device(self) -> Device:
        """Where the memory lies, a Device."""
    @property
    def ndim(self) -> int:
        """The number of dimensions."""
    @property
    def size(self) -> int:
        """The number of elements."""
    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
    @property
    def nbytes(self) -> int:
        """Bytes that the elements take without gaps."""
    @property
    def readonly(self) -> builtins.bool:
        """Whether the tensor may not be written."""
    @property
    def requires_grad(self) -> builtins.bool:
        """A mark for autograd; a marked tensor is not exported (see detach())."""
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool, /) -> None: ...
    @property
    def T(self) -> Tensor:  # noqa: N802
        """A view with the dimensions in reverse order."""
    @property
    def mT(self) -> Tensor:  # noqa: N802
        """A view with the last two dimensions exchanged."""
    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the memory is a CUDA device's."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA Array Interface, version 3; absent unless the memory is a GPU's."""
    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        """SYCL's USM array interface, version 1; absent unless the memory is a oneAPI device's."""
    __dlpack_c_exchange_api__: Final[CapsuleType]

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> CapsuleType:
        """The tensor as a DLPack capsule, which shares its memory (array API standard, 2024.12)."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's device type and index."""
    def __arrow_c_array__(
        self, requested_schema: CapsuleType | None = None
    ) -> tuple[CapsuleType, CapsuleType]:
        """The tensor as an Arrow schema and array that share its memory (PyCapsule interface)."""
    def __arrow_c_device_array__(
        self, requested_schema: CapsuleType | None = None, **kwargs: Any
    ) -> tuple[CapsuleType, CapsuleType]:
        """The same for memory on any device."""
    def __jax_array__(self) -> Any:
        """What jax.numpy.asarray() asks for."""
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any:
        """What numpy.asarray() asks for."""
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def numpy(self) -> Any:
        """An array of NumPy that shares the memory; types that NumPy does not have need ml_dtypes."""
    def tolist(self) -> Any:
        """The elements as nested lists."""
    def item(self) -> Any:
        """The only element, as a Python number."""
    def data_ptr(self) -> int:
        """The address of element 0, or the handle on devices without addresses."""
    def copy(self, order: _t.Order | None = "C") -> Tensor:
        """A writable copy without gaps. order, as in NumPy: 'C' row-major, 'F' column-major,
        'A' column-major if the tensor is so, 'K' in the tensor's own order.
        """
    @overload
    def to(
        self, other: Tensor, /, non_blocking: builtins.bool = False, copy: builtins.bool = False
    ) -> Tensor:
        """to(dtype, non_blocking=False, copy=False),
        to(device=None, dtype=None, non_blocking=False, copy=False) or
        to(other, non_blocking=False, copy=False).

        The elements as another type, on another device, or as other has them: the tensor itself
        where nothing changes, unless copy=True, else a copy in the same memory order. The host
        waits for copies from and to its memory, whatever non_blocking says, and not for those
        within and between devices, which are ordered on their streams.

        Rounds to nearest, ties to even; integers keep their low bits, and floats lose their
        fraction on the way to integers. ValueError for complex to real numbers.
        """
    @overload
    def to(
        self,
        dtype: _t.DTypeLike,
        /,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        device: _t.DeviceLike | None = None,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        device: _t.DeviceLike | None = None,
        dtype: _t.DTypeLike | None = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
    ) -> Tensor: ...
    def contiguous(self) -> Tensor:
        """The tensor itself if row-major, else a copy."""
    def is_contiguous(self) -> builtins.bool:
        """Whether it is row-major without gaps."""
    def detach(self) -> Tensor:
        """A view that does not require gradients."""
    def requires_grad_(self, value: builtins.bool = True, /) -> Self:
        """Sets the mark for autograd; returns the tensor."""
    @overload
    def permute(self, dims: Iterable[SupportsIndex], /) -> Tensor:
        """A view with the dimensions in that order."""
    @overload
    def permute(self, *dims: SupportsIndex) -> Tensor: ...
    @overload
    def reshape(self, shape: Iterable[SupportsIndex], /) -> Tensor:
        """The elements in another shape, one size of which may be -1: a view where strides allow it, else a copy."""
    @overload
    def reshape(self, *shape: SupportsIndex) -> Tensor: ...
    @overload
    def transpose(self, order: Iterable[SupportsIndex], /) -> Tensor:
        """A view with the two dimensions exchanged; transpose() and transpose(order) reverse or
        reorder all, as in NumPy.
        """
    @overload
    def transpose(self, *dims: SupportsIndex) -> Tensor: ...
    @overload
    def view(self, dtype: _t.DTypeLike, /) -> Tensor:
        """view(*shape): the elements in another shape, one size of which may be -1; never a copy:
        ValueError where strides can't say it. view(dtype): the same bytes as another type.
        """
    @overload
    def view(self, shape: Iterable[SupportsIndex], /) -> Tensor: ...
    @overload
    def view(self, *shape: SupportsIndex) -> Tensor: ...
    def squeeze(self, dim: _t.Shape | None = None, *, axis: _t.Shape | None = None) -> Tensor:
        """A view without these dimensions, an int or several, whose size must be 1; by default
        without all of size 1. dim and axis are two names of one thing.
        """
    def unsqueeze(self, dim: SupportsIndex) -> Tensor:
        """A view with a new dimension of size 1 there."""
    def flatten(self, start_dim: SupportsIndex = 0, end_dim: SupportsIndex = -1) -> Tensor:
        """These dimensions as one: a view where strides allow it, else a copy."""
    def ravel(self) -> Tensor:
        """One dimension: a view where strides allow it, else a copy."""
    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex, /) -> Tensor:
        """A view with the two exchanged."""
    def moveaxis(self, source: _t.Shape, destination: _t.Shape) -> Tensor:
        """A view with dimensions, an int or several, at other places; the others keep their order."""
    @overload
    def expand(self, sizes: Iterable[SupportsIndex], /) -> Tensor:
        """A read-only view that repeats dimensions of size 1 and new leading ones; -1 keeps a size."""
    @overload
    def expand(self, *sizes: SupportsIndex) -> Tensor: ...
    def broadcast_to(self, shape: _t.Shape, /) -> Tensor:
        """The same, as in NumPy."""
    def astype(
        self,
        dtype: _t.DTypeLike,
        order: _t.Order | None = "K",
        casting: _t.Casting = "unsafe",
        copy: builtins.bool = True,
    ) -> Tensor:
        """A copy as another type, as in NumPy; TypeError if the rule casting forbids it."""
    def clone(self) -> Tensor:
        """A copy in the tensor's memory order."""
    def cpu(self) -> Tensor:
        """to("cpu")"""
    def cuda(self, device: _t.DeviceLike | SupportsIndex | None = None) -> Tensor:
        """On a CUDA device, an index or a Device; by default the one it is on, else cuda:0."""
    def to_device(self, device: _t.DeviceLike, /, *, stream: None = None) -> Tensor:
        """to(device), as in the array API standard. A copy is ordered by itself; a stream is refused."""
    def tobytes(self) -> bytes:
        """The elements, row-major, as bytes."""
    def fill_(self, value: _t.Number, /) -> Self:
        """Writes a number to all elements; returns the tensor."""
    def zero_(self) -> Self:
        """fill_(0)"""
    def copy_(
        self, src: _t.Number | _t.Nested | _t.Source, non_blocking: builtins.bool = False
    ) -> Self:
        """Writes the elements of src, which is broadcast and cast; returns the tensor. The copy is
        done when the call returns.
        """
    def numel(self) -> int:
        """The number of elements."""
    def dim(self) -> int:
        """The number of dimensions."""
    def element_size(self) -> int:
        """Bytes of one element."""
    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]:
        """The strides, or that of one dimension, in elements."""
    @overload
    def stride(self, dim: SupportsIndex) -> int: ...
    def storage_offset(self) -> int:
        """Elements from the start of the memory that views share to element 0."""
    def __getitem__(self, key: _t.Key, /) -> Tensor: ...
    def __setitem__(self, key: _t.Key, value: _t.Number | _t.Nested | _t.Source, /) -> None: ...
    def __delitem__(self, key: object, /) -> None: ...  # always raises TypeError
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex:
        """complex(self)"""
    def __index__(self) -> int: ...
    # The result is an array if the other operand compares element by element.
    def __eq__(self, value: object, /) -> Any: ...
    def __ne__(self, value: object, /) -> Any: ...
    def __lt__(self, value: Any, /) -> Any: ...
    def __le__(self, value: Any, /) -> Any: ...
    def __gt__(self, value: Any, /) -> Any: ...
    def __ge__(self, value: Any, /) -> Any: ...
    def __hash__(self) -> int: ...
    def __format__(self, spec: str, /) -> str:
        """format(self, spec)"""
    def __copy__(self) -> Tensor:
        """Support for copy.copy: the same memory."""
    def __deepcopy__(self, memo: Any, /) -> Tensor:
        """Support for copy.deepcopy: a copy of the memory."""
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]:
        """Support for pickle."""

def backends() -> dict[str, int | str]:
    """The backends by name, each with its number of devices or, as text, why it has none."""

def get_num_threads() -> builtins.int:
    """The most threads that one copy on the CPU uses, the calling thread included. At first, the
    number of processors that the process may run on.
    """

def set_num_threads(count: builtins.int, /) -> None:
    """Sets the most threads that one copy on the CPU uses, for the whole process; 1: the calling
    thread alone. ValueError below 1.

    Threads are started by the first copy that is large enough to need them, and after a fork
    the child starts its own.
    """

def dtype(value: _t.DTypeLike, /) -> DType:
    """The DType that a name, a Python type or another library's type stands for."""

def from_dlpack(
    x: _t.SupportsDLPack | CapsuleType,
    /,
    *,
    device: _t.DeviceLike | None = None,
    copy: builtins.bool | None = None,
) -> Tensor:
    """A tensor that shares the memory of x, an object with __dlpack__ and __dlpack_device__ or a DLPack capsule.

    device  where the tensor is to lie; None: where x is
    copy    True: always a copy; False: never one, ExchangeError if it would take one;
            None: a copy only if device needs it

    Raises ExchangeError for what can't be exchanged, AttributeError for an x without the
    protocol. A capsule can be used once.
    """

def to_dlpack(
    tensor: Tensor,
    *,
    max_version: tuple[int, int] | None = None,
    stream: Any = None,
    copy: builtins.bool | None = None,
) -> CapsuleType:
    """The tensor as a DLPack capsule that shares its memory: a legacy "dltensor" or, with
    max_version=(1, 0) or later, a "dltensor_versioned". Other libraries take the tensor
    itself, by its __dlpack__ method, and need no capsule.
    """

@overload
def convert(x: Any, target: type[_T], /, *, copy: builtins.bool | None = None) -> _T:
    """x, any library's tensor, as an object of the class target: numpy.ndarray, torch.Tensor,
    jax.Array, paddle.Tensor, tvm_ffi.Tensor, pyarrow.Array, onnxruntime.OrtValue,
    tensorflow.Tensor, dovetail.Tensor, one that register_converter() added, or one whose
    library has a function from_dlpack(). Or a library's name: "torch", "numpy", "jax"

    copy  True: always a copy; False: never one, ExchangeError if it would take one;
          None: a copy only where the target can't take the memory as it is: read-only memory
          for a library that would write to it, strides that it does not have
    """

@overload
def convert(
    x: Any, target: Literal["dovetail"], /, *, copy: builtins.bool | None = None
) -> Tensor: ...
@overload
def convert(
    x: Any, target: Literal["numpy"], /, *, copy: builtins.bool | None = None
) -> numpy.ndarray[Any, Any]: ...
@overload
def convert(
    x: Any, target: Literal["torch"], /, *, copy: builtins.bool | None = None
) -> torch.Tensor: ...
@overload
def convert(
    x: Any, target: Literal["jax"], /, *, copy: builtins.bool | None = None
) -> jax.Array: ...
@overload
def convert(x: Any, target: str, /, *, copy: builtins.bool | None = None) -> Any: ...
def asarray(
    x: Any,
    /,
    *,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
    copy: builtins.bool | None = None,
) -> Tensor:
    """x as a tensor: over its own memory if x can be exchanged, else a copy.

    x     another library's tensor or array, or numbers in nested lists
    copy  True: always a copy; False: never one, ExchangeError (ValueError, too) if it takes
          one; None: a copy only for another dtype or device, and for numbers

    NumPy's function, as the array API standard has it.
    """

def register_converter(type: type[_T], from_tensor: Callable[[Tensor], _T], /) -> None:
    """Teaches convert() a class: from_tensor makes one of a dovetail.Tensor. It takes
    precedence over the library's from_dlpack().
    """

def from_arrow(x: _t.SupportsArrow, /) -> Tensor:
    """A read-only tensor that shares the memory of an Arrow array: numbers without nulls. Each
    list of a fixed size is a dimension; a fixed shape tensor has several. x has
    __arrow_c_device_array__, __arrow_c_array__, or __arrow_c_stream__ with a column in one
    piece, such as a pandas or polars Series.

    Raises ExchangeError for what can't be a tensor, AttributeError for an x without the
    protocol.
    """

def from_array_interface(x: _t.SupportsArrayInterface, /) -> Tensor:
    """A tensor that shares the memory of an object with __array_interface__."""

def from_cuda_array_interface(x: _t.SupportsCudaArrayInterface, /) -> Tensor:
    """A tensor that shares the memory of an object with __cuda_array_interface__. Without a
    CUDA backend, which could tell the device, it is on cuda:0.
    """

def from_usm_array_interface(x: _t.SupportsUsmArrayInterface, /) -> Tensor:
    """A tensor that shares the memory of an object with __sycl_usm_array_interface__, on its
    device of oneAPI. The current stream waits for the work of the queue that x names.
    """

def frombuffer(
    buffer: Buffer,
    *,
    dtype: _t.DTypeLike,
    count: SupportsIndex = -1,
    offset: SupportsIndex = 0,
    requires_grad: builtins.bool | None = False,
) -> Tensor:
    """A 1-D tensor over the bytes of an object with the buffer protocol, which it shares.

    dtype   the type that the bytes are read as; it is not inferred
    count   elements; negative: all that follow offset
    offset  bytes to skip

    A read-only buffer gives a read-only tensor. The buffer is held as long as the tensor
    lives, so that resizing its owner meanwhile raises BufferError (torch does not hold it).
    ValueError for counts and offsets that do not go with the buffer's size.
    """

def tensor(
    data: _t.Number | _t.Nested | _t.Source,
    *,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
    requires_grad: builtins.bool | None = False,
) -> Tensor:
    """A copy of data: a number, nested lists, or another library's array. Python floats give
    float32, ints int64.
    """

def to_tensor(
    data: _t.Number | _t.Nested | _t.Source,
    dtype: _t.DTypeLike | None = None,
    place: _t.DeviceLike | None = None,
    stop_gradient: builtins.bool | None = True,
) -> Tensor:
    """tensor() under Paddle's name and parameters."""

def copyto(
    dst: Tensor, src: _t.Number | _t.Nested | _t.Source, casting: _t.Casting = "same_kind"
) -> None:
    """Copies src, a number, nested lists or any library's array, into the tensor dst. It is
    broadcast to dst's shape and cast to its type, as far as casting allows: 'no', 'equiv',
    'safe', 'same_kind' or 'unsafe', as in NumPy. Where the two overlap, the result is as if
    src had been copied first.

    TypeError for a cast that is not allowed, ValueError for a shape that does not broadcast
    or a dst that is read-only.
    """

def empty(
    *sizes: _t.Shape,
    shape: _t.Shape | None = None,
    size: _t.Shape | None = None,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor:
    """A tensor in new memory, uninitialised and aligned to 256 bytes: float32 unless dtype says
    otherwise. The sizes may be one tuple, as shape=, too.
    """

def zeros(
    *sizes: _t.Shape,
    shape: _t.Shape | None = None,
    size: _t.Shape | None = None,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor:
    """As empty(), filled with zeros."""

def full(
    shape: _t.Shape,
    fill_value: _t.Number | _t.SupportsDLPack,
    *,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor:
    """A tensor whose elements are fill_value, a number or a 0-d tensor; its type as of tensor()."""

@overload
def arange(
    stop: float | SupportsIndex,
    /,
    *,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor:
    """Evenly spaced numbers from start up to stop, without it: int64 from ints, float32 if one is
    a float. With one number alone, that is stop, and start is 0. OverflowError if dtype does
    not hold a number, ValueError for steps away from stop, and fractions of an integer type.
    """

@overload
def arange(
    start: float | SupportsIndex,
    stop: float | SupportsIndex,
    step: float | SupportsIndex = 1,
    *,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor: ...
def _ipc_share(tensor: Tensor, readonly: builtins.bool, /) -> bytes:
    """The bytes of a handle of the tensor, for dovetail.ipc."""

def _ipc_open(handle: bytes, /) -> Tensor:
    """The tensor that a handle's bytes name, for dovetail.ipc."""

def _ipc_tensor(x: _t.SupportsDLPack, /) -> Tensor:
    """Another library's tensor as one, for dovetail.ipc."""

def _ipc_copy(tensor: Tensor, /) -> Tensor:
    """A copy in memory that can be shared, for dovetail.ipc."""

def _ipc_describe(
    handle: bytes, /
) -> tuple[str, DType, tuple[int, ...], tuple[int, ...], Device, builtins.bool]:
    """What a handle's bytes say, for dovetail.ipc."""

def _ipc_empty(shape: _t.Shape, dtype: Any, device: Any, isolated: builtins.bool, /) -> Tensor:
    """A tensor in memory that can be shared, for dovetail.ipc."""

def _ipc_forget() -> None:
    """Unlinks this process's shared memory, for dovetail.ipc."""

def _ipc_unlink_left_behind() -> builtins.int:
    """Unlinks shared memory of processes that were killed, and returns the number of files."""

def _memory_of(tensor: Tensor, /) -> tuple[Any, ...]:
    """What a pickle of the tensor needs, for dovetail._pickle."""

def _tensor_in(memory: Tensor, fields: tuple[Any, ...], /) -> Tensor:
    """A tensor in the memory of a pickle, for dovetail._pickle."""

def _fill_rows(
    out: Any, address: builtins.int, loops: Any, constants: tuple[builtins.int, ...], /
) -> None:
    """Writes (address, *constants) of each iteration of the loops, ((count, stride), ...) with
    the outermost first, into the rows of a 2-D array of 64-bit integers.
    """

def _pair_runs(
    bits: builtins.int,
    a_shape: tuple[builtins.int, ...],
    a_strides: tuple[builtins.int, ...],
    b_shape: tuple[builtins.int, ...],
    b_strides: tuple[builtins.int, ...],
    lists: builtins.bool,
    /,
) -> bytes | tuple[Any, ...]:
    """The smallest number of runs of memory by which two layouts correspond, in bytes from
    element 0. Either (count, nbytes, a_start, b_start, loops) with loops of (iterations,
    a_stride, b_stride), outermost first. Their runs are more than count if neighbours in
    memory can be merged. Or, if `lists` or there are no such loops, the bytes of an array
    of int64 with rows (b_offset, a_offset, nbytes).
    """

def _step_bits(tensor: Tensor, /) -> builtins.int:
    """The bits from one element of a contiguous tensor to the next."""

def _to_immutable_consumer(tensor: Tensor, /) -> CapsuleType:
    """A legacy capsule for a library that never writes."""

def _trace_start(limit: builtins.int, /) -> Any:
    """A recorder of at most limit events, for dovetail.trace()."""

def _trace_events(recorder: Any, /) -> tuple[list[tuple[Any, ...]], builtins.int]:
    """Its events, and the number of those left out."""

def _trace_stop(recorder: Any, /) -> None:
    """Ends the recording; the events stay."""

def _pickle_buffer(tensor: Tensor, /) -> Any:
    """A PickleBuffer of the tensor, for dovetail._pickle."""

def _no_copies_enter() -> Any:
    """Refuses copies on this thread, for dovetail.no_copies()."""

def _no_copies_leave(scope: Any, /) -> None:
    """Ends what _no_copies_enter() began."""

def _trace_import(
    x: Any, device: _t.DeviceLike | None, copy: builtins.bool | None, /
) -> dict[str, Any]:
    """An import that tells how it went, for explain()."""

def _trace_convert(x: Any, target: type, copy: builtins.bool | None, /) -> dict[str, Any]:
    """A conversion that tells how it went, for explain()."""

def _build_facts() -> dict[str, Any]:
    """What the module was built with, for show_config()."""

def _library_files() -> dict[str, list[str]]:
    """The files of each backend's driver that the process has loaded; the first is in use."""

def _private_reads() -> list[tuple[str, str, str, str, str]]:
    """What is read of other libraries that they do not publish: a tuple (library, what, where,
    published, check) for each.
    """

def _check_private_reads() -> dict[str, builtins.bool]:
    """For each check that C++ makes, whether it holds. Imports PyTorch."""

_convert_targets: str
_trace_setting: str
