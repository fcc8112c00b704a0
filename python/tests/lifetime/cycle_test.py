"""Reference cycles of a tensor and the object that owns its memory are collected."""

import array
import ctypes
import gc
import weakref

import numpy as np
import pytest

import dovetail as dt


class Bytes(bytearray):
    pass


class Array(array.array):
    pass


class Interface:
    def __init__(self):
        self.memory = np.arange(8, dtype=np.uint8)
        self.__array_interface__ = self.memory.__array_interface__


def holding(owner, tensor):
    owner.tensor = tensor
    return owner


CYCLES = {
    "bytearray": lambda: (lambda b: holding(b, dt.frombuffer(b, dtype=dt.uint8)))(Bytes(range(8))),
    "array": lambda: (lambda b: holding(b, dt.frombuffer(b, dtype=dt.uint8)))(Array("B", range(8))),
    "ctypes": lambda: (lambda b: holding(b, dt.frombuffer(b, dtype=dt.uint8)))(
        type("Memory", (ctypes.c_uint8 * 8,), {})(*range(8))
    ),
    "view of a bytearray": lambda: (
        lambda b: holding(b, dt.frombuffer(b, dtype=dt.uint8)[0:].reshape(2, 4))
    )(Bytes(range(8))),
    "__array_interface__": lambda: (lambda b: holding(b, dt.from_array_interface(b)))(Interface()),
}


@pytest.mark.parametrize("cycle", CYCLES)
def test_a_cycle_through_memory_is_collected(cycle):
    x = CYCLES[cycle]()
    alive = weakref.ref(x)
    gc.collect()
    assert alive() is x
    assert x.tensor.reshape(-1).tolist() == list(range(8))
    tensor_alive = weakref.ref(x.tensor)
    del x
    gc.collect()
    assert alive() is None
    assert tensor_alive() is None


@pytest.mark.parametrize("cycle", CYCLES)
def test_a_tensor_outside_of_the_cycle_keeps_its_memory(cycle):
    x = CYCLES[cycle]()
    alive = weakref.ref(x)
    tensor = x.tensor
    view = x.tensor[:]
    del x
    gc.collect()
    assert tensor.reshape(-1).tolist() == list(range(8))
    del tensor
    gc.collect()
    assert view.reshape(-1).tolist() == list(range(8))
    del view
    gc.collect()
    assert alive() is None


def in_a_cycle_with(make_views, cycle="bytearray"):
    """Return a weak reference to an owner that holds views of its memory, and the views."""
    owner = CYCLES[cycle]()
    views = make_views(owner.tensor.reshape(-1))
    owner.views = views
    return weakref.ref(owner), views


VIEWS = [
    lambda t: [t[1:]],
    lambda t: [t[i:] for i in range(5)],
    lambda t: [t, t[:].reshape(2, 4).T],
]


@pytest.mark.parametrize("make_views", VIEWS)
@pytest.mark.parametrize("cycle", CYCLES)
def test_a_cycle_through_several_views_is_collected(cycle, make_views):
    alive, views = in_a_cycle_with(make_views, cycle)
    views_alive = [weakref.ref(view) for view in views]
    gc.collect()
    assert alive() is not None and alive().views is views
    del views
    gc.collect()
    assert alive() is None and {view() for view in views_alive} == {None}


@pytest.mark.parametrize("which", [0, 1, 4])
def test_one_of_several_views_outside_of_the_cycle_keeps_it(which):
    alive, views = in_a_cycle_with(VIEWS[1])
    view = views[which]
    del views
    gc.collect()
    assert alive() is not None and len(alive().views) == 5
    assert view.tolist() == list(range(which, 8))
    del view
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("take", [np.from_dlpack, memoryview, np.asarray, dt.to_dlpack])
def test_an_export_of_one_of_several_views_keeps_the_cycle(take):
    alive, views = in_a_cycle_with(VIEWS[1])
    export = take(views[1])
    del views
    gc.collect()
    assert alive() is not None and alive().views[0].tolist() == list(range(8))
    del export
    gc.collect()
    assert alive() is None


def test_what_the_collector_lists_holds_no_memory():
    alive, views = in_a_cycle_with(VIEWS[1])
    listed = gc.get_referents(*views)
    assert len({id(x) for x in listed}) == 1
    owners = gc.get_referents(listed[0])
    assert owners == [alive()]
    del views, owners
    gc.collect()
    assert alive() is not None  # `listed` refers to it
    alive().views.clear()
    del alive().tensor
    gc.collect()
    assert gc.get_referents(*listed) == [] and alive() is None
    assert gc.get_objects()


def test_views_that_come_and_go_between_collections_leave_the_count_right():
    alive, views = in_a_cycle_with(VIEWS[1])
    for _ in range(1000):
        more = [view[:1] for view in views]
        del more[::2]
    del more
    gc.collect()
    assert alive() is not None
    del views, _
    gc.collect()
    assert alive() is None


def test_a_cycle_with_an_array_of_numpy_over_the_tensor_outside_is_kept():
    b = Bytes(range(8))
    b.tensor = dt.frombuffer(b, dtype=dt.uint8)
    alive = weakref.ref(b)
    x = np.from_dlpack(b.tensor)
    del b
    gc.collect()
    assert x.tolist() == list(range(8))
    del x
    gc.collect()
    assert alive() is None


def test_tensors_are_tracked_only_if_their_owner_can_be_in_a_cycle():
    assert gc.is_tracked(dt.frombuffer(Bytes(8), dtype=dt.uint8))
    assert gc.is_tracked(dt.frombuffer(Bytes(8), dtype=dt.uint8)[2:])
    assert not gc.is_tracked(dt.frombuffer(bytearray(8), dtype=dt.uint8))
    assert not gc.is_tracked(dt.frombuffer(memoryview(Bytes(8)), dtype=dt.uint8))
    assert not gc.is_tracked(dt.from_dlpack(np.arange(3)))
    assert not gc.is_tracked(dt.arange(3))


def test_tensors_that_are_tracked_and_others_use_the_same_objects():
    owners = [Bytes(8), bytearray(8)]
    for i in range(100_000):
        kept = [dt.frombuffer(owners[(i + k) % 2], dtype=dt.uint8) for k in range(3)]
        assert gc.is_tracked(kept[0]) == (i % 2 == 0)
    gc.collect()
