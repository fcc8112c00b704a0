"""The export of planted.py: __dlpack__() with the kit's own structs."""

import ctypes
import pathlib
import weakref

import capsules
import planted
import planted_import

from dlpack_conformance.structs import (
    IS_COPIED,
    READ_ONLY,
    DLManagedTensor,
    DLManagedTensorVersioned,
)

_TYPES = {dtype: type_ for type_, dtype in planted_import.DTYPES.items()}
_exports = {}  # maps the address of a managed struct to what its deleter frees


# A capsule that dies has no references, so that its destructor handles its address.
_name = capsules.function("PyCapsule_GetName", ctypes.c_void_p, ctypes.c_void_p)
_pointer = capsules.function(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
_NAMES = {kind: kind.name.encode() for kind in (DLManagedTensor, DLManagedTensorVersioned)}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(address):
    _exports.pop(address, None)


_left = []  # by leaks
_malloc = ctypes.CDLL(None).malloc
_shared = (ctypes.c_int64 * 10)()  # the shape of all arrays


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete_most(address):
    _left.append(bytes(200))
    _exports.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete_without_free(address):
    _malloc(200)
    _exports.pop(address, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete_nothing(address):
    pass


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy_unused(capsule):
    name = _name(capsule)
    if not ctypes.string_at(name).startswith(b"used_"):
        _exports.pop(_pointer(capsule, name), None)


# Calls one of these functions, and keeps an exception that is in flight.
_keeping = ctypes.CDLL(str(pathlib.Path(__file__).with_name("planted_destructor.so")))


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy_always(capsule):
    _exports.pop(_pointer(capsule, _name(capsule)), None)


def export(array, request):
    breaks = array.library.breaks
    if breaks("producer.keywords") and "copy" in request:
        raise TypeError("unknown keyword copy")
    known = {"stream", "max_version", "dl_device", "copy", "read_only"}
    if not breaks("producer.unknown-keyword") and request.keys() - known:
        raise TypeError("unknown keyword")
    return _export(array, breaks, **{name: request.get(name) for name in known})


def _export(array, breaks, stream, max_version, dl_device, copy, read_only):
    versioned = (max_version or (0, 0)) >= (1, 0)
    if breaks("producer.legacy") and max_version is None:
        versioned = True
    if breaks("versioned alone") and not versioned:
        raise BufferError("no legacy capsules")
    if breaks("producer.old-major") and max_version == (0, 8):
        versioned = True
    if breaks("producer.versioned"):
        versioned = False
    if stream is not None and array.library.device_type == 1 and not breaks("producer.stream"):
        raise BufferError("the CPU has no streams")
    if dl_device is not None and breaks("producer.dl-device"):
        raise BufferError("no dl_device")
    if dl_device not in (None, (1, 0), (2, 0)) and not breaks("producer.other-device"):
        raise BufferError("no such device")
    if array.swapped and not breaks("producer.byte-order"):
        raise BufferError("the other byte order")
    if array.read_only and not versioned and not breaks("producer.read-only-legacy"):
        raise BufferError("a legacy capsule can't be read-only")
    array.library.memory.before_export(breaks, -1 if dl_device == (1, 0) else stream)
    if dl_device == (1, 0) and array.library.memory.device_type == 2:
        array = array.library.memory.to_host(breaks, array)
    contiguous = array.strides == tuple(planted.row_major(array.shape))
    unmarked = breaks("producer.read-only") or (breaks("producer.read-only T") and not contiguous)
    flags = READ_ONLY * (array.read_only and not unmarked)
    if breaks("producer.flags READ_ONLY") or (
        read_only and not breaks("producer.read-only", "producer.read-only keyword")
    ):
        flags = READ_ONLY
    if copy and breaks("producer.copy-served"):
        raise BufferError("no copies")
    if copy and not (
        breaks("producer.copy-true") or (breaks("producer.copy-true scalar") and not array.shape)
    ):
        other = array.T if breaks("producer.elements copy") else array
        array, flags = other.copy(), IS_COPIED * (not breaks("producer.copied-flag"))
    if copy is False and (
        breaks("producer.copy-false") or (breaks("producer.copy-false T") and not contiguous)
    ):
        array = array.copy()
    if breaks("producer.flags"):
        flags |= 8
    if breaks("producer.copied-only") or (breaks("producer.copied-only T") and not contiguous):
        flags |= IS_COPIED
    kind = DLManagedTensorVersioned if versioned else DLManagedTensor
    array = array.resolved()
    if breaks("producer.repeated"):
        made = array.__dict__.setdefault(kind, None) or managed(array, kind, flags, breaks)
        array.__dict__[kind] = made
    else:
        made = managed(array, kind, flags, breaks)
    if breaks("producer.elements legacy") and not versioned and not contiguous:
        made.dl_tensor.strides[0] = 1
    if breaks("producer.leak"):
        leave(made)
    if breaks("producer.leak malloc"):
        made.deleter = ctypes.cast(_delete_without_free, ctypes.c_void_p).value
    callback = _destroy_always if breaks("producer.used") else _destroy_unused
    pointer = ctypes.c_void_p.in_dll(_keeping, "planted_callback")
    pointer.value = ctypes.cast(callback, ctypes.c_void_p).value
    destructor = callback if breaks("producer.exception") else _keeping.planted_destroy
    if breaks("producer.unused"):
        destructor = None
    name = _NAMES[kind]
    if breaks("producer.name") and copy is None and array.shape == (3, 4):
        name = ctypes.create_string_buffer(name)
        _exports[ctypes.addressof(name)] = name
        weakref.finalize(array, ctypes.memset, name, ord("x"), len(name) - 1)
    return capsules.new(
        ctypes.addressof(made), name, ctypes.cast(destructor, ctypes.c_void_p).value
    )


def managed(array, kind, flags, breaks):
    shape, strides = array.shape, array.strides
    if breaks("producer.elements") or (
        breaks("producer.elements int32") and array.dtype == "int32"
    ):
        strides = tuple(sorted(strides, reverse=True))
    if breaks("producer.scalar") and not shape:
        shape = strides = (1,)
    shape, strides = (
        (ctypes.c_int64 * len(numbers))(*numbers) if numbers else None
        for numbers in (shape, strides)
    )
    deleter = _delete_nothing if breaks("producer.deleter") else _delete
    made = kind(deleter=ctypes.cast(deleter, ctypes.c_void_p).value)
    if kind is DLManagedTensorVersioned:
        made.major, made.minor = 1 + breaks("producer.version"), 3
        made.flags = flags
    tensor = made.dl_tensor
    tensor.data = array.address
    if 0 in array.shape and not breaks("producer.empty"):
        tensor.data = None
    tensor.device_type = array.library.device_type
    tensor.device_id = int(breaks("producer.device-id"))
    tensor.ndim = len(shape or ())
    tensor.code, tensor.bits = _TYPES[array.dtype]
    tensor.lanes = 1 + breaks("producer.type")
    tensor.shape = shape
    if breaks("producer.repeated shape"):
        _shared[: len(shape or ())] = shape or ()
        tensor.shape = _shared
    contiguous = array.strides == tuple(planted.row_major(array.shape))
    if not (contiguous and breaks("producer.strides")):
        tensor.strides = strides
    forgotten = (breaks("producer.lifetime") and array.shape == (4,)) or (
        breaks("producer.lifetime copy") and kind is DLManagedTensorVersioned and flags & IS_COPIED
    )
    owner = None if forgotten or (breaks("producer.lifetime view") and array.base) else array.owner
    _exports[ctypes.addressof(made)] = (made, shape, strides, owner)
    return made


def forget_owner(made):
    """The memory of a large array is freed with the array."""
    *rest, _ = _exports[ctypes.addressof(made)]
    if made.dl_tensor.ndim and made.dl_tensor.shape[0] > 1000:
        _exports[ctypes.addressof(made)] = (*rest, None)


def leave(made):
    """Its deleter leaves something behind."""
    made.deleter = ctypes.cast(_delete_most, ctypes.c_void_p).value


def free(made):
    """Free what no deleter frees."""
    _exports.pop(ctypes.addressof(made), None)


def never_delete(made):
    made.deleter = ctypes.cast(_delete_nothing, ctypes.c_void_p).value


class Unsupported:
    """An array that can't be exported."""

    def __init__(self, library):
        self.error = TypeError if library.breaks("producer.unsupported") else BufferError

    def __dlpack__(self, **request):
        raise self.error("DLPack can't describe it")
