"""The arrays that the checks of the other protocols export."""

from ..exports import elements, fill_strides, made, make
from ..producer.layouts import EXPECTED, make_view
from ..script import NotApplicableError


def immutable(s):
    """x = a read-only array."""
    make(s)
    if s.adapter.read_only not in (None, "{x}"):
        made(s, s.adapter.read_only.format(x="x"))
    elif s.adapter.read_only is None and s.adapter.write:
        raise NotApplicableError("the library has no read-only arrays")


def layouts(adapter):
    return ["plain", *adapter.views, "scalar"]


def view(s, name):
    """x = an array of this layout."""
    if name == "scalar":
        make(s, 5)
    else:
        make_view(s, name)


def expect_elements(s, name):
    """The variables data, shape (a list) and strides (a list of bytes, or None) lead to the
    elements of a float32 array of this layout."""
    shape, values = ([], [5]) if name == "scalar" else EXPECTED[name]
    if s.adapter.one_dimensional:
        shape, values = [12], list(range(12))
    s.expect(f"shape == {shape}", "the shape is {shape}")
    s.run(f"ndim, byte_offset = {len(shape)}, 0; strides = strides and [n // 4 for n in strides]")
    fill_strides(s)
    s.run(f"values = {elements(s, len(shape))}")
    s.expect(
        f"values == {[float(value) for value in values]}",
        "shape {shape} and strides {strides} lead to {values}",
    )
