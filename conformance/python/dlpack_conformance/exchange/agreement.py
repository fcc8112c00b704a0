"""That an export by the table is the one of __dlpack__()."""

from ..checks import check
from ..exports import VERSIONED, elements, fill_strides, made, make, need, read
from ..producer.layouts import CTYPES
from ..script import NotApplicableError, describe
from ..structs import DLManagedTensor
from ..tables import borrowed_buffer, fields, function, read_borrowed, read_managed

MANAGED = "status = managed_from(x, ctypes.byref(out))"
BORROWED = "status = borrow(x, managed)"


def _prepare(s, name):
    """The functions that export: "managed" or "borrowed"."""
    function(s, "managed_from" if name == "managed" else "borrow")
    if name == "borrowed":
        s.run(borrowed_buffer())


def _export(s, name):
    line = MANAGED if name == "managed" else BORROWED
    error = s.tried(line)
    if isinstance(error, BufferError):
        raise NotApplicableError(f"it is refused: {describe(error)}")
    if error:
        s.raised(line, f"it raises {describe(error)}")
    _read(s, name)


def _read(s, name):
    s.expect("status == 0", "the status is {status}, without an exception")
    if name == "managed":
        s.run("managed = out.value")
        read_managed(s)
    else:
        read_borrowed(s)


_ARRAYS: dict = {"plain": None, "scalar": 5, "empty": []}


def _cases(adapter):
    views = () if adapter.one_dimensional else adapter.views
    return [*_ARRAYS, *views, *(["read-only"] if adapter.read_only else [])]


def _array(s, name):
    """x = the array of a case."""
    if name in s.adapter.arrays:
        made(s, s.adapter.arrays[name])
        return
    make(s, *([_ARRAYS[name]] if _ARRAYS.get(name) is not None else []))
    if name == "read-only":
        made(s, s.adapter.read_only.format(x="x"))
    elif name not in _ARRAYS:
        made(s, s.adapter.views[name].format(x="x"))


def _compare(s, name, case):
    _array(s, case)
    error = s.tried(f"capsule = x.__dlpack__({VERSIONED})")
    if error:
        raise NotApplicableError(f"__dlpack__({VERSIONED}) is refused: {describe(error)}")
    if read(s) is DLManagedTensor:
        raise NotApplicableError("the capsule is a legacy one")
    fill_strides(s)
    flags = name == "managed"
    s.run(f"by_dlpack = {fields(flags)}")
    _prepare(s, name)
    _export(s, name)
    fill_strides(s)
    s.run(f"by_table = {fields(flags)}")
    s.expect("by_table == by_dlpack", "the table says {by_table}, __dlpack__() {by_dlpack}")


@check("exchange.managed", _cases)
def managed(s, case):
    _compare(s, "managed", case)


@check("exchange.borrowed", _cases)
def borrowed(s, case):
    _compare(s, "borrowed", case)


@check("exchange.managed-version")
def managed_version(s):
    make(s)
    _prepare(s, "managed")
    _export(s, "managed")
    s.expect("major == 1", "the struct says version {major}.{minor}")


def _both(names):
    return [f"{name} ({how})" for name in names for how in ("managed", "borrowed")]


def _split(case):
    name, _, how = case.rpartition(" (")
    return name, how.rstrip(")")


@check("exchange.elements", lambda adapter: _both(["plain", *adapter.arrays]))
def exported_elements(s, case):
    name, how = _split(case)
    _array(s, name)
    s.run(f"own = {need(s.adapter.values, 'the library shows no elements').format(y='x')}")
    _prepare(s, how)
    if s.tried(MANAGED if how == "managed" else BORROWED):
        return
    _read(s, how)
    fill_strides(s)
    if s["code"] == 5:  # complex: pairs of floats
        size = s["bits"] // 16
        parts = elements(s, s["ndim"], CTYPES[2, s["bits"] // 2])
        parts = parts.replace(f" + {size} *", f" + {2 * size} *")
        other = parts.replace("byte_offset", f"byte_offset + {size}")
        s.run(f"values = [complex(*pair) for pair in zip({parts}, {other})]")
    else:
        s.run(f"values = {elements(s, s['ndim'], CTYPES[s['code'], s['bits']])}")
    if s["ndim"] == 2:
        s.run("own = [element for row in own for element in row]")
    s.expect("values == own", "the library says {own}, the struct leads to {values}")


@check("exchange.refuses", lambda adapter: _both(adapter.unsupported))
def refuses(s, case):
    name, how = _split(case)
    made(s, s.adapter.unsupported[name])
    if s.tried(f"x.__dlpack__({VERSIONED})") is None:
        raise NotApplicableError("__dlpack__() exports it")
    _prepare(s, how)
    line = MANAGED if how == "managed" else BORROWED
    error = s.tried(line)
    if error is None:
        s.broken(f"an array of the kind {name!r} is exported: the status is {s['status']}")
    if not isinstance(error, BufferError):
        s.raised(line, f"an array of the kind {name!r} raises {describe(error)}")
