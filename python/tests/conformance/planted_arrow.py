"""Arrow's C data interface of planted.py, out and in."""

import ctypes
import itertools

import planted

_FORMATS = {"int32": b"i", "float32": b"f", "float64": b"g"}
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class ArrowSchema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class ArrowArray(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


def _function(name, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _function(
    "PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)
# A capsule that dies has no references, so that its destructor handles its address.
_pointer_in_dying = _function(
    "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p
)
_pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)

_numbers = itertools.count(1)
_memory = {}  # maps the private_data of an array to what its release frees
_structs = {}  # maps the address of a struct to it, and to what breaks, while its capsule lives
_KINDS = {b"arrow_schema": ArrowSchema, b"arrow_array": ArrowArray}


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


_DESTRUCTORS = {name: _destructor(name) for name in _KINDS}


def _address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def _capsule(struct, name, breaks, number):
    _structs[ctypes.addressof(struct)] = struct, breaks, number
    return _new(ctypes.addressof(struct), name, _address_of(_DESTRUCTORS[name]))


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
    capsules = (
        _capsule(schema, b"arrow_schema", breaks, None),
        _capsule(struct, b"arrow_array", breaks, number),
    )
    return (*capsules, None) if breaks("arrow.capsules") else capsules


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
    struct = ArrowArray.from_address(_pointer(capsule, b"arrow_array"))
    if not struct.release and not breaks("from-arrow.released"):
        raise ValueError("the array was released")
    if struct.null_count and struct.buffers[0] and not breaks("from-arrow.nulls"):
        raise ValueError("the array has nulls")
    offset = 0 if breaks("from-arrow.elements") else struct.offset
    address, length = struct.buffers[1] + 4 * offset, struct.length
    owner = _Moved(struct, schema, breaks)
    return planted.Array(library, owner, address, "float32", [length], [1], read_only=True)
