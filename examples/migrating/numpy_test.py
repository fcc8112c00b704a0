"""The rows of docs/migrating/numpy_from_dlpack.md: lines that end in `# before`, `# after`."""

import ml_dtypes
import numpy as np
import pytest
import torch
import tvm_ffi
from memory import frozen_array, shared

import dovetail as dt


def test_a_tensor_is_shared_by_both():
    x = torch.zeros(3)
    a = np.from_dlpack(x)  # before
    assert shared(a, x)
    a = dt.convert(x, np.ndarray)  # after
    assert type(a) is np.ndarray and shared(a, x)


def test_read_only_memory_stays_read_only_in_both():
    frozen = frozen_array()
    a = np.from_dlpack(frozen)  # before
    assert not a.flags.writeable
    a = dt.convert(dt.from_dlpack(frozen), np.ndarray)  # after
    assert not a.flags.writeable and shared(a, frozen)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_a_narrow_type_is_shared_instead_of_refused(name):
    x = torch.ones(2, dtype=getattr(torch, name))
    with pytest.raises(RuntimeError, match="Unsupported dtype"):
        np.from_dlpack(x)  # before
    a = dt.convert(x, np.ndarray)  # after
    assert a.dtype == getattr(ml_dtypes, name) and shared(a, x)


def test_an_imaginary_part_does_not_change_its_sign():
    z = torch.tensor([1 + 2j]).conj()
    a = np.from_dlpack(z.imag)  # before
    assert a.tolist() == [2] and z.imag.tolist() == [-2]
    with pytest.raises(dt.ExchangeError, match="resolve_neg"):
        dt.convert(z.imag, np.ndarray)
    a = dt.convert(z.imag.resolve_neg(), np.ndarray)  # after
    assert a.tolist() == [-2]


def test_a_copy_is_made_where_the_producer_makes_none():
    f = tvm_ffi.from_dlpack(torch.zeros(3))
    with pytest.raises(BufferError, match="copy not yet supported"):
        np.from_dlpack(f, copy=True)  # before
    a = dt.convert(f, np.ndarray, copy=True)  # after
    assert a.tolist() == [0, 0, 0] and not shared(a, f)


def test_a_capsule_is_taken_instead_of_refused():
    c = torch.utils.dlpack.to_dlpack(torch.zeros(3))
    with pytest.raises(AttributeError, match="__dlpack__"):
        np.from_dlpack(c)  # before
    a = dt.utils.dlpack.from_dlpack(c).numpy()  # after
    assert a.tolist() == [0, 0, 0]


def test_a_tensor_that_requires_gradients_is_refused_by_both():
    w = torch.ones(3, requires_grad=True)
    for refuse in (np.from_dlpack, dt.from_dlpack):
        with pytest.raises(BufferError, match="detach"):
            refuse(w)
    a = np.from_dlpack(w.detach())  # before
    assert shared(a, w.detach())
    a = dt.convert(w.detach(), np.ndarray)  # after
    assert shared(a, w.detach())


def test_asarray_shares_bfloat16_too():
    x = torch.ones(2, dtype=torch.bfloat16)
    with pytest.raises(TypeError, match="BFloat16"):
        np.asarray(x)
    assert shared(dt.asarray(x), x)
    x = torch.zeros(3)
    a = np.asarray(x)  # before
    t = dt.asarray(x)  # after
    assert shared(a, x) and shared(t, x)


def test_a_copy_of_floats_is_float32():
    a = np.array([1.5, 2.5])  # before
    t = dt.tensor([1.5, 2.5])  # after
    assert (a.dtype, t.dtype) == (np.float64, dt.float32)


def test_a_buffer_is_shared_by_both():
    b = bytearray(8)
    a = np.frombuffer(b, np.int32)  # before
    t = dt.frombuffer(b, dtype=dt.int32)  # after
    b[0] = 1
    assert a.tolist() == t.tolist() == [1, 0]
    assert dt.frombuffer(b"\0\0\0\0", dtype=dt.int32).readonly


def test_strides_count_elements_instead_of_bytes():
    a = np.zeros((2, 3), np.float32)
    t = dt.from_dlpack(a)
    s = a.strides  # before
    assert s == (12, 4)
    s = t.strides  # after
    assert s == (3, 1)


def test_a_cast_is_a_new_tensor_unless_nothing_changes():
    a = np.zeros(3, np.float32)
    t = dt.from_dlpack(a)
    b = a.astype(np.float16)  # before
    u = t.to(dt.float16)  # after
    assert (b.dtype, u.dtype) == (np.float16, dt.float16)
    assert t.to(dt.float32) is t and a.astype(np.float32) is not a


def test_copyto_has_the_same_rules_of_casting():
    a, b = np.zeros(3), np.ones(3, np.float32)
    t, u = dt.zeros(3, dtype=dt.float64), dt.ones(3)
    np.copyto(a, b)  # before
    dt.copyto(t, u)  # after
    assert a.tolist() == t.tolist() == [1, 1, 1]
    with pytest.raises(TypeError):
        np.copyto(np.zeros(3, int), b)
    with pytest.raises(TypeError, match="same_kind"):
        dt.copyto(dt.zeros(3, dtype=dt.int64), u)


def test_arithmetic_is_that_of_the_shared_array():
    a = np.ones(3)
    t = dt.from_dlpack(a)
    b = a + a  # before
    with pytest.raises(TypeError, match="no arithmetic"):
        t + t
    c = t.numpy() + t.numpy()  # after
    assert b.tolist() == c.tolist() == [2, 2, 2]


def test_indexing_by_a_list_is_that_of_the_shared_array():
    a = np.arange(3)
    t = dt.from_dlpack(a)
    b = a[[0, 2]]  # before
    with pytest.raises(TypeError, match="basic indexing"):
        t[[0, 2]]
    c = t.numpy()[[0, 2]]  # after
    assert b.tolist() == c.tolist() == [0, 2]
