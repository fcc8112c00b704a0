"""The arrays that the checks of the other protocols export."""

from ..exports import expect_elements, layouts_of, made, make
from ..growth import expect_steady
from ..producer.lifetimes import SIZE
from ..script import NotApplicableError


def immutable(s):
    """x = a read-only array."""
    make(s)
    if s.adapter.read_only not in (None, "{x}"):
        made(s, s.adapter.read_only.format(x="x"))
    elif s.adapter.read_only is None and s.adapter.write:
        raise NotApplicableError("the library has no read-only arrays")


def layouts(adapter, seed):
    return layouts_of(adapter)


def types(adapter, seed):
    return adapter.types


def expect_layout(s, shape, places):
    """The variables data, shape (a list) and strides (a list of bytes, or None) lead to the
    elements of a float32 array that were at `places`."""
    s.run(f"ndim, byte_offset = {len(shape)}, 0; strides = [n // 4 for n in strides or ()] or None")
    expect_elements(s, shape, places)


def outlived(s, size, export, drop):
    """What `export` makes of x keeps the memory, where it sets `data` to, when x was dropped."""
    s.run(f"x = {s.adapter.ones_of(SIZE if size == '1 MiB' else 4)}")
    export()
    s.run(f"{drop}; gc.collect()")
    s.run(f"others = [{s.adapter.array_of('[2, 2, 2, 2]')} for _ in range(100)]")
    s.run("values = (ctypes.c_float * 4).from_address(data)[:]")
    s.expect("values == [1.0] * 4", "after the array was dropped, its memory has {values}")


def expect_freed(s, body, what):
    """Run a body that makes an array of 1 MiB and frees it."""
    expect_steady(s, body, what, calls=16)
