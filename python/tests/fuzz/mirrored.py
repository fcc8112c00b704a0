"""Tensors, each with a mirror: a NumPy array that no exchange has touched and that must be equal.

    pool = Pool()
    a = np.arange(6.0)
    x = pool.add_source(a, a, write=setitem)       # NumPy's array, and its mirror
    t = pool.add(dt.from_dlpack(a), x.mirror)      # shares the memory, so the mirror is the same
    pool.add(t.tensor[::2], t.mirror[::2])         # a view is a view in the mirror
    pool.check()                                   # every tensor has its mirror's elements
    pool.release()                                 # everything is dropped, and all memory is free

Mirrors share memory with each other exactly as the tensors should. A write through one tensor is
repeated on its mirror; after it, check() fails if another tensor wrongly sees it or misses it.
"""

import gc
import weakref
from collections.abc import Callable

import numpy as np

import dovetail as dt


class Held:
    """A tensor or another library's object, and its mirror. `value` is None once it is dropped."""

    def __init__(self, value, mirror, *, readonly=False, read=None, write=None):
        self.value, self.mirror, self.readonly = value, mirror, readonly
        self.read: Callable = read or np.asarray
        self.write: Callable | None = write

    @property
    def alive(self):
        return self.value is not None

    def drop(self):
        self.value = self.mirror = self.read = self.write = None

    def __repr__(self):
        if not self.alive:
            return "dropped"
        kind = type(self.value).__name__
        return f"{kind}({self.mirror.dtype.name}, {self.mirror.shape}{', ro' * self.readonly})"


def in_use():
    return dt.allocator_stats("cpu")["allocated_bytes"]


def mirror_of(tensor, values):
    """A mirror of a tensor with memory of its own: as much as its strides reach."""
    steps = [(n - 1) * stride for n, stride in zip(tensor.shape, tensor.strides, strict=True)]
    if tensor.size == 0:
        steps = [0]
    first = -sum(min(step, 0) for step in steps)
    memory = np.zeros(first + sum(max(step, 0) for step in steps) + 1, values.dtype)
    mirror = np.lib.stride_tricks.as_strided(
        memory[first:],
        tensor.shape,
        [stride * values.itemsize if tensor.size else 0 for stride in tensor.strides],
    )
    mirror[...] = values
    return mirror


class Pool:
    def __init__(self):
        gc.collect()
        self.held: list[Held] = []
        self._owners: list[tuple[str, weakref.ref]] = []
        self._at_release: list[Callable[[], bool]] = []
        self._in_use_before = in_use()

    def add(self, tensor, mirror, *, readonly=False):
        """A tensor of Dovetail. Checks all that can be seen of it."""
        assert tensor.shape == mirror.shape
        assert np.dtype(tensor.dtype) == mirror.dtype
        assert tensor.readonly == readonly
        if tensor.size:
            strides = zip(tensor.strides, mirror.strides, tensor.shape, strict=True)
            for stride, expected, size in strides:
                assert size == 1 or stride * tensor.itemsize == expected
        self.held.append(Held(tensor, mirror, readonly=readonly))
        return self.held[-1]

    def add_source(self, value, owner, mirror, *, readonly=False, read=None, write=None):
        """Another library's object that owns its memory through `owner`, which must be released."""
        if owner is not None:
            self._owners.append((repr(type(owner)), weakref.ref(owner)))
        return self.add_foreign(value, mirror, readonly=readonly, read=read, write=write)

    def add_foreign(self, value, mirror, *, readonly=False, read=None, write=None):
        held = Held(value, mirror, readonly=readonly, read=read, write=write)
        self.held.append(held)
        return held

    def expect_at_release(self, condition: Callable[[], bool]):
        self._at_release.append(condition)

    def drop(self, held):
        held.drop()
        self.held.remove(held)

    def check(self):
        for held in self.held:
            seen = held.read(held.value)
            assert np.array_equal(seen, held.mirror), (held, seen, held.mirror)

    def release(self):
        while self.held:
            self.held.pop().drop()
        gc.collect()
        for kind, owner in self._owners:
            assert owner() is None, f"an owner of {kind} is still alive"
        for condition in self._at_release:
            assert condition()
        assert in_use() == self._in_use_before
