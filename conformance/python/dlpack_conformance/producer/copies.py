"""The arguments copy= and dl_device= of __dlpack__()."""

from ..checks import check
from ..doors import CAPSULES, arguments_of, export_by
from ..exports import (
    VERSIONED,
    export,
    layouts_of,
    make,
    make_view,
    read,
    read_versioned,
)
from ..script import NotApplicableError, describe


def _export(s, request):
    """capsule = x.__dlpack__(…), and `at` the address of its data."""
    export(s, request)
    read(s)
    s.run("at = data + byte_offset")


@check("producer.copied-flag", lambda adapter, seed: ["copy=True", *layouts_of(adapter)])
def copied_flag(s, case):
    copy = case if case == "copy=True" else ""
    make_view(s, "plain" if copy else case)
    _export(s, VERSIONED)
    s.run("shared = at, capsule")
    _export(s, arguments_of("versioned", copy))
    if s.evaluate("at == shared[0]"):
        if copy:
            raise NotApplicableError("copy=True does not copy")
        return
    read_versioned(s)
    s.expect("flags & 2", "the flags of a copy are {flags:#x}")


def _with(ways):
    """Cases: each layout with each of these ways."""
    return lambda adapter, seed: [f"{n}, {way}" for n in layouts_of(adapter) for way in ways]


@check("producer.copied-only", _with(["copy=None", "copy=False"]))
def copied_only(s, case):
    name, copy = case.split(", ")
    make_view(s, name)
    request = arguments_of("versioned", "" if copy == "copy=None" else copy)
    _export(s, request)
    read_versioned(s)
    s.run("first, marked = (at, capsule), flags & 2")
    _export(s, request)
    s.expect(
        "not marked or at != first[0]",
        "the flags are {flags:#x}, and two exports share the memory at {at:#x}",
    )


@check("producer.copy-true", _with(CAPSULES))
def copy_true(s, case):
    name, door = case.split(", ")
    make_view(s, name)
    export_by(s, door, "copy=True")
    _compare_addresses(s, arguments_of(door), "!=", "copy=True shares the memory")


@check("producer.copy-served", ["versioned"])
def copy_served(s, door):
    make(s)
    line, error = _try(s, door, "copy=True")
    if error:
        s.raised(line, f"copy=True raises {describe(error)}")


@check("producer.copy-false", _with(CAPSULES))
def copy_false(s, case):
    name, door = case.split(", ")
    make_view(s, name)
    line, error = _try(s, door, "copy=False")
    if error and not isinstance(error, BufferError):
        s.raised(line, f"copy=False raises {describe(error)}")
    if error is None:
        read(s)
        _compare_addresses(s, arguments_of(door, "copy=False"), "==", "copy=False copies")


def _try(s, door, keyword):
    """Export with a keyword that old producers lack. Returns the line, and its error or None."""
    line = f"capsule = x.__dlpack__({arguments_of(door, keyword)})"
    error = s.tried(line)
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword {keyword}: {describe(error)}")
    return line, error


def _compare_addresses(s, request, comparison, seen):
    """Compare the address in the struct with that of another export."""
    s.run("address, first = data + byte_offset, capsule")
    export(s, request)
    read(s)
    s.expect(f"address {comparison} data + byte_offset", seen + ", at {address:#x}")


@check("producer.dl-device", CAPSULES)
def dl_device(s, door):
    make(s)
    export_by(s, door)
    if s.adapter.device == "cpu" and s["device_type"] != 1:
        raise NotApplicableError("the array is not on the CPU")
    line, error = _try(s, door, f"dl_device={s.adapter.dlpack_device}")
    if error:
        s.raised(line, f"dl_device={s.adapter.dlpack_device} raises {describe(error)}")


@check("producer.other-device", CAPSULES)
def other_device(s, door):
    make(s)
    export_by(s, door)
    line, error = _try(s, door, "dl_device=(16, 0)")  # Hexagon
    if error is None:
        s.broken("dl_device=(16, 0) is ignored")
    if not isinstance(error, BufferError):
        s.raised(line, f"dl_device=(16, 0) raises {describe(error)}")
