"""mlx.core.array both ways, on the CPU: its own from_dlpack() copies."""

import gc
import sys

import mlx.core as mx
import numpy as np
import pytest

import dovetail as dt

TYPES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "complex64"),
)


def test_an_array_comes_in_by_sharing_its_memory():
    x = mx.exp(mx.zeros((2, 3)))  # not yet computed
    t = dt.from_dlpack(x)
    assert (t.shape, t.dtype, t.data_ptr()) == ((2, 3), dt.float32, np.asarray(x).ctypes.data)
    del x
    gc.collect()
    assert t.tolist() == [[1] * 3] * 2


def test_a_transposed_array_comes_in_with_its_strides():
    t = dt.from_dlpack(mx.arange(6).reshape(2, 3).T)
    assert t.strides == (1, 3) and t.tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize(
    "name",
    TYPES,
)
def test_each_type_goes_both_ways(name):
    x = dt.convert(dt.tensor([1, 0, 1], dtype=name), mx.array)
    assert isinstance(x, mx.array)
    t = dt.from_dlpack(x)
    assert (t.dtype, t.tolist()) == (dt.tensor([1], dtype=name).dtype, [1, 0, 1])


def test_mlx_makes_a_copy_that_is_reported_and_can_be_forbidden():
    a = np.arange(4, dtype=np.float32)
    x = dt.convert(a, mx.array)
    assert dt.from_dlpack(x).data_ptr() != a.ctypes.data
    a[0] = 9
    assert x.tolist() == [0, 1, 2, 3]
    report = dt.explain(a, mx.array)
    assert report.aliases is False and "made a copy" in report.reason
    with pytest.raises(dt.ExchangeError, match="its library copied it"):
        dt.convert(a, mx.array, copy=False)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(6, dtype=np.float32).reshape(2, 3).T,
        lambda: np.arange(6, dtype=np.float32)[::-1],
        lambda: np.zeros((0, 3), np.float32),
        lambda: np.ones((), np.float32),
    ],
    ids=["transposed", "negative", "empty", "0-D"],
)
def test_layouts_keep_their_values(make):
    a = make()
    x = dt.convert(a, mx.array)
    assert tuple(x.shape) == a.shape and x.tolist() == a.tolist()


def test_read_only_memory_is_copied():
    a = np.arange(4, dtype=np.float32)
    a.flags.writeable = False
    assert dt.convert(a, mx.array).tolist() == [0, 1, 2, 3]
    assert "read-only" in dt.explain(a, mx.array).reason


def test_the_source_is_let_go():
    a = np.arange(4, dtype=np.float32)
    before = sys.getrefcount(a)
    x = dt.convert(a, mx.array)
    mx.eval(x)
    gc.collect()
    assert sys.getrefcount(a) == before
