"""A tensor's methods: views, copies and their layouts, compared with NumPy and PyTorch."""

import copy

import ml_dtypes
import numpy as np
import pytest
import torch
from peers import STANDARD, array

import dovetail as dt


def same(t, expected):
    """Assert that the tensor has the shape, strides and values of an array or torch tensor."""
    assert t.shape == tuple(expected.shape)
    if isinstance(expected, np.ndarray):
        strides = tuple(s // expected.itemsize for s in expected.strides)
    else:
        strides = expected.stride()
    if t.size:
        assert t.strides == strides
    assert t.tolist() == expected.tolist()


def pair(*shape):
    """A tensor and a torch tensor with values 0, 1, 2, …, each in memory of its own."""
    x = torch.arange(int(np.prod(shape))).reshape(shape)
    return dt.from_dlpack(x.clone()), x


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, -1, 0), (-1, -2, -3)], ids=str)
def test_permute_is_a_view_in_another_order(order):
    t, x = pair(2, 3, 4)
    same(t.permute(*order), x.permute(*order))
    same(t.permute(order), x.permute(*order))
    same(t.transpose(order), x.numpy().transpose(order))
    assert t.permute(*order).data_ptr() == t.data_ptr()


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 1), (0, 1, 3), (0, 1, 2, 3), (-4, 1, 2)], ids=str)
def test_an_order_that_is_none_of_the_dimensions_is_refused(order):
    with pytest.raises((ValueError, IndexError)):
        pair(2, 3, 4)[0].permute(*order)


def test_transpose_exchanges_two_dimensions_or_reverses_all():
    t, x = pair(2, 3, 4)
    same(t.transpose(0, 2), x.transpose(0, 2))
    same(t.transpose(-1, 0), x.transpose(-1, 0))
    same(t.transpose(), x.numpy().transpose())
    same(t.T, x.numpy().T)
    same(dt.tensor(5).T, np.array(5).T)
    assert t.T.data_ptr() == t.data_ptr()
    with pytest.raises((ValueError, IndexError)):
        t.transpose(0, 3)


@pytest.mark.parametrize(
    "shape", [(24,), (4, 6), (-1,), (2, -1), (3, 2, -1), (1, 24, 1), (2, 2, 2, 3)], ids=str
)
def test_reshape_of_what_is_contiguous_is_a_view(shape):
    t, x = pair(2, 3, 4)
    same(t.reshape(*shape), x.reshape(*shape))
    same(t.reshape(shape), x.reshape(shape))
    assert t.reshape(shape).data_ptr() == t.data_ptr()


def test_reshape_is_a_view_where_strides_can_say_it_and_a_copy_elsewhere():
    t, x = pair(4, 6)
    for view, other in ((t[:, ::2], x[:, ::2]), (t[1:3], x[1:3]), (t.T, x.T), (t[::2], x[::2])):
        for shape in ((-1,), (2, -1), (2, 1, -1)):
            ours, theirs = view.reshape(shape), other.reshape(shape)
            assert ours.tolist() == theirs.tolist()
            shared = theirs.data_ptr() == other.data_ptr()
            assert (ours.data_ptr() == view.data_ptr()) is shared


def test_reshape_without_elements_and_dimensions():
    assert dt.zeros(0, 3).reshape(3, 0).shape == (3, 0)
    assert dt.zeros(0).reshape(2, 0, 5).shape == (2, 0, 5)
    assert dt.tensor(7).reshape(1, 1).tolist() == [[7]]
    assert dt.tensor([7]).reshape(()).item() == 7


@pytest.mark.parametrize("shape", [(5,), (-1, -1), (-1, 5), (-2, 12), (0,), (25, 1)], ids=str)
def test_a_shape_of_another_size_is_a_value_error(shape):
    with pytest.raises(ValueError):
        pair(4, 6)[0].reshape(shape)
    with pytest.raises(ValueError):
        dt.zeros(0, 3).reshape(-1, 0)


def test_contiguous_is_the_tensor_itself_or_a_copy():
    t, x = pair(3, 4)
    assert t.contiguous() is t
    assert t.is_contiguous()
    for view, other in ((t.T, x.T), (t[:, 1:], x[:, 1:]), (t[::2], x[::2])):
        assert view.is_contiguous() is other.is_contiguous() is False
        same(view.contiguous(), other.contiguous())
        assert view.contiguous().data_ptr() != view.data_ptr()


def test_contiguous_asks_only_for_the_dimensions_that_have_elements_to_step_over():
    assert dt.zeros(3, 0, 2).T.is_contiguous()
    assert dt.zeros(1, 5)[:, ::1].T.is_contiguous()
    assert not dt.zeros(4)[::2].is_contiguous()
    assert dt.tensor(1).is_contiguous()


@pytest.mark.parametrize("name", [*STANDARD, "bfloat16", "float8_e4m3fn"])
def test_a_copy_has_memory_of_its_own_and_no_gaps(name):
    t = dt.tensor([[1, 2, 4], [4, 2, 1]], dtype=name)
    for view in (t, t.T, t[:, ::-1], t[:, 1:]):
        own = view.copy()
        assert own.tolist() == view.tolist()
        assert (own.dtype, own.shape) == (view.dtype, view.shape)
        assert own.is_contiguous()
        assert own.data_ptr() != view.data_ptr()
        own[0, 0] = 0
        assert view[0, 0].tolist() != own[0, 0].tolist()


