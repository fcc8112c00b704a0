"""Lines of scripts that call the functions in the C exchange table of a type."""

import ctypes

from .exports import GET_POINTER, name_of, read_struct
from .script import NotApplicableError
from .structs import DLManagedTensorVersioned, DLTensor

NAME = "dlpack_exchange_api"
ATTRIBUTE = "__dlpack_c_exchange_api__"
FUNCTIONS = ("allocate", "managed_from", "managed_to", "borrow", "current_stream")
_HEADER = 16  # bytes: two uint32 and a pointer

_POINTER = "ctypes.POINTER(ctypes.c_void_p)"
_TYPES = {
    "allocate": f"ctypes.c_void_p, {_POINTER}, ctypes.c_void_p, ctypes.c_void_p",
    "managed_from": f"ctypes.py_object, {_POINTER}",
    "managed_to": f"ctypes.c_void_p, {_POINTER}",
    "borrow": "ctypes.py_object, ctypes.c_void_p",
    "current_stream": f"ctypes.c_int32, ctypes.c_int32, {_POINTER}",
}


def find_table(s):
    """table = the address of the table of x's type. Where there is none, no rule applies."""
    if name_of(getattr(type(s["x"]), ATTRIBUTE, None)) != NAME:
        raise NotApplicableError("the type has no table")
    s.run(f'table = {GET_POINTER}(type(x).{ATTRIBUTE}, b"{NAME}")')


def function(s, name):
    """Define a function of the table by its name in FUNCTIONS. A call raises the Python exception
    that it sets, and returns its status."""
    find_table(s)
    offset = _HEADER + 8 * FUNCTIONS.index(name)
    address = f"ctypes.c_void_p.from_address(table + {offset}).value"
    if s.evaluate(address) is None:
        raise NotApplicableError(f"the function {name} is NULL")
    s.run(f"{name} = ctypes.PYFUNCTYPE(ctypes.c_int, {_TYPES[name]})({address})")
    s.run("out = ctypes.c_void_p()")


# What must be equal in two structs of the same array. A stride of a dimension of size 1 says
# nothing, and neither do the data without elements.
_FIELDS = (
    "{{'data': 0 in (shape or ()) or data + byte_offset, 'device': (device_type, device_id), "
    "'type': (code, bits, lanes), 'shape': shape or [], 'strides': 0 in (shape or ()) or "
    "[step for size, step in zip(shape or (), strides or ()) if size > 1]{flags}}}"
)


def fields(flags=True):
    return _FIELDS.format(flags=", 'flags': flags" if flags else "")


def read_managed(s):
    """Read the struct at `managed`, which is a versioned one."""
    read_struct(s, DLManagedTensorVersioned)


def read_borrowed(s):
    """Read the DLTensor in the buffer `managed`."""
    read_struct(s, DLTensor)


DELETE = (
    "delete = lambda managed: {call}(None, ctypes.c_void_p)(ctypes.c_void_p.from_address("
    "managed + {offset}).value)(managed)"
)


def borrowed_buffer():
    return f"managed = ctypes.create_string_buffer({ctypes.sizeof(DLTensor)})"
