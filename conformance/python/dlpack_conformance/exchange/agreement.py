"""That an export by the table is the one of __dlpack__()."""

from ..checks import check
from ..doors import TABLE, call_of, export_by, open_door
from ..exports import VERSIONED, fill_strides, layouts_of, made, make, make_view
from ..producer.fields import make_read_only
from ..script import NotApplicableError, describe
from ..tables import fields

_ARRAYS = {"a scalar": 5, "empty": []}


def _cases(adapter, seed):
    return [*layouts_of(adapter), *_ARRAYS, *(["read-only"] if adapter.read_only else [])]


def _compare(s, case, door):
    if case == "read-only":
        make_read_only(s)
    elif case in _ARRAYS:
        make(s, _ARRAYS[case])
    else:
        make_view(s, case)
    export_by(s, "versioned")
    fill_strides(s)
    flags = door == "managed"
    s.run(f"by_dlpack = {fields(flags)}")
    export_by(s, door)
    fill_strides(s)
    s.run(f"by_table = {fields(flags)}")
    s.expect("by_table == by_dlpack", "the table says {by_table}, __dlpack__() {by_dlpack}")


@check("exchange.managed", _cases)
def managed(s, case):
    _compare(s, case, "managed")


@check("exchange.borrowed", _cases)
def borrowed(s, case):
    _compare(s, case, "borrowed")


@check("exchange.managed-version")
def managed_version(s):
    make(s)
    export_by(s, "managed")
    s.expect("major == 1", "the struct says version {major}.{minor}")


def _refused(adapter, seed):
    return [f"{name}, {door}" for name in adapter.unsupported for door in TABLE]


@check("exchange.refuses", _refused)
def refuses(s, case):
    name, _, door = case.rpartition(", ")
    made(s, s.adapter.unsupported[name])
    if s.tried(f"x.__dlpack__({VERSIONED})") is None:
        raise NotApplicableError("__dlpack__() exports it")
    open_door(s, door)
    error = s.tried(call_of(door))
    if error is None:
        s.broken(f"an array of the kind {name!r} is exported: the status is {s['status']}")
    if not isinstance(error, BufferError):
        s.raised(call_of(door), f"an array of the kind {name!r} raises {describe(error)}")
