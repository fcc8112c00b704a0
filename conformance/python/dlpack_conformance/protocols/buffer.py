"""Python's buffer protocol, asked as C code asks: by PyObject_GetBuffer."""

import ctypes

from ..cases import DTYPES
from ..checks import check
from ..exports import make, make_view, need
from ..producer.lifetimes import SIZE
from ..script import NotApplicableError, describe
from ..structs import format_of
from .arrays import expect_freed, expect_layout, immutable, layouts, outlived, types
from .structs import PyBuffer

# Flags of requests, and what memory can meet them: a function of (in C order, in Fortran's).
_REQUESTS = {
    "SIMPLE": (0x00, lambda c, f: c),
    "ND": (0x08, lambda c, f: c),
    "STRIDES": (0x18, lambda c, f: True),
    "C_CONTIGUOUS": (0x38, lambda c, f: c),
    "F_CONTIGUOUS": (0x58, lambda c, f: f),
    "ANY_CONTIGUOUS": (0x98, lambda c, f: c or f),
}
# The codes of the struct module that a format may have for a type.
_FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "lq", "uint64": "LQ", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip
_ND, _STRIDES, _RECORDS, _RECORDS_RO, _FULL_RO = 0x08, 0x18, 0x1D, 0x1C, 0x11C
_FIELDS = "data, obj, length, itemsize, readonly, ndim, format, shape, strides, suboffsets"


def _buffer(s):
    """b = the object whose buffers are asked for."""
    s.run(f"b = {s.adapter.buffer.format(x='x')}")
    if not s.evaluate("ctypes.pythonapi.PyObject_CheckBuffer(ctypes.py_object(b))"):
        raise NotApplicableError("the library has no buffers")


def _get(s, flags):
    """Ask for a buffer of b, and set variables to its fields. Returns the exception if it fails."""
    s.run(f"view = ctypes.create_string_buffer({ctypes.sizeof(PyBuffer)})")
    error = s.tried(_line(flags))
    if error is None:
        s.run(f'{_FIELDS}, _ = struct.unpack("{format_of(PyBuffer)}", view)')
    return error


def _line(flags):
    return f"ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(b), view, {flags:#x})"


def _must_get(s, flags):
    error = _get(s, flags)
    if error:
        raise NotApplicableError(f"the buffer is refused: {describe(error)}")


def _lists(s):
    s.run(
        "shape, strides = ((ctypes.c_ssize_t * ndim).from_address(p)[:] if p else None "
        "for p in (shape, strides))"
    )


@check("buffer.format", types, devices=["cpu"])
def format_(s, name):
    dtype = DTYPES[name]
    _, places = make_view(s, "plain", dtype)
    _buffer(s)
    _must_get(s, _RECORDS_RO)
    s.run('format = ctypes.string_at(format).decode() if format else "B"')
    codes = _FORMATS.get(name)
    if codes:
        formats = [prefix + code for prefix in ("", "@", "=", "<") for code in codes]
        s.expect(f"format in {formats}", f"the format of {name} is {{format!r}}")
    s.expect(f"itemsize == {dtype.size}", f"the item size of {name} is {{itemsize}}")
    expected = dtype.encoded(places)
    s.run(f"elements = ctypes.string_at(data, {len(expected)})")
    s.expect(f"elements == {expected}", f"0 … 11 in {name} are {{elements}}")


@check("buffer.layout", layouts, devices=["cpu"])
def layout(s, name):
    shape, places = make_view(s, name)
    _buffer(s)
    _must_get(s, _FULL_RO)
    _lists(s)
    s.run("shape = shape or []")
    s.expect("not suboffsets", "there are suboffsets")
    s.expect("length == 4 * math.prod(shape)", "the length of shape {shape} is {length}")
    expect_layout(s, shape, places)


@check("buffer.requests", _REQUESTS, devices=["cpu"])
def requests(s, request):
    for name in layouts(s.adapter, 0):
        s.lines.clear()
        make_view(s, name)
        _request(s, request, *_REQUESTS[request])


def _request(s, request, flags, is_met):
    _buffer(s)
    c, f = (bool(s.evaluate(f"memoryview(b).{order}_contiguous")) for order in "cf")
    error = _get(s, flags)
    if error:
        if not isinstance(error, BufferError):
            s.raised(_line(flags), f"a refusal is no BufferError: {describe(error)}")
        s.expect('struct.unpack("=QQ", view[:16])[1] == 0', "a refusal leaves view.obj set")
        return
    if not is_met(c, f):
        s.broken(f"PyBUF_{request} is served by memory that is not so")
    s.expect("obj", "view.obj is NULL")
    s.expect("not format", "there is a format, which was not asked for")
    if not flags & _ND:
        s.expect("not shape", "there is a shape, which was not asked for")
    if flags & _STRIDES != _STRIDES:
        s.expect("not strides", "there are strides, which were not asked for")


@check("buffer.read-only", devices=["cpu"])
def read_only(s):
    immutable(s)
    _buffer(s)
    if _get(s, _RECORDS) is None:
        s.broken("a read-only array gives a writable buffer")
    _must_get(s, _RECORDS_RO)
    s.expect("readonly", "the buffer of a read-only array is not marked as one")


@check("buffer.writable", devices=["cpu"])
def writable(s):
    need(s.adapter.write, "the library's arrays are immutable")
    values = need(s.adapter.values, "the library shows no elements").format(y="x")
    make(s)
    _buffer(s)
    _must_get(s, _RECORDS)
    s.expect("not readonly", "the buffer was asked for to be written, and is read-only")
    s.run(f"ctypes.c_float.from_address(data).value = 7; values = {values}")
    first = "values[0]" if s.adapter.one_dimensional else "values[0][0]"
    s.expect(f"{first} == 7", "7 was written to the buffer, and the array has {values}")


@check("buffer.lifetime", ["1 MiB", "16 bytes"], devices=["cpu"])
def lifetime(s, size):
    outlived(s, size, lambda: (_buffer(s), _must_get(s, _RECORDS_RO)), "del x, b")


@check("buffer.releases", devices=["cpu"])
def releases(s):
    make(s)
    _buffer(s)
    s.lines.clear()
    body = f"memoryview({s.adapter.buffer.format(x=s.adapter.ones_of(SIZE))}).release()"
    expect_freed(s, body, "a released buffer")
