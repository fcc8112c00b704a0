"""Arrow for the tests: PyArrow's types, and structs made by hand with ctypes, valid and invalid.

    lent = LentArrow(b"f", [1.0, 2.0, 4.0])       # float32; has its own capsules and counters
    t = dovetail.from_arrow(lent)
    del t
    assert lent.releases == 1

    array = read(capsule, ArrowArray)            # the struct in any library's capsule

Every LentArrow lives until the process ends, so that a late or repeated release is counted instead
of crashing. Layouts: arrow.apache.org/docs/format/CDataInterface.html.
"""

import ctypes

import capsules
import pyarrow as pa

CPU, CUDA = 1, 2

TYPES = {
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
}


def values_address(array):
    """The address of element 0 of a pyarrow.Array."""
    return array.buffers()[1].address + array.offset * array.type.bit_width // 8


class ArrowSchema(ctypes.Structure):
    name = b"arrow_schema"  # of its capsules
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("field_name", ctypes.c_char_p),
        ("metadata", ctypes.c_char_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class ArrowArray(ctypes.Structure):
    name = b"arrow_array"
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),  # in elements
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class ArrowDeviceArray(ctypes.Structure):
    name = b"arrow_device_array"
    _fields_ = [
        ("array", ArrowArray),
        ("device_id", ctypes.c_int64),
        ("device_type", ctypes.c_int32),
        ("sync_event", ctypes.c_void_p),
        ("reserved", ctypes.c_int64 * 3),
    ]


def capsule(struct, name=None):
    """A capsule without a destructor around `struct`, which must outlive it."""
    return capsules.new(ctypes.addressof(struct), name or type(struct).name, None)


def read(arrow_capsule, kind):
    """The struct in a capsule, in place."""
    return kind.from_address(capsules.pointer(arrow_capsule, kind.name))


_lent = {}  # maps private_data to its LentArrow


def _releaser(kind, counter):
    def release(address):
        struct = kind.from_address(address)
        lent = _lent[struct.private_data]
        setattr(lent, counter, getattr(lent, counter) + 1)
        struct.release = None

    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release)


_RELEASE_SCHEMA = _releaser(ArrowSchema, "schema_releases")
_RELEASE_ARRAY = _releaser(ArrowArray, "releases")


class LentArrow:
    """An object with __arrow_c_array__ or __arrow_c_device_array__ that counts releases."""

    def __init__(self, format_string, values, ctype=ctypes.c_float, device=None, **fields):
        self.releases = self.schema_releases = 0
        self.values = (ctype * len(values))(*values)
        self._buffers = (ctypes.c_void_p * 2)(None, ctypes.addressof(self.values))
        key = len(_lent) + 1
        _lent[key] = self
        self.schema = ArrowSchema(
            format=format_string,
            field_name=b"",
            release=ctypes.cast(_RELEASE_SCHEMA, ctypes.c_void_p),
            private_data=key,
        )
        self.array = ArrowArray(
            length=len(values),
            n_buffers=2,
            buffers=self._buffers,
            release=ctypes.cast(_RELEASE_ARRAY, ctypes.c_void_p),
            private_data=key,
        )
        for name, value in fields.items():
            setattr(self.array, name, value)
        if device is None:
            self.__arrow_c_array__ = self._array
        else:
            type_, index, event = device
            self._device = ArrowDeviceArray(self.array, index, type_, event)
            self.__arrow_c_device_array__ = self._device_array

    @property
    def address(self):
        return ctypes.addressof(self.values)

    def _array(self, requested_schema=None):
        return capsule(self.schema), capsule(self.array)

    def _device_array(self, requested_schema=None, **kwargs):
        return capsule(self.schema), capsule(self._device)
