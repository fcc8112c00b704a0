"""What functions of Dovetail take, for type checkers. There is no such module."""

import builtins
from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias

from typing_extensions import Buffer, CapsuleType

from dovetail._core import Device, DType

class SupportsDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

class SupportsArrowArray(Protocol):
    def __arrow_c_array__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]: ...

class SupportsArrowDeviceArray(Protocol):
    def __arrow_c_device_array__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]: ...

class SupportsArrowStream(Protocol):
    def __arrow_c_stream__(self, *args: Any, **kwargs: Any) -> Any: ...

class SupportsArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> Any: ...

class SupportsCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...

class SupportsUsmArrayInterface(Protocol):
    @property
    def __sycl_usm_array_interface__(self) -> Any: ...

class SupportsArray(Protocol):
    def __array__(self) -> Any: ...

class SupportsDLPackDataType(Protocol):
    def __dlpack_data_type__(self) -> tuple[int, int, int]: ...

class SupportsDLPackDevice(Protocol):
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

# numpy.dtype, torch.dtype
class ForeignDType(Protocol):
    @property
    def itemsize(self) -> int: ...

# torch.device
class ForeignDevice(Protocol):
    @property
    def type(self) -> str: ...

# An RMM memory resource, a CuPy memory pool, the module torch.cuda.
class MemoryResource(Protocol):
    def allocate(self, nbytes: Any, stream: Any, /) -> int: ...
    def deallocate(self, ptr: Any, nbytes: Any, stream: Any, /) -> Any: ...

class MemoryPool(Protocol):
    def malloc(self, size: Any, /) -> Any: ...

class CachingAllocator(Protocol):
    def caching_allocator_alloc(self, size: Any, device: Any, stream: Any, /) -> int: ...
    def caching_allocator_delete(self, mem_ptr: Any, /) -> Any: ...

# ctypes function pointers, or addresses, of alloc and free.
CFunctions: TypeAlias = tuple[Any, Any]
AllocatorLike: TypeAlias = (
    str | MemoryResource | MemoryPool | CachingAllocator | CFunctions | CapsuleType
)
DTypeLike: TypeAlias = DType | str | type[Any] | SupportsDLPackDataType | ForeignDType
DeviceLike: TypeAlias = Device | str | tuple[int, int] | SupportsDLPackDevice | ForeignDevice
Number: TypeAlias = builtins.bool | int | float | complex
Nested: TypeAlias = Sequence[Any]
Source: TypeAlias = (
    SupportsDLPack | Buffer | SupportsArrayInterface | SupportsCudaArrayInterface | SupportsArray
)
SupportsArrow: TypeAlias = SupportsArrowArray | SupportsArrowDeviceArray | SupportsArrowStream
Shape: TypeAlias = SupportsIndex | Iterable[SupportsIndex]  # sequences and 1-D arrays
Index: TypeAlias = SupportsIndex | slice | EllipsisType | None
Order: TypeAlias = Literal["C", "F", "A", "K"]
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
Key: TypeAlias = Index | tuple[Index, ...]
