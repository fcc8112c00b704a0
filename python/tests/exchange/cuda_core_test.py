"""cuda.core's StridedMemoryView, both ways, on the CPU."""

import numpy as np
import pytest
from cuda.core.utils import StridedMemoryView
from process import run_python

import dovetail as dt


def test_a_view_comes_in_shared():
    array = np.arange(6.0).reshape(2, 3)[:, ::-2]
    view = StridedMemoryView.from_dlpack(array, -1)
    for tensor in (dt.from_dlpack(view), dt.asarray(view), dt.convert(view, dt.Tensor)):
        assert tensor.data_ptr() == array.ctypes.data
        assert tensor.strides == (3, -2) and not tensor.readonly


def test_a_tensor_goes_out_as_a_view_shared():
    t = dt.arange(6, dtype="int32").reshape(2, 3).T
    view = dt.convert(t, StridedMemoryView)
    assert type(view) is StridedMemoryView
    assert (view.ptr, view.shape, view.strides) == (t.data_ptr(), t.shape, t.strides)
    assert view.dtype == np.int32 and not view.readonly and view.device_id == -1
    pointer = t.data_ptr()
    del t
    assert dt.from_dlpack(view).data_ptr() == pointer  # the view keeps the memory
    assert dt.from_dlpack(view).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_read_only_memory_stays_read_only_both_ways():
    t = dt.from_dlpack(frozen())
    view = dt.convert(t, StridedMemoryView, copy=False)
    assert view.readonly and view.ptr == t.data_ptr()
    assert dt.from_dlpack(view).readonly


def frozen():
    array = np.arange(3)
    array.flags.writeable = False
    return array


def test_a_view_of_a_type_that_it_does_not_name_does_not_come_back():
    view = dt.convert(dt.zeros(2, dtype="float8_e5m2"), StridedMemoryView)
    with pytest.raises(dt.ExchangeError, match="Unsupported dtype"):
        dt.from_dlpack(view)


def test_the_doctor_finds_it_without_importing_it():
    text = run_python("""
import sys
from dovetail.doctor import peers
assert peers._is_installed("cuda.core.utils") and not peers._is_installed("cuda.core_missing")
print("cuda.core" in sys.modules, peers.probe(["cuda.core.utils"])["cuda.core.utils"].values)
""")
    assert text.startswith("False {'version': '") and "C exchange API" in text
