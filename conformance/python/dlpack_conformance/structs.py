"""The C structs of dlpack.h 1.3 in ctypes, and their layouts as formats of the struct module.

A reproduction that the kit prints has to run by itself. So it reads and writes the structs with
the struct module, by formats and field names that are derived from the classes here.
"""

import ctypes
import struct

READ_ONLY, IS_COPIED, SUBBYTE_TYPE_PADDED = 1, 2, 4
CPU = (1, 0)


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    """The struct of a legacy capsule."""

    name, used_name = "dltensor", "used_dltensor"
    _fields_ = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class DLManagedTensorVersioned(ctypes.Structure):
    """The struct of a capsule since DLPack 1.0."""

    name, used_name = "dltensor_versioned", "used_dltensor_versioned"
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


KINDS = {kind.name: kind for kind in (DLManagedTensor, DLManagedTensorVersioned)}

_LETTERS = {
    ctypes.c_void_p: "Q",
    ctypes.c_char_p: "Q",
    ctypes.POINTER(ctypes.c_void_p): "Q",
    ctypes.POINTER(ctypes.c_int64): "Q",  # of c_ssize_t, too
    ctypes.c_int64: "q",
    ctypes.c_int32: "i",
    ctypes.c_uint8: "B",
    ctypes.c_uint16: "H",
    ctypes.c_uint32: "I",
    ctypes.c_uint64: "Q",
}


def fields_of(kind):
    """Pairs of (name, ctypes type) in order, with those of the DLTensor inside."""
    fields = []
    for name, kind_of_field in kind._fields_:
        fields += fields_of(DLTensor) if kind_of_field is DLTensor else [(name, kind_of_field)]
    return fields


def dump(kind, data):
    """The bytes of a struct in rows of 16, in hexadecimal, and its fields: pointers as "0x…"."""
    values = struct.unpack(format_of(kind), data)
    pointers = ("data", "shape", "strides", "manager_ctx", "deleter", "flags")
    fields = {
        name: hex(value) if name in pointers else value
        for (name, _), value in zip(fields_of(kind), values, strict=True)
    }
    rows = [f"{at:02x}  {data[at : at + 16].hex(' ', 4)}" for at in range(0, len(data), 16)]
    return {"name": getattr(kind, "name", kind.__name__), "hex": rows, "fields": fields}


def format_of(kind):
    """The struct module's format. The structs have no padding where pointers have 64 bits."""
    return "=" + "".join(_LETTERS[type_] for _, type_ in fields_of(kind))
