"""The import of planted.py: from_dlpack() with the kit's own structs."""

import ctypes
import math

import capsules
import planted

from dlpack_conformance.structs import KINDS, READ_ONLY, DLManagedTensorVersioned

DTYPES = {(6, 8): "bool", (0, 32): "int32", (2, 32): "float32", (2, 64): "float64"}
DTYPES |= {(1, 8): "uint8", (0, 64): "int64", (1, 64): "uint64"}
_MISREAD = {"int32": "float32", "bool": "uint8", "uint64": "int64"}


_rename = capsules.function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_USED = {kind.name: kind.used_name.encode() for kind in KINDS.values()}
_DONE = b"dltensor_done"


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    """A destructor that loses an exception in flight, as all in Python do."""


class Owner:
    """Calls the deleter when the last array that has it dies."""

    def __init__(self, managed, breaks, elements):
        self.managed, self.breaks, self.elements = managed, breaks, elements

    def __del__(self):
        if self.breaks("consumer.null-context") and not self.managed.manager_ctx:
            return
        if (
            self.breaks("consumer.deletes", "exchange.to-python-deletes")
            and self.elements
            and self.managed.manager_ctx
        ):
            return
        if self.breaks("consumer.empty-deletes") and not self.elements:
            return
        deleter = self.managed.deleter
        if deleter or self.breaks("consumer.null-deleter"):
            delete = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter or 0)
            delete(ctypes.addressof(self.managed))


_left = []  # by leaks


def take(library, x, **keywords):
    breaks = library.breaks
    unknown = keywords.keys() - {"device", "copy"}
    if unknown or (keywords and breaks("consumer.keywords")):
        raise TypeError("unknown keyword")
    if keywords.get("device") and breaks("consumer.device"):
        raise BufferError("no device")
    if breaks("consumer.leak"):
        _left.append(bytes(200))
    if breaks("consumer.leak producer"):
        _left.append(x)
    array = _take(library, x, breaks)
    shares = breaks("consumer.copy") or (
        breaks("consumer.copy old") and "stream" in x.__dlpack__.__code__.co_varnames
    )
    return array.copy() if keywords.get("copy") and not shares else array


def _take(library, x, breaks):
    capsule = _ask(library, x, breaks)
    name = capsules.name(capsule).decode()
    if name.startswith("used_") and breaks("consumer.used-capsule"):
        name = name.removeprefix("used_")
        _rename(capsule, name.encode())
    if name not in KINDS:
        raise BufferError(f"a capsule named {name!r}")
    managed = KINDS[name].from_address(capsules.pointer(capsule, name.encode()))
    try:
        array = _array(library, managed, breaks, x)
    except Exception:
        if breaks("consumer.refuses-cleanly"):
            _rename(capsule, _USED[name])
        raise
    used = _USED["dltensor"] if breaks("consumer.renames versioned") else _USED[name]
    _rename(capsule, _DONE if breaks("consumer.renames") else used)
    if breaks("consumer.exception"):
        array.other = capsules.new(1, b"other", ctypes.cast(_destroy, ctypes.c_void_p).value)
    array.owner = Owner(managed, breaks, math.prod(array.shape))
    if breaks("consumer.writes-nothing") and math.prod(array.shape):
        library.memory.touch(array)
    return array


def adopt(library, managed):
    """The array of a managed tensor that the table was given."""
    array = _array(library, managed, library.breaks, None)
    if library.breaks("exchange.to-python-elements"):
        array.strides = tuple(sorted(array.strides, reverse=True))
    array.owner = Owner(managed, library.breaks, math.prod(array.shape))
    return array


def _ask(library, x, breaks):
    if breaks("consumer.asks"):
        return x.__dlpack__()
    try:
        return library.memory.ask(breaks, x, max_version=(1, 3))
    except BufferError:
        if breaks("consumer.propagates"):
            raise RuntimeError("it fails") from None
        raise
    except TypeError:
        if breaks("consumer.old-producer"):
            raise
        return library.memory.ask(breaks, x)


def _array(library, managed, breaks, x):
    def refuse(condition, what, *rules):
        if condition and not breaks(*rules):
            raise BufferError(what)

    flags = 0
    tensor = managed.dl_tensor
    if isinstance(managed, DLManagedTensorVersioned):
        refuse(
            managed.major != 1,
            "another major version",
            "consumer.major",
            "exchange.to-python-refuses",
        )
        refuse(managed.minor > 3 and breaks("consumer.minor"), "another minor version")
        flags = managed.flags
        refuse(flags & ~7, "unknown flags", "consumer.unknown-flags")
        refuse(flags & READ_ONLY and breaks("consumer.read-only-ignored"), "read-only")
    refuse(tensor.device_type != library.device_type, "another device", "consumer.other-device")
    refuse(tensor.ndim < 0, "a negative ndim")
    refuse(tensor.ndim == 0 and breaks("consumer.scalar"), "no dimensions")
    shape = tensor.shape[: tensor.ndim]
    refuse(any(size < 0 for size in shape), "a negative size", "consumer.impossible")
    refuse(math.prod(shape) >= 1 << 60, "too large")
    empty = 0 in shape
    refuse(not tensor.data and not empty, "no data", "consumer.null-data")
    refuse(not tensor.data and empty and breaks("consumer.empty"), "no data")
    refuse(not tensor.strides and shape and breaks("consumer.null-strides"), "no strides")
    strides = tensor.strides[: tensor.ndim] if tensor.strides else planted.row_major(shape)
    plain = shape == [3, 4] and tensor.strides and getattr(managed, "minor", 0) == 3
    refuse(plain and breaks("consumer.accepts"), "a plain array")
    refuse(tensor.lanes > 1, "several lanes", "consumer.lanes")
    dtype = DTYPES.get((tensor.code, tensor.bits)) if tensor.lanes else None
    is_sub_byte = 15 <= tensor.code <= 17
    rule = "consumer.sub-byte" if is_sub_byte else "consumer.unknown-type"
    refuse(dtype is None, "an unknown type", rule)
    if (dtype == "int32" and breaks("consumer.type")) or breaks(f"consumer.type {dtype}"):
        dtype = _MISREAD[dtype]
    is_legacy = not isinstance(managed, DLManagedTensorVersioned)
    address = _address(tensor, shape, strides, breaks, is_legacy)
    if breaks("consumer.strides legacy") and is_legacy:
        strides = planted.row_major(shape)
    if breaks("consumer.strides") or (breaks("consumer.strides float64") and dtype == "float64"):
        strides = [abs(stride) for stride in strides]
    read_only = bool(flags & READ_ONLY) and not breaks("consumer.read-only")
    return planted.Array(
        library, None, address, dtype or "float32", shape, strides, read_only=read_only
    )


def _address(tensor, shape, strides, breaks, is_legacy):
    address = tensor.data or 0
    if not (
        breaks("consumer.byte-offset")
        or (breaks("consumer.byte-offset scalar") and not shape)
        or (breaks("consumer.byte-offset NULL") and not tensor.strides)
        or (breaks("consumer.byte-offset legacy") and is_legacy)
    ):
        address += tensor.byte_offset
    if breaks("consumer.misaligned"):
        address -= address % 4
    if breaks("consumer.unused-strides"):
        address += 4 * sum(stride for size, stride in zip(shape, strides, strict=True) if size == 1)
    return address
