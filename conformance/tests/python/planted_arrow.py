"""Arrow's C data interface of planted.py, out and in."""

import ctypes
import itertools

import capsules
import planted

from dlpack_conformance.protocols.structs import ArrowArray, ArrowSchema

_FORMATS = {"int32": b"i", "float32": b"f", "float64": b"g", "uint64": b"L"}
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


# A capsule that dies has no references, so that its destructor handles its address.
_pointer_in_dying = capsules.function(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p
)

_numbers = itertools.count(1)
_memory = {}  # maps the private_data of an array to what its release frees
_structs = {}  # maps the address of a struct to it, and to what breaks, while its capsule lives


@_Release
def _release_schema(address):
    ArrowSchema.from_address(address).release = None


@_Release
def _release_array(address):
    array = ArrowArray.from_address(address)
    breaks, *_ = _memory.get(array.private_data, (lambda rule: False,))
    if not breaks("arrow.frees"):
        _memory.pop(array.private_data, None)
    if not breaks("arrow.release"):
        array.release = None


def _destructor(name):
    @_Release
    def destroy(capsule):
        address = _pointer_in_dying(capsule, name)
        struct, breaks, number = _structs.pop(address)
        if breaks("arrow.moved") and not struct.release:
            _memory.pop(number, None)
        if struct.release:
            _Release(struct.release)(address)

    return destroy


_DESTRUCTORS = {kind.name: _destructor(kind.name) for kind in (ArrowSchema, ArrowArray)}


def _address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def _capsule(struct, breaks, number):
    _structs[ctypes.addressof(struct)] = struct, breaks, number
    return capsules.new(
        ctypes.addressof(struct), struct.name, _address_of(_DESTRUCTORS[struct.name])
    )


def export(array, request):
    breaks = array.library.breaks
    if breaks("arrow.requested-schema") and request:
        raise TypeError("unknown keyword requested_schema")
    if len(array.shape) != 1 or array.dtype not in _FORMATS:
        raise ValueError("Arrow has no such array")
    number = next(_numbers)
    validity = None if breaks("arrow.nulls") else array.validity
    address = array.address - 4 * breaks("arrow.array") * (array.shape == (3,))
    buffers = (ctypes.c_void_p * 2)(validity and ctypes.addressof(validity), address)
    _memory[number] = breaks, buffers, validity, array.owner
    struct = ArrowArray(
        length=array.shape[0],
        null_count=-1 if validity else 0,
        n_buffers=2,
        buffers=buffers,
        release=_address_of(_release_array),
        private_data=number,
    )
    schema = ArrowSchema(
        format=b"l" if breaks("arrow.schema") else _FORMATS[array.dtype],
        flags=2,
        release=_address_of(_release_schema),
    )
    made = (
        _capsule(schema, breaks, None),
        _capsule(struct, breaks, number),
    )
    return (*made, None) if breaks("arrow.capsules") else made


class _Moved:
    """An array that was moved out of its capsule: released with the last array over it."""

    def __init__(self, struct, schema, breaks):
        self.schema, self.breaks = schema, breaks
        self.array = ArrowArray.from_buffer_copy(struct)
        struct.release = None

    def __del__(self):
        if self.array.release and not self.breaks("from-arrow.moves"):
            _Release(self.array.release)(ctypes.addressof(self.array))


def take(library, x):
    breaks = library.breaks
    schema, capsule = x.__arrow_c_array__()
    struct = ArrowArray.from_address(capsules.pointer(capsule, b"arrow_array"))
    if not struct.release and not breaks("from-arrow.released"):
        raise ValueError("the array was released")
    if struct.null_count and struct.buffers[0] and not breaks("from-arrow.nulls"):
        raise ValueError("the array has nulls")
    offset = 0 if breaks("from-arrow.elements") else struct.offset
    address, length = struct.buffers[1] + 4 * offset, struct.length
    owner = _Moved(struct, schema, breaks)
    return planted.Array(library, owner, address, "float32", [length], [1], read_only=True)
