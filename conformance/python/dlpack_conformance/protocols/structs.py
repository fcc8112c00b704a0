"""The C structs of Python's buffer protocol and of Arrow's C data interface, in ctypes.

Layouts: docs.python.org/3/c-api/buffer.html and arrow.apache.org/docs/format/CDataInterface.html.
"""

import ctypes

_SIZES = ctypes.POINTER(ctypes.c_ssize_t)


class PyBuffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", _SIZES),
        ("strides", _SIZES),  # in bytes
        ("suboffsets", _SIZES),
        ("internal", ctypes.c_void_p),
    ]


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
