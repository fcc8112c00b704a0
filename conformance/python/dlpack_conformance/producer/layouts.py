"""Where the struct says that the elements are: shape, strides, data and byte_offset."""

from ..checks import check
from ..exports import (
    elements,
    export_any,
    fill_strides,
    made,
    make,
    need,
    read,
    read_versioned,
)

# What NumPy's indexing makes of [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]].
EXPECTED = {
    "plain": ([3, 4], list(range(12))),
    "transposed": ([4, 3], [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
    "sliced": ([2, 2], [5, 6, 9, 10]),
    "stepped": ([3, 2], [0, 2, 4, 6, 8, 10]),
    "reversed": ([3, 4], [8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]),
    "broadcast": ([3, 4], [0, 1, 2, 3] * 3),
}


def make_view(s, name):
    make(s)
    if name != "plain":
        made(s, need(s.adapter.views.get(name), "the library has no such view").format(x="x"))


def _layouts(adapter):
    return ["plain", *adapter.views]


@check("producer.elements", _layouts)
def view(s, name):
    make_view(s, name)
    export_any(s)
    read(s)
    shape, values = ([12], list(range(12))) if s.adapter.one_dimensional else EXPECTED[name]
    s.expect(f"ndim == {len(shape)} and shape == {shape}", "ndim is {ndim}, the shape {shape}")
    fill_strides(s)
    s.run(f"values = {elements(s, len(shape))}")
    s.expect(
        f"values == {[float(value) for value in values]}",
        "shape {shape} and strides {strides} lead to {values}",
    )


CTYPES = {(2, 32): "c_float", (2, 64): "c_double", (0, 32): "c_int32", (0, 64): "c_int64"}


@check("producer.elements", lambda adapter: adapter.arrays)
def array(s, name):
    """An array of the adapter's own, as the library itself sees it."""
    made(s, s.adapter.arrays[name])
    s.run(f"own = {need(s.adapter.values, 'no values').format(y='x')}")
    export_any(s)
    read(s)
    fill_strides(s)
    if s["code"] == 5:  # complex: pairs of floats
        half = CTYPES[2, s["bits"] // 2]
        size = s["bits"] // 16
        parts = elements(s, s["ndim"], half).replace(f" + {size} *", f" + {2 * size} *")
        other = parts.replace("byte_offset", f"byte_offset + {size}")
        s.run(f"values = [complex(*pair) for pair in zip({parts}, {other})]")
    else:
        s.run(f"values = {elements(s, s['ndim'], CTYPES[s['code'], s['bits']])}")
    s.expect("values == own", "the library says {own}, the struct leads to {values}")


@check("producer.strides", _layouts)
def strides(s, name):
    make_view(s, name)
    export_any(s)
    read_versioned(s)
    s.expect(
        "strides is not None or (major, minor) < (1, 2)",
        "strides are NULL in a struct of version {major}.{minor}",
    )


@check("producer.scalar")
def scalar(s):
    make(s, 5)
    export_any(s)
    read(s)
    s.expect("ndim == 0", "ndim is {ndim}, the shape {shape}")
    s.run(f"values = {elements(s, 0)}")
    s.expect("values == [5.0]", "5 is exported as {values[0]}")


@check("producer.empty", ["(0,)", "(2, 0)"])
def empty(s, shape):
    make(s, [] if shape == "(0,)" else [[], []])
    export_any(s)
    read(s)
    s.expect(f"shape == {list(eval(shape))}", "the shape is {shape}")
    s.expect("not data", "data is {data:#x}")
