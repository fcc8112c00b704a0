"""The doors by which an array leaves a library: both kinds of capsules, the C exchange table."""

from .exports import LEGACY, VERSIONED, made, make, name_of, read
from .script import NotApplicableError, describe
from .structs import DLManagedTensor, DLManagedTensorVersioned, DLTensor
from .tables import DELETE, borrowed_buffer, function, read_borrowed, read_managed

REQUESTS = {"versioned": VERSIONED, "legacy": LEGACY}
CAPSULES = tuple(REQUESTS)
CALLS = {
    "managed": "status = managed_from(x, ctypes.byref(out))",
    "borrowed": "status = borrow(x, managed)",
}
TABLE = tuple(CALLS)


def kind_of(door):
    """The class of the struct that a door gives."""
    kinds = {"legacy": DLManagedTensor, "borrowed": DLTensor}
    return kinds.get(door, DLManagedTensorVersioned)


def arguments_of(door, copy=""):
    return ", ".join(filter(None, [REQUESTS[door], copy]))


def open_door(s, door):
    """Define what an export needs, once. It looks at x."""
    name = {"managed": "managed_from", "borrowed": "borrow"}.get(door)
    if name and name not in s.namespace:
        function(s, name)
        if door == "borrowed":
            s.run(borrowed_buffer())


def call_of(door, copy=""):
    """The line that exports x."""
    return CALLS.get(door) or f"capsule = x.__dlpack__({arguments_of(door, copy)})"


def try_door(s, door, copy=""):
    """Export x, and set variables to the struct's fields. Returns the exception if it fails."""
    open_door(s, door)
    error = s.tried(call_of(door, copy))
    if error:
        return error
    if door in TABLE:
        s.expect("status == 0", "the status is {status}, without an exception")
        if door == "managed":
            s.run("managed = out.value")
            read_managed(s)
        else:
            read_borrowed(s)
    elif read(s) is not kind_of(door):
        raise NotApplicableError(f"the capsule is named {name_of(s['capsule'])}")
    return None


def export_by(s, door, copy=""):
    """The same. Where the export is refused, the rule does not apply."""
    error = try_door(s, door, copy)
    if error:
        raise NotApplicableError(f"the export is refused: {describe(error)}")


def end_by(s, door, call="ctypes.CFUNCTYPE"):
    """Define what the lines of ended() need: delete(managed) calls the deleter by `call`."""
    make(s)
    export_by(s, door)
    s.lines.clear()
    kind = kind_of(door)
    if door in TABLE:
        made(s, s.adapter.array_of([1]))
        open_door(s, door)
    else:
        s.run(f'name, used = b"{kind.name}", b"{kind.used_name}"')
        s.run(
            "get, rename = (ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)"
            "((name_, ctypes.pythonapi)) for result, name_ in "
            '[(ctypes.c_void_p, "PyCapsule_GetPointer"), (ctypes.c_int, "PyCapsule_SetName")])'
        )
    if door != "borrowed":
        s.run(DELETE.format(call=call, offset=kind.deleter.offset))


def ended(door, note="", delete="delete(managed)", copy=""):
    """Lines that export x and end the export. `note` is a line in between."""
    if door == "borrowed":
        return CALLS[door]
    begin = ["managed = out.value"]
    if door in REQUESTS:
        begin = ["managed = get(capsule, name)", "rename(capsule, used)"]
    lines = [call_of(door, copy), *begin, note, delete, "capsule = None"]
    return "\n".join(filter(None, lines))
