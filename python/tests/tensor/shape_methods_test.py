"""Methods that change a tensor's shape, against NumPy's and PyTorch's of the same names."""

import array
import itertools

import numpy as np
import pytest
import torch

import dovetail as dt


def pair(*shape, order="C"):
    theirs = np.arange(np.prod(shape), dtype=np.float32).reshape(shape, order=order)
    return dt.from_dlpack(theirs), theirs


def same_view(ours, theirs, source):
    """The same elements at the same places of the same memory."""
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape and np.array_equal(ours.numpy(), theirs)
    if theirs.size:
        assert ours.data_ptr() == theirs.ctypes.data
        strides = zip(ours.strides, theirs.strides, ours.shape, strict=True)
        assert all(size == 1 or 4 * own == other for own, other, size in strides)
        assert np.shares_memory(theirs, source)


@pytest.mark.parametrize("axis", [None, 0, 2, -1, (0, 2), (), (-4, 3)])
def test_squeeze(axis):
    ours, array = pair(1, 3, 1, 1)
    same_view(ours.squeeze(axis), array.squeeze(axis), array)
    same_view(ours.squeeze(dim=axis), array.squeeze(axis), array)
    same_view(ours.squeeze(axis=axis), array.squeeze(axis), array)


def test_squeeze_refuses_what_it_can_not_take_away():
    ours, _ = pair(1, 3)
    with pytest.raises(ValueError, match=r"dimension 1 of shape \(1, 3\) can't be squeezed"):
        ours.squeeze(1)
    with pytest.raises(ValueError, match="named twice"):
        ours.squeeze((0, -2))
    for wrong in (2, -3):
        with pytest.raises(IndexError):
            ours.squeeze(wrong)
    with pytest.raises(TypeError):
        ours.squeeze("0")


def test_squeeze_takes_its_dimension_once():
    for keywords in ({"axis": 1}, {"axis": 0}):
        with pytest.raises(TypeError, match="dim or axis"):
            dt.zeros((1, 1)).squeeze(0, **keywords)
    assert dt.zeros((1, 1)).squeeze(None, axis=1).shape == (1,)


# Sequences of integers that are no tuples.
SEQUENCES = {
    "numpy": lambda *ints: np.array(ints),
    "numpy.uint8": lambda *ints: np.array(ints, np.uint8),
    "torch": lambda *ints: torch.tensor(ints),
    "torch.Size": lambda *ints: torch.Size(ints),
    "dovetail": lambda *ints: dt.tensor(ints),
    "array": lambda *ints: array.array("q", ints),
    "memoryview": lambda *ints: memoryview(array.array("q", ints)),
    "range": lambda *ints: range(ints[0], ints[0] + len(ints)),
}


@pytest.mark.parametrize("make", SEQUENCES.values(), ids=SEQUENCES)
def test_a_shape_is_any_sequence_of_integers(make):
    assert dt.zeros(make(2, 3)).shape == dt.ones(make(2, 3)).shape == (2, 3)
    assert dt.empty(shape=make(2, 3)).shape == dt.empty(size=make(2, 3)).shape == (2, 3)
    assert dt.full(make(2, 3), 1).shape == (2, 3)
    x = dt.arange(6)
    assert x.reshape(make(2, 3)).data_ptr() == x.view(make(2, 3)).data_ptr() == x.data_ptr()
    assert x.reshape(make(2, 3)).shape == x.view(make(2, 3)).shape == (2, 3)
    assert dt.zeros(3).expand(make(2, 3)).shape == dt.zeros(3).broadcast_to(make(2, 3)).shape


@pytest.mark.parametrize("make", SEQUENCES.values(), ids=SEQUENCES)
def test_dimensions_are_any_sequence_of_integers(make):
    x = dt.zeros((1, 2, 3))
    assert x.permute(make(0, 1, 2)).shape == x.transpose(make(0, 1, 2)).shape == (1, 2, 3)
    assert dt.zeros((2, 1, 1)).squeeze(make(1, 2)).shape == (2,)
    assert x.moveaxis(make(0, 1), make(1, 2)).shape == (3, 1, 2)


@pytest.mark.parametrize(
    "shape",
    [np.array([2.5]), np.array([[2, 3]]), np.array(2.5), torch.tensor([2.5, 1.0]), 2.5, "ab", None,
     [2, None], np.array([True, False])],
    ids=repr,
)  # fmt: skip
def test_what_is_no_shape_is_a_type_error(shape):
    with pytest.raises(TypeError):
        dt.zeros(shape)


@pytest.mark.parametrize("dim", [-3, -2, -1, 0, 1, 2])
def test_unsqueeze(dim):
    ours, array = pair(2, 3)
    same_view(ours.unsqueeze(dim), torch.from_numpy(array).unsqueeze(dim), array)
    for wrong in (-4, 3):
        with pytest.raises(IndexError):
            ours.unsqueeze(dim=wrong)


