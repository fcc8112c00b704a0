"""What set_allocator() takes, as functions that the extension module calls.

Each library is known by what it publishes; none is imported.
"""

import operator
import sys

from dovetail import _core

_FIRST_ADDRESS = 4096  # the page at 0 is nowhere mapped

_ACCEPTED = (
    "a name (see dovetail.allocators), None, a pair of C functions, an object with "
    "allocate(nbytes, stream) and deallocate(pointer, nbytes, stream), an object with "
    "malloc(nbytes), the module torch.cuda, or a capsule 'dovetail_allocator'"
)


def set_allocator(device, allocator, kind):
    """Do what dovetail.set_allocator does for what is neither a name nor None."""
    _refuse_other_memory(allocator, device, kind)
    _core._set_allocator(device, _functions_of(allocator), kind)


def _refuse_other_memory(allocator, device, kind):
    """Raise ValueError for a GPU's pool where that memory would be used as another kind."""
    is_torch = hasattr(allocator, "caching_allocator_alloc")
    is_gpus = (
        is_torch
        or _is(allocator, "rmm", "mr", "DeviceMemoryResource")
        or _is(allocator, "cupy", "cuda", "MemoryPool")
    )
    device = _core.Device(device)
    if is_gpus and device.type not in ("cuda", "rocm", "cuda_managed"):
        raise ValueError(f"memory of this allocator is a GPU's, and can't be memory of {device}")
    kind = "managed" if device.type == "cuda_managed" else kind
    if is_torch and kind in ("pinned", "managed"):
        raise ValueError(f"PyTorch's caching allocator has device memory, not {kind} memory")


def _is(allocator, library, module, name):
    """Whether it is of a class of a library, which may be imported in part, or not at all."""
    found = getattr(getattr(sys.modules.get(library), module, None), name, None)
    return isinstance(found, type) and isinstance(allocator, found)


def _functions_of(allocator):
    """Return the capsule itself, or a tuple (allocate, deallocate, owner).

    The first two are addresses of C functions, or callables: allocate(nbytes, stream) and
    deallocate(pointer, nbytes, stream), where `stream` is a dovetail.Stream. The owner keeps the C
    functions alive.
    """
    if type(allocator).__name__ == "PyCapsule":
        return allocator
    if isinstance(allocator, tuple):
        return _c_functions(allocator)
    if isinstance(allocator, type):
        raise TypeError(f"allocator is the class {allocator.__name__}; pass an instance of it")
    if hasattr(allocator, "caching_allocator_alloc"):
        return _torch_functions(allocator)
    if hasattr(allocator, "allocate"):
        return _resource_functions(allocator)
    if hasattr(allocator, "malloc"):
        return _pool_functions(allocator)
    raise TypeError(f"allocator must be {_ACCEPTED}; not {type(allocator).__name__!r}")


def _method(allocator, name):
    method = getattr(allocator, name, None)
    if callable(method):
        return method
    kind = type(allocator).__name__
    if method is None:
        raise TypeError(f"allocator ({kind}) has no function {name}()")
    raise TypeError(f"allocator ({kind}): {name} is not callable, but {type(method).__name__!r}")


def _c_functions(pair):
    if len(pair) != 2:
        raise TypeError(f"allocator must be a pair (alloc, free) of C functions, not {len(pair)}")
    alloc, free = pair
    return _address(alloc, "alloc"), _address(free, "free"), tuple(pair)


def _address(function, name):
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(function, (ctypes._CFuncPtr, ctypes.c_void_p)):
        address = ctypes.cast(function, ctypes.c_void_p).value or 0
    elif isinstance(function, bool) or not hasattr(function, "__index__"):
        raise TypeError(
            f"{name} must be a C function: a ctypes function pointer or its address as a number, "
            f"not {type(function).__name__!r}; for Python functions, pass an object with "
            "allocate(nbytes, stream) and deallocate(pointer, nbytes, stream)"
        )
    else:
        address = operator.index(function)
    if address == 0:
        raise ValueError(f"{name} is NULL")
    if not _FIRST_ADDRESS <= address < 1 << 64:
        raise ValueError(f"{name} is no address: {address}")
    return address


def _torch_functions(torch_cuda):
    """PyTorch's caching allocator. It frees in the order of the stream of the allocation."""
    alloc = _method(torch_cuda, "caching_allocator_alloc")
    delete = _method(torch_cuda, "caching_allocator_delete")
    out_of_memory = getattr(torch_cuda, "OutOfMemoryError", MemoryError)  # a RuntimeError

    def allocate(nbytes, stream):
        try:
            return alloc(nbytes, stream.device.index, stream.handle)
        except out_of_memory as error:
            raise MemoryError(str(error)) from error

    def deallocate(pointer, nbytes, stream):
        delete(pointer)

    return allocate, deallocate, None


def _resource_functions(resource):
    """RMM's DeviceMemoryResource, or any object with its two methods."""
    allocate = _method(resource, "allocate")
    deallocate = _method(resource, "deallocate")
    if not _is(resource, "rmm", "mr", "DeviceMemoryResource"):
        return allocate, deallocate, None
    # RMM takes no streams but its own class's, which takes others by __cuda_stream__.
    to_rmm = sys.modules["rmm"].pylibrmm.stream.Stream
    return (
        lambda nbytes, stream: allocate(nbytes, to_rmm(stream)),
        lambda pointer, nbytes, stream: deallocate(pointer, nbytes, to_rmm(stream)),
        None,
    )


def _pool_functions(pool):
    """CuPy's MemoryPool, or any object whose malloc() returns an object with .ptr.

    The memory goes back when that object is dropped. CuPy's is in the order of the stream that was
    current when it was made.
    """
    malloc = _method(pool, "malloc")
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(malloc, ctypes._CFuncPtr):
        raise TypeError(
            "allocator has C functions; pass a pair of them, as in (lib.alloc, lib.free)"
        )
    held = {}

    def allocate(nbytes, stream):
        cuda = getattr(sys.modules.get("cupy"), "cuda", None)
        if cuda is None or stream.device.type not in ("cuda", "rocm"):
            memory = malloc(nbytes)
        else:
            index = stream.device.index
            with cuda.Device(index), cuda.ExternalStream(stream.handle, index):
                memory = malloc(nbytes)
        pointer = operator.index(memory.ptr)
        if not 0 <= pointer < 1 << 64:
            raise ValueError(f"ptr is no address: {pointer}")
        held[pointer] = memory
        return pointer

    def deallocate(pointer, nbytes, stream):
        del held[pointer]

    return allocate, deallocate, None
