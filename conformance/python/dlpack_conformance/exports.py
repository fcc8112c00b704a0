"""Lines of scripts that export an array, and read the struct in its capsule."""

import ctypes
import math

from .cases import DTYPES, LAYOUTS, nested
from .script import NotApplicableError, describe
from .structs import KINDS, DLManagedTensor, dump, fields_of, format_of

VERSIONED = "max_version=(1, 0)"
LEGACY = ""
VALUES = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]

_NAME = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)


def need(expression, text):
    """Return an adapter's expression; where there is none, the rule does not apply: `text`."""
    if expression is None:
        raise NotApplicableError(text)
    return expression


def make(s, values=VALUES):
    """x = a new array of float32."""
    if s.adapter.one_dimensional:
        values = list(range(12)) if values is VALUES else values
        if not isinstance(values, list) or (values and isinstance(values[0], list)):
            raise NotApplicableError("the library's arrays have one dimension")
    made(s, s.adapter.array_of(values))


def made(s, expression):
    """x = an expression of the adapter. Where that fails, the rule does not apply."""
    error = s.tried(f"x = {expression}")
    if error:
        raise NotApplicableError(f"the library can't make it: {describe(error)}")


def layouts_of(adapter):
    return ["plain", *(() if adapter.one_dimensional else adapter.views)]


def make_view(s, name, dtype=DTYPES["float32"]):
    """x = an array of this layout and type. Returns its shape and its elements in order."""
    flat = s.adapter.one_dimensional
    shape = (12,) if flat else (3, 4)
    made(s, s.adapter.array_of(nested(shape, dtype.numbers()), dtype.name))
    if name == "plain":
        return shape, range(12)
    view = need(s.adapter.views.get(name), "the library has no such view")
    made(s, view.format(x="x"))
    return LAYOUTS[name].shape, LAYOUTS[name].places


def export(s, request=VERSIONED):
    """capsule = x.__dlpack__(…). Where that fails, the rule does not apply."""
    error = s.tried(f"capsule = x.__dlpack__({request})")
    if error:
        raise NotApplicableError(f"__dlpack__({request}) is refused: {describe(error)}")


def export_any(s):
    """capsule = x.__dlpack__(…), a versioned one if the library has them. Returns the request."""
    for request in (VERSIONED, LEGACY):
        error = s.tried(f"capsule = x.__dlpack__({request})")
        if error is None:
            return request
    raise NotApplicableError(f"the export is refused: {describe(error)}")


def name_of(capsule):
    """The name of a capsule; None if it has none or is none."""
    try:
        return (_NAME(capsule) or b"").decode()
    except (TypeError, ValueError, ctypes.ArgumentError):
        return None


# An expression: the function of (capsule, name).
GET_POINTER = (
    "ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)"
    '(("PyCapsule_GetPointer", ctypes.pythonapi))'
)


def pointer_in(capsule, kind):
    """An expression: the address of the struct in an unconsumed capsule."""
    return f'{GET_POINTER}({capsule}, b"{kind.name}")'


def read(s, capsule="capsule"):
    """Set variables to the fields of the struct in a capsule, and shape and strides to lists (None
    for NULL). A legacy struct sets no version and no flags. Returns the class of the struct."""
    name = name_of(s[capsule])
    if name not in KINDS:
        raise NotApplicableError(f"{s[capsule]!r} is no DLPack capsule")
    kind = KINDS[name]
    s.run(f"managed = {pointer_in(capsule, kind)}")
    read_struct(s, kind)
    return kind


def read_struct(s, kind):
    """Set variables to the fields of the struct at the address `managed`."""
    names = ", ".join(field for field, _ in fields_of(kind))
    size = ctypes.sizeof(kind)
    s.run(f'{names} = struct.unpack("{format_of(kind)}", ctypes.string_at(managed, {size}))')
    s.show(dump(kind, ctypes.string_at(s["managed"], size)))
    s.run(
        "shape, strides = ((ctypes.c_int64 * ndim).from_address(p)[:] if p else None "
        "for p in (shape, strides))"
    )


def read_versioned(s):
    if read(s) is DLManagedTensor:
        raise NotApplicableError("the capsule is a legacy one")


def _bytes(s, ndim, size):
    """An expression: the bytes of all elements in row-major order, read as the struct says."""
    steps = [f"{size} * i{d} * strides[{d}]" for d in range(ndim)]
    where = " + ".join(["data + byte_offset", *steps])
    if not ndim:
        return s.memory.bytes(size, where)
    loops = "".join(f" for i{d} in range(shape[{d}])" for d in range(ndim))
    return f'b"".join({s.memory.bytes(size, where)}{loops})'


def elements(s, shape, dtype):
    """An expression: the elements of a struct of this shape, as Python's numbers. Types that have
    none in the struct module are hexadecimal digits."""
    data, count = _bytes(s, len(shape), dtype.size), math.prod(shape)
    if dtype.letter is None:
        return f"{data}.hex(' ', {dtype.size})"
    if dtype.code == 5:
        halves = f'iter(struct.unpack("={2 * count}{dtype.letter}", {data}))'
        return f"[complex(*pair) for pair in zip(*[{halves}] * 2)]"
    return f'[*struct.unpack("={count}{dtype.letter}", {data})]'


def expect_elements(s, shape, places, dtype=DTYPES["float32"]):
    """The struct has this shape, and leads to the elements that were at `places`."""
    s.expect(
        f"ndim == {len(shape)} and (shape or []) == {list(shape)}",
        "ndim is {ndim}, the shape {shape}",
    )
    fill_strides(s)
    s.run(f"values = {elements(s, shape, dtype)}")
    expected = dtype.numbers(places) if dtype.letter else dtype.encoded(places).hex(" ", dtype.size)
    s.expect(f"values == {expected!r}", "shape {shape} and strides {strides} lead to {values}")


def fill_strides(s):
    """Strides that are NULL, which only older structs have, mean row-major."""
    if s["strides"] is None and s["ndim"]:
        s.run("strides = [math.prod(shape[d + 1:]) for d in range(ndim)]")


def consume(s):
    """Rename the capsule as a consumer does: `used` is the name that has to be kept."""
    kind = KINDS[name_of(s["capsule"])]
    s.run(f'used = b"{kind.used_name}"')
    s.run(
        "ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)"
        '(("PyCapsule_SetName", ctypes.pythonapi))(capsule, used)'
    )