def test_the_copy_of_what_is_read_only_may_be_written():
    t = dt.frombuffer(b"\1\2\3", dtype=dt.uint8)
    own = t.copy()
    own[0] = 9
    assert (t.readonly, own.readonly) == (True, False)
    assert (t.tolist(), own.tolist()) == ([1, 2, 3], [9, 2, 3])
    assert copy.deepcopy(t).readonly is False


def test_requires_grad_is_a_mark_that_views_keep_and_detach_drops():
    t = dt.zeros(2, 3)
    assert t.requires_grad is False
    assert t.requires_grad_() is t
    assert t.requires_grad is True
    assert [v.requires_grad for v in (t[0], t.T, t.reshape(6), t.copy())] == [True] * 4
    plain = t.detach()
    assert (plain.requires_grad, t.requires_grad) == (False, True)
    plain[0, 0] = 5
    assert t[0, 0].item() == 5
    assert t.requires_grad_(False).requires_grad is False
    t.requires_grad = True
    assert t.requires_grad


@pytest.mark.parametrize("name", ["int32", "uint8", "bool"])
def test_only_real_and_complex_numbers_have_gradients(name):
    with pytest.raises(ValueError, match="gradient"):
        dt.zeros(2, dtype=name).requires_grad_()
    assert dt.zeros(2, dtype=name).requires_grad_(False).requires_grad is False


@pytest.mark.parametrize("name", ["float16", "float64", "bfloat16", "complex64"])
def test_such_numbers_may_have_gradients(name):
    assert dt.zeros(2, dtype=name).requires_grad_().requires_grad


def test_requires_grad_takes_true_and_false_only():
    t = dt.zeros(2)
    with pytest.raises(TypeError):
        t.requires_grad_(1)
    with pytest.raises(TypeError):
        t.requires_grad = None
    with pytest.raises((AttributeError, TypeError)):
        del t.requires_grad


def test_data_ptr_is_the_address_of_element_0():
    t, _ = pair(4, 6)
    own = torch.from_dlpack(t)
    for key in ((0, 0), (1,), (slice(1, None), slice(2, None, 3)), (3, 5)):
        assert t[key].data_ptr() == own[key].data_ptr()
    assert t[::-1].data_ptr() == t[3].data_ptr()
    assert dt.empty(16).data_ptr() % 256 == 0


@pytest.mark.parametrize("name", STANDARD)
def test_numpy_gives_an_array_over_the_same_memory(name):
    t = dt.from_dlpack(array(name, [[1, 2, 4], [4, 2, 1]]))
    for view in (t, t.T, t[:, ::-2], t[1], t[1, 1], t[2:]):
        x = view.numpy()
        assert type(x) is np.ndarray
        assert x.dtype == np.dtype(getattr(np, name))
        assert x.shape == view.shape
        if view.size:
            assert x.strides == tuple(s * t.itemsize for s in view.strides)
            assert x.__array_interface__["data"] == (view.data_ptr(), False)
        assert x.tolist() == view.tolist()
    t.numpy()[0, 0] = 0
    assert t[0, 0].item() == 0


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e8m0fnu", "float8_e3m4"])
def test_types_that_numpy_lacks_are_those_of_ml_dtypes(name):
    t = dt.tensor([1, 2, 4], dtype=name)
    for x in (t.numpy(), np.asarray(t), np.array(t, copy=False)):
        assert x.dtype == np.dtype(getattr(ml_dtypes, name))
        assert x.ctypes.data == t.data_ptr()
        assert x.tolist() == [1, 2, 4]
    assert np.asarray(t, dtype=np.float64).tolist() == [1, 2, 4]
    assert np.array(t, copy=True).ctypes.data != t.data_ptr()


def test_the_array_of_a_read_only_tensor_is_read_only():
    t = dt.frombuffer(b"\1\2\3\4", dtype=dt.uint16)
    for x in (t.numpy(), np.asarray(t), np.asarray(memoryview(t))):
        assert not x.flags.writeable
    bits = dt.frombuffer(b"\1\2\3\4", dtype=dt.bfloat16)
    assert not bits.numpy().flags.writeable


def test_packed_elements_have_no_array():
    with pytest.raises(TypeError, match="float4_e2m1fn"):
        dt.zeros(4, dtype="float4_e2m1fn").numpy()


@pytest.mark.parametrize("take", [np.asarray, np.array, lambda t: t.numpy(), memoryview])
def test_what_requires_gradients_is_no_array_before_it_is_detached(take):
    t = dt.zeros(3).requires_grad_()
    with pytest.raises(BufferError, match="detach"):
        take(t)
    assert take(t.detach()).shape == (3,)


def test_attributes_say_what_the_tensor_is():
    t = dt.zeros(2, 3, 4, dtype=dt.int16)
    facts = (t.shape, t.strides, t.ndim, t.size, t.itemsize, t.nbytes)
    assert facts == ((2, 3, 4), (12, 4, 1), 3, 24, 2, 48)
    assert (t.dtype, t.device, t.readonly) == (dt.int16, dt.Device("cpu"), False)
    assert t[:, ::2].nbytes == 2 * 2 * 4 * 2
    assert dt.zeros(3, dtype="float4_e2m1fn").nbytes == 2
    for name in ("shape", "dtype", "device", "readonly", "T", "nothing_of_the_kind"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(t, name, 1)
