"""Functions of CPython's C API for capsules, by ctypes.

capsule = new(ctypes.addressof(struct), b"dltensor", None)     # keeps the name's address
address = pointer(capsule, b"dltensor")
"""

import ctypes


def function(name, result, *arguments):
    """A function of the C API. It needs the GIL, and raises the exception that it sets."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


new = function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
pointer = function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
name = function("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
