"""Where the struct says that the elements are: shape, strides, data and byte_offset."""

from ..cases import DTYPES, product, split
from ..checks import check
from ..doors import CAPSULES, TABLE, export_by, open_door, try_door
from ..exports import (
    elements,
    expect_elements,
    fill_strides,
    layouts_of,
    made,
    make,
    make_view,
    need,
)


def _cases(adapter, seed):
    own = [f"{name}, {door}" for name in adapter.arrays for door in CAPSULES]
    layouts = layouts_of(adapter)
    return [*product(seed, layouts, adapter.types, CAPSULES, ("", "copy=True")), *own]


@check("producer.elements", _cases)
def led_to(s, case):
    name, _, door = case.rpartition(", ")
    if name in s.adapter.arrays:
        _compare_own(s, name, door)
        return
    _, dtype, name, (door, *copy) = split(case)
    shape, places = make_view(s, name, dtype)
    export_by(s, door, *copy)
    expect_elements(s, shape, places, dtype)


def _cases_of_table(adapter, seed):
    own = [f"{name}, {door}" for name in adapter.arrays for door in TABLE]
    return [*product(seed, layouts_of(adapter), adapter.types, TABLE), *own]


@check("exchange.elements", _cases_of_table)
def led_to_by_table(s, case):
    name, _, door = case.rpartition(", ")
    if name in s.adapter.arrays:
        _compare_own(s, name, door)
        return
    _, dtype, name, (door,) = split(case)
    make(s)
    open_door(s, door)
    shape, places = make_view(s, name, dtype)
    if try_door(s, door) is None:
        expect_elements(s, shape, places, dtype)


def _compare_own(s, name, door):
    """An array of the adapter's own, as the library itself sees it."""
    made(s, s.adapter.arrays[name])
    s.run(f"own = {need(s.adapter.values, 'no values').format(y='x')}")
    export_by(s, door)
    fill_strides(s)
    types = {(dtype.code, dtype.bits): dtype for dtype in DTYPES.values()}
    s.run(f"values = {elements(s, s['shape'] or (), types[s['code'], s['bits']])}")
    s.expect("values == own", "the library says {own}, the struct leads to {values}")


@check("producer.strides", lambda adapter, seed: layouts_of(adapter))
def strides(s, name):
    make_view(s, name)
    export_by(s, "versioned")
    s.expect(
        "strides is not None or not ndim or (major, minor) < (1, 2)",
        "strides are NULL in a struct of version {major}.{minor}",
    )


@check("producer.scalar", CAPSULES)
def scalar(s, door):
    make(s, 5)
    export_by(s, door)
    s.expect("ndim == 0", "ndim is {ndim}, the shape {shape}")
    expect_elements(s, (), [5])


_EMPTY = {"(0,)": [], "(2, 0)": [[], []]}


@check("producer.empty", [f"{shape}; {door}" for shape in _EMPTY for door in CAPSULES])
def empty(s, case):
    shape, door = case.split("; ")
    make(s, _EMPTY[shape])
    export_by(s, door)
    s.expect(f"shape == {list(eval(shape))}", "the shape is {shape}")
    s.expect("not data", "data is {data:#x}")
