"""Arrow's C data interface, by __arrow_c_array__(): two capsules with a struct each."""

import ctypes

from ..cases import DTYPES
from ..checks import check
from ..exports import GET_POINTER, made, need
from ..producer.lifetimes import SIZE
from ..script import NotApplicableError, describe
from ..structs import format_of
from .arrays import expect_freed, outlived
from .structs import ArrowArray, ArrowSchema

_FORMATS = {
    "int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i", "uint32": "I",
    "int64": "l", "uint64": "L", "float16": "e", "float32": "f", "float64": "g",
}  # fmt: skip
_GET = f"get = {GET_POINTER}"
_ARRAY_BYTES = ctypes.sizeof(ArrowArray)
_RELEASE_AT = ArrowArray.release.offset
_ARRAY = "length, null_count, offset, n_buffers, n_children, buffers, children, dictionary, release"
_SCHEMA = "format, name, metadata, schema_flags, n_children, children, dictionary, release"


def _flat(s, values=(0, 1, 2, 3), dtype="float32"):
    """x = an array of one dimension."""
    made(s, s.adapter.array_of([*values], dtype))


def _export(s):
    """schema, array = the addresses of the structs of x."""
    error = s.tried("capsules = x.__arrow_c_array__()")
    if error:
        raise NotApplicableError(f"there is no Arrow array: {describe(error)}")
    s.run(_GET)
    s.run('schema, array = get(capsules[0], b"arrow_schema"), get(capsules[1], b"arrow_array")')


def _read_array(s):
    """Set variables to the fields of the array, and `buffers` to a list."""
    s.run(
        f'{_ARRAY}, _ = struct.unpack("{format_of(ArrowArray)}", '
        f"ctypes.string_at(array, {_ARRAY_BYTES}))"
    )
    s.run("buffers = (ctypes.c_void_p * n_buffers).from_address(buffers)[:]")


@check("arrow.capsules", devices=["cpu"])
def capsules(s):
    _flat(s)
    error = s.tried("capsules = x.__arrow_c_array__()")
    if error:
        raise NotApplicableError(f"there is no Arrow array: {describe(error)}")
    s.expect("len(capsules) == 2", "there are {len(capsules)} capsules")
    s.expect(
        "all(f'\"{name}\"' in repr(c) for name, c in zip(('arrow_schema', 'arrow_array'), "
        "capsules))",
        "the capsules are {capsules}",
    )


@check("arrow.requested-schema", devices=["cpu"])
def requested_schema(s):
    _flat(s)
    _export(s)
    s.lines.pop()
    line = "x.__arrow_c_array__(requested_schema=None)"
    error = s.tried(line)
    if error:
        s.raised(line, f"requested_schema=None raises {describe(error)}")


@check(
    "arrow.schema",
    lambda adapter, seed: [name for name in adapter.types if name in _FORMATS],
    devices=["cpu"],
)
def schema(s, name):
    _flat(s, [1, 2], name)
    _export(s)
    s.run(
        f'{_SCHEMA}, _ = struct.unpack("{format_of(ArrowSchema)}", '
        f"ctypes.string_at(schema, {ctypes.sizeof(ArrowSchema)}))"
    )
    s.run("format = ctypes.string_at(format).decode()")
    s.expect(f"format == {_FORMATS[name]!r}", f"the format of {name} is {{format!r}}")
    s.expect("n_children == 0 and not dictionary", "there are {n_children} children")
    s.expect("release", "release is NULL")
    _read_array(s)
    size = DTYPES[name].size
    s.run(f"elements = ctypes.string_at(buffers[1] + {size} * offset, {2 * size})")
    expected = DTYPES[name].encoded([1, 2])
    s.expect(f"elements == {expected}", f"1 and 2 in {name} are {{elements}}")


@check("arrow.array", ["plain", "sliced"], devices=["cpu"])
def array(s, name):
    _flat(s)
    if name == "sliced":
        made(s, "x[1:]")
    _export(s)
    _read_array(s)
    s.expect("n_buffers == 2 and n_children == 0", "{n_buffers} buffers, {n_children} children")
    s.expect("null_count == 0 or not buffers[0]", "the null count is {null_count}")
    s.run("values = (ctypes.c_float * length).from_address(buffers[1] + 4 * offset)[:]")
    expected = [1.0, 2.0, 3.0] if name == "sliced" else [0.0, 1.0, 2.0, 3.0]
    s.expect(f"values == {expected}", "its elements are {values}")


@check("arrow.nulls", devices=["cpu"])
def nulls(s):
    made(s, need(s.adapter.nulls, "the library has no nulls"))
    _export(s)
    _read_array(s)
    s.expect("null_count in (1, -1)", "of three elements one is null, and the count {null_count}")
    s.expect("buffers[0]", "there is no validity buffer")
    s.run("bits = ctypes.c_uint8.from_address(buffers[0] + offset // 8).value >> offset % 8 & 7")
    s.expect("bits == 0b101", "the validity bits of three elements are {bits:03b}")


# Moves the array out of its capsule, as a consumer does.
_MOVE = (
    f"moved = ctypes.create_string_buffer(ctypes.string_at(array, {_ARRAY_BYTES})); "
    f"ctypes.c_void_p.from_address(array + {_RELEASE_AT}).value = None"
)
_RELEASE = (
    "ctypes.CFUNCTYPE(None, ctypes.c_void_p)(release)(ctypes.addressof(moved)); "
    f"left = ctypes.c_void_p.from_buffer(moved, {_RELEASE_AT}).value"
)


@check("arrow.release", devices=["cpu"])
def release(s):
    _flat(s)
    _export(s)
    _read_array(s)
    s.run(_MOVE)
    s.run("del x, capsules; gc.collect()")
    s.run(_RELEASE)
    s.expect("left is None", "release() leaves the field release set")


@check("arrow.moved", ["1 MiB", "16 bytes"], devices=["cpu"])
def moved(s, size):
    def export():
        _export(s)
        _read_array(s)
        s.run("data = buffers[1] + 4 * offset")
        s.run(_MOVE)

    outlived(s, size, export, "del x, capsules")
    s.run(_RELEASE)


@check("arrow.frees", ["an unused array", "a released array"], devices=["cpu"])
def frees(s, which):
    _flat(s)
    _export(s)
    s.lines.clear()
    body = f"capsules = {s.adapter.ones_of(SIZE)}.__arrow_c_array__()"
    if which == "a released array":
        s.run(_GET)
        body += (
            '\narray = get(capsules[1], b"arrow_array")'
            f"\nrelease = ctypes.c_void_p.from_address(array + {_RELEASE_AT}).value"
            f"\n{_MOVE}\n{_RELEASE}"
        )
    expect_freed(s, body, which)
