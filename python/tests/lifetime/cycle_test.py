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