@pytest.mark.parametrize(("start", "end"), [(0, -1), (0, 1), (1, 2), (1, 1), (-2, -1), (0, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_flatten(start, end, order):
    ours, array = pair(2, 3, 4, order=order)
    flat, theirs = ours.flatten(start, end), torch.from_numpy(array).flatten(start, end)
    assert flat.shape == tuple(theirs.shape) and flat.tolist() == theirs.tolist()
    assert (flat.data_ptr() == ours.data_ptr()) == (theirs.data_ptr() == array.ctypes.data)


def test_flatten_and_ravel_of_any_number_of_dimensions():
    assert dt.tensor(3.0).flatten().shape == dt.tensor(3.0).ravel().shape == (1,)
    assert dt.zeros((2, 0, 3)).ravel().shape == (0,)
    ours, array = pair(2, 3, 4)
    same_view(ours.ravel(), array.ravel(), array)
    assert ours.T.ravel().tolist() == array.T.ravel().tolist()
    with pytest.raises(ValueError, match="start_dim before end_dim"):
        ours.flatten(2, 1)
    with pytest.raises(IndexError):
        ours.flatten(3)


@pytest.mark.parametrize(("a", "b"), itertools.product([-3, -1, 0, 2], repeat=2))
def test_swapaxes(a, b):
    ours, array = pair(2, 3, 4)
    same_view(ours.swapaxes(a, b), array.swapaxes(a, b), array)


@pytest.mark.parametrize(
    ("source", "destination"),
    [(0, -1), (-1, 0), (1, 1), ((0, 1), (1, 2)), ((0, 2), (2, 0)), ((), ()), ([2], [-3])],
)
def test_moveaxis(source, destination):
    ours, array = pair(2, 3, 4)
    same_view(ours.moveaxis(source, destination), np.moveaxis(array, source, destination), array)


def test_moveaxis_refuses_what_numpy_refuses():
    ours, _ = pair(2, 3)
    for arguments in [((0, 1), 0), ((0, 0), (0, 1)), ((0, 1), (1, -1))]:
        with pytest.raises(ValueError):
            ours.moveaxis(*arguments)
    with pytest.raises(IndexError):
        ours.moveaxis(0, 2)


def test_mt_exchanges_the_last_two_dimensions():
    ours, array = pair(2, 3, 4)
    same_view(ours.mT, array.mT, array)
    with pytest.raises(ValueError, match="last two dimensions"):
        _ = ours[0, 0].mT


@pytest.mark.parametrize("sizes", [(2, 3, 4), (5, 2, 3, 4), (-1, 3, -1), (5, -1, -1, -1)])
def test_expand_and_broadcast_to(sizes):
    array = np.arange(8, dtype=np.float32).reshape(2, 1, 4)
    ours, theirs = dt.from_dlpack(array).expand(*sizes), torch.from_numpy(array).expand(*sizes)
    same_view(ours, theirs, array)
    assert ours.readonly and dt.from_dlpack(array).expand(sizes).shape == ours.shape
    same_view(dt.from_dlpack(array).broadcast_to(ours.shape), theirs, array)


def test_expand_refuses_sizes_that_do_not_fit():
    ours, _ = pair(2, 3)
    for wrong in [(3, 3), (3,), (-1, 2, 3), (2, -2)]:
        with pytest.raises(ValueError):
            ours.expand(*wrong)


def test_a_view_of_another_shape_is_never_a_copy():
    ours, array = pair(2, 3, 4)
    for shape in [(6, 4), (-1,), (2, -1, 2)]:
        same_view(ours.view(*shape), array.reshape(shape), array)
        same_view(ours.view(shape), array.reshape(shape), array)
    with pytest.raises(ValueError, match="strides do not allow it"):
        ours.T.view(-1)
    with pytest.raises(ValueError):
        ours.view(5)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "int64", "complex64", "float32x2"])
def test_a_view_as_another_type_has_the_same_bytes(dtype):
    ours, array = pair(2, 3, 4)
    view = ours.view(dtype)
    assert view.dtype == dtype and view.data_ptr() == ours.data_ptr()
    assert view.tobytes() == array.tobytes()
    if dtype != "float32x2":
        assert np.array_equal(view.numpy(), array.view(dtype), equal_nan=True)


def test_a_view_as_another_type_of_strided_rows():
    ours, array = pair(4, 6)
    rows, theirs = ours[::-2].view("int16"), array[::-2].view(np.int16)
    assert rows.tolist() == theirs.tolist() and rows.strides == (-24, 1)
    assert ours[:, ::2].view(dt.int32).strides == (6, 2)
    for wrong, reason in [
        (ours[:, ::2], "last dimension without gaps"),
        (ours.T, "last dimension without gaps"),
        (ours[0, 0], r"without dimensions .* reshape\(1\)"),
    ]:
        with pytest.raises(ValueError, match=reason):
            wrong.view("int16")
    with pytest.raises(ValueError, match="no whole number of elements"):
        ours[:, :3].view("int64")
    with pytest.raises(ValueError, match="no whole number of elements"):
        pair(4, 3)[0].view("int64")


def test_packed_elements_are_viewed_as_bytes_and_back():
    packed = dt.tensor([1, 2, 3, 4], dtype="uint4")
    as_bytes = packed.view("uint8")
    assert as_bytes.tolist() == [0x21, 0x43] and as_bytes.view("uint4").tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="no whole number"):
        packed[:3].view("uint8")


def test_views_keep_access_and_the_mark_for_autograd():
    fixed = dt.frombuffer(bytes(16), dtype="float32")
    marked = dt.zeros((2, 2)).requires_grad_()
    for view in [lambda t: t.unsqueeze(0), lambda t: t.ravel(), lambda t: t.view(4, 1)]:
        assert view(fixed).readonly and not view(fixed).requires_grad
        assert view(marked).requires_grad and not view(marked).readonly
    assert fixed.view("int32").readonly and not fixed.view("int32").requires_grad
    for dtype in ["int32", "float16", "float32"]:
        assert marked.view(dtype).requires_grad
        with pytest.raises(BufferError, match=r"requires? grad"):
            torch.from_dlpack(marked.view(dtype))
        with pytest.raises(BufferError, match=r"requires? grad"):
            memoryview(marked.view(dtype))
