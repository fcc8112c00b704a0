"""onnxruntime.OrtValue both ways: lifetime, access, types, and values that a session uses."""

import gc
import sys

import numpy as np
import onnxruntime
import pytest
import torch
from onnx_models import DOUBLE_MODEL
from onnxruntime import OrtValue

import dovetail as dt


@pytest.fixture
def session():
    return onnxruntime.InferenceSession(DOUBLE_MODEL, providers=["CPUExecutionProvider"])


def test_the_tensor_keeps_the_numpy_array_of_the_value_alive():
    a = np.arange(4, dtype=np.float32)
    before = sys.getrefcount(a)
    value = OrtValue.ortvalue_from_numpy(a)
    assert value.data_ptr() == a.ctypes.data
    t = dt.from_dlpack(value)
    del value
    gc.collect()
    assert sys.getrefcount(a) > before and t.data_ptr() == a.ctypes.data
    del t
    gc.collect()
    assert sys.getrefcount(a) == before


def test_a_value_over_a_read_only_array_comes_in_read_only():
    a = np.arange(4, dtype=np.float32)
    a.flags.writeable = False
    value = OrtValue.ortvalue_from_numpy(a)  # ONNX Runtime would write to it
    assert dt.from_dlpack(value).readonly
    with pytest.raises(dt.ExchangeError, match="read-only"):
        dt.convert(value, torch.Tensor, copy=False)


def test_a_value_that_copied_its_array_is_writable():
    a = np.arange(8, dtype=np.float32)[::2]
    a.flags.writeable = False
    value = OrtValue.ortvalue_from_numpy(a)  # not contiguous: copied
    t = dt.from_dlpack(value)
    assert not t.readonly and t.tolist() == [0, 2, 4, 6]


def test_a_value_keeps_the_tensor_alive_and_lets_it_go():
    a = np.arange(4, dtype=np.float32)
    before = sys.getrefcount(a)
    value = dt.convert(a, OrtValue)
    gc.collect()
    assert sys.getrefcount(a) == before + 1 and value.data_ptr() == a.ctypes.data
    del value
    assert sys.getrefcount(a) == before


def test_writes_are_seen_on_both_sides():
    t = dt.zeros(3)
    value = dt.convert(t, OrtValue)
    value.update_inplace(np.float32([1, 2, 3]))
    assert t.tolist() == [1, 2, 3]
    t[0] = 7
    assert value.numpy().tolist() == [7, 2, 3]


@pytest.mark.parametrize(
    ("dtype", "onnx_type"),
    [
        ("bool", "tensor(bool)"),
        ("uint8", "tensor(uint8)"),
        ("bfloat16", "tensor(bfloat16)"),
        ("float8_e4m3fn", "tensor(float8e4m3fn)"),
        ("int4", "tensor(int4)"),
        ("uint4", "tensor(uint4)"),
    ],
)
def test_types_keep_their_meaning_both_ways(dtype, onnx_type):
    t = dt.tensor([1, 0, 1], dtype=dtype)
    value = dt.convert(t, OrtValue, copy=False)
    assert value.data_type() == onnx_type
    back = dt.from_dlpack(value)
    assert (back.dtype, back.tolist()) == (t.dtype, t.tolist())
    assert back.data_ptr() == t.data_ptr()


def test_a_type_that_onnx_runtime_lacks_is_named():
    with pytest.raises(dt.ExchangeError, match=r"RuntimeError: .*Unsupported DLPack data type"):
        dt.convert(dt.zeros(2, dtype="complex64"), OrtValue)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 3)])
def test_shapes_come_and_go(shape):
    value = dt.convert(dt.zeros(shape), OrtValue)
    assert tuple(value.shape()) == shape
    assert dt.from_dlpack(value).shape == shape


def test_strided_memory_is_copied_and_refused_without_a_copy():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = dt.convert(a.T, OrtValue)
    assert value.data_ptr() != a.ctypes.data and value.numpy().tolist() == a.T.tolist()
    with pytest.raises(dt.ExchangeError, match="not contiguous"):
        dt.convert(a.T, OrtValue, copy=False)


def test_a_value_that_is_no_tensor_is_refused():
    device = onnxruntime.OrtDevice.make("cpu", 0)
    sparse = onnxruntime.SparseTensor.sparse_coo_from_numpy(
        np.array([3, 3]), np.float32([1, 2]), np.array([0, 1]), device
    )
    value = OrtValue.ort_value_from_sparse_tensor(sparse)
    with pytest.raises(dt.ExchangeError, match="Only tensor type OrtValues"):
        dt.from_dlpack(value)


def test_a_copy_is_made_on_request():
    value = OrtValue.ortvalue_from_numpy(np.float32([1, 2]))
    t = dt.from_dlpack(value, copy=True)
    assert t.tolist() == [1, 2] and t.data_ptr() != value.data_ptr()
    assert dt.explain(value).aliases and dt.explain(value).door == "OrtValue"


def test_a_session_reads_and_writes_tensors_in_place(session):
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    y = dt.zeros((2, 3))
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", dt.convert(x, OrtValue, copy=False))
    binding.bind_ortvalue_output("y", dt.convert(y, OrtValue, copy=False))
    session.run_with_iobinding(binding)
    assert y.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_a_result_of_a_session_outlives_it(session):
    x = OrtValue.ortvalue_from_numpy(np.ones((2, 2), np.float32))
    (y,) = session.run_with_ort_values(["y"], {"x": x})
    t = dt.from_dlpack(y)
    assert t.data_ptr() == y.data_ptr()
    del y, x
    gc.collect()
    assert t.tolist() == [[2, 2], [2, 2]]
