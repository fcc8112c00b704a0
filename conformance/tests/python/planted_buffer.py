"""The other protocols of planted.py that describe memory in place: buffers, the array interface."""

import ctypes
import itertools
import math
import weakref

import capsules
import numpy as np
import planted

from dlpack_conformance.protocols.structs import PyBuffer

_TYPESTRS = {"bool": "|b1", "int32": "<i4", "float32": "<f4", "float64": "<f8", "uint64": "<u8"}
_DTYPES = {typestr: name for name, typestr in _TYPESTRS.items()}
_FORMATS = {letter: letter.encode() for letter in "?ifdQ"}  # views point into these
_FULL_READ_ONLY = 0x11C
_owners = {}  # of memory, by the number of the memoryview over it
_numbers = itertools.count()


_view = capsules.function("PyMemoryView_FromBuffer", ctypes.py_object, ctypes.POINTER(PyBuffer))
_get = capsules.function(
    "PyObject_GetBuffer", ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int
)
_release = capsules.function("PyBuffer_Release", None, ctypes.c_void_p)


def buffer(array):
    """An object that gives buffers of an array."""
    breaks = array.library.breaks
    read_only = array.read_only
    if breaks("buffer.writable") and len(array.shape) == 2 and _is_contiguous(array):
        array = array.copy()
    letter = planted.LETTERS[array.dtype]
    if breaks("buffer.format"):
        letter = "i"
    strides = _byte_strides(array, breaks("buffer.layout"))
    ndim = len(array.shape)
    sizes = ctypes.c_ssize_t * ndim
    info = PyBuffer(
        buf=array.address,
        len=math.prod(array.shape) * array.itemsize,
        itemsize=array.itemsize,
        readonly=read_only and not breaks("buffer.read-only"),
        ndim=ndim,
        format=_FORMATS[letter],
        shape=sizes(*array.shape) if ndim else None,
        strides=sizes(*strides) if ndim else None,
    )
    view = _view(info)
    number = next(_numbers)
    if not breaks("buffer.lifetime"):
        _owners[number] = array.owner
    if not breaks("buffer.releases"):
        weakref.finalize(view, _owners.pop, number, None)
    if breaks("buffer.requests") and not _is_contiguous(array):
        return np.asarray(view)  # its refusals are ValueErrors
    return view


def _is_contiguous(array):
    return array.strides == tuple(planted.row_major(array.shape))


def _byte_strides(array, is_broken):
    strides = sorted(array.strides, reverse=True) if is_broken else array.strides
    return tuple(stride * array.itemsize for stride in strides)


def interface(array):
    breaks = array.library.breaks
    typestr = "<u4" if breaks("array-interface.type") else _TYPESTRS[array.dtype]
    address = array.address
    if breaks("array-interface.lifetime") and array.shape == (4,):
        address = array.copy().address
    if breaks("array-interface.dlpack") and _is_contiguous(array):
        array.other = array.copy()
        address = array.other.address
    read_only = array.read_only and not breaks("array-interface.read-only")
    return {
        "version": 2 if breaks("array-interface.version") else 3,
        "typestr": typestr,
        "shape": array.shape,
        "strides": _byte_strides(array, breaks("array-interface.layout")),
        "data": (address, read_only or breaks("array-interface.writable")),
    }


class _Held:
    """A buffer that is released with the last array over it."""

    def __init__(self, x):
        self.x, self.info = x, PyBuffer()
        _get(x, ctypes.addressof(self.info), _FULL_READ_ONLY)

    def __del__(self):
        _release(ctypes.addressof(self.info))


def take_buffer(library, x):
    held = _Held(x)
    info = held.info
    strides = [step // info.itemsize for step in info.strides[: info.ndim]]
    if library.breaks("from-buffer.elements"):
        strides = [abs(step) for step in strides]
    read_only = info.readonly and not library.breaks("from-buffer.read-only")
    shape = info.shape[: info.ndim]
    owner = x if library.breaks("from-buffer.holds") else held
    return planted.Array(
        library, owner, info.buf, "float32", shape, strides, read_only=bool(read_only)
    )


def take_interface(library, x):
    given = x.__array_interface__
    typestr = given["typestr"]
    if library.breaks("from-array-interface.byte-order"):
        typestr = typestr.replace(">", "<")
    dtype = _DTYPES[typestr]
    shape = given["shape"]
    address, read_only = given["data"]
    size = int(typestr[2:])
    strides = planted.row_major(shape)
    if given["strides"]:
        strides = [step // size for step in given["strides"]]
    if library.breaks("from-array-interface.elements"):
        strides = [abs(step) for step in strides]
    if library.breaks("from-array-interface.read-only"):
        read_only = False
    owner = None if library.breaks("from-array-interface.holds") else x
    return planted.Array(library, owner, address, dtype, shape, strides, read_only=read_only)
