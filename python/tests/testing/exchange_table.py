"""The table behind `type(x).__dlpack_c_exchange_api__`, with ctypes: reads any library's table, and
makes tables of fictitious libraries.

    table = table_of(dovetail.Tensor)
    out = ctypes.c_void_p()
    assert table.managed_from(t, ctypes.byref(out)) == 0     # raises the Python error that it sets

The layout is that of dlpack.h 1.3.
"""

import ctypes

import capsules
from managed import DLTensor

NAME = b"dlpack_exchange_api"

SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
Allocate = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(DLTensor),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    SetError,
)
ManagedFrom = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
ManagedTo = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
Stream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class Table(ctypes.Structure):
    """DLPackExchangeAPI."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("prev_api", ctypes.c_void_p),
        ("allocate", Allocate),
        ("managed_from", ManagedFrom),
        ("managed_to", ManagedTo),
        ("borrow", Borrow),
        ("stream", Stream),
    ]


def table_of(cls):
    return Table.from_address(capsules.pointer(cls.__dlpack_c_exchange_api__, NAME))


def capsule_of(table, name=NAME):
    """A capsule around a table. The table and the name must outlive it."""
    return capsules.new(ctypes.addressof(table), name, None)


def take_object(address):
    """The object at an owned PyObject*. Takes over the reference."""
    x = ctypes.cast(address, ctypes.py_object).value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(x))
    return x
