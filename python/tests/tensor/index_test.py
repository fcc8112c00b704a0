"""t[key] and t[key] = value, compared with NumPy over many keys, and their errors."""

import operator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peers import paddle

import dovetail as dt


def pair(*shape, dtype="int64"):
    """A NumPy array, and a tensor that shares its memory."""
    array = np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)
    return array, dt.from_dlpack(array)


def address(array):
    return array.__array_interface__["data"][0]


def keys(rank):
    part = st.one_of(
        st.integers(-5, 5),
        st.builds(
            slice, *[st.none() | st.integers(-7, 7)] * 2, st.sampled_from([None, 1, 2, -1, -3])
        ),
        st.just(...),
        st.none(),
    )
    return st.one_of(part, st.lists(part, max_size=rank + 2).map(tuple))


@given(st.sampled_from([(), (4,), (3, 4), (2, 3, 4), (1, 5, 1), (0, 3)]), st.data())
def test_a_basic_key_means_what_it_means_in_numpy(shape, data):
    array, tensor = pair(*shape)
    key = data.draw(keys(len(shape)))
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(IndexError):
            tensor[key]
        return
    view = tensor[key]
    assert view.shape == np.shape(expected)
    assert view.tolist() == expected.tolist()
    if isinstance(expected, np.ndarray) and expected.size:
        assert view.data_ptr() == address(expected)


@given(st.sampled_from([(4,), (3, 4), (2, 3, 4)]), st.data())
def test_writing_through_a_key_changes_what_it_changes_in_numpy(shape, data):
    array, _ = pair(*shape)
    tensor = dt.tensor(array)
    key = data.draw(keys(len(shape)))
    try:
        array[key] = -1
    except IndexError:
        with pytest.raises(IndexError):
            tensor[key] = -1
        return
    tensor[key] = -1
    assert tensor.tolist() == array.tolist()


@given(st.slices(6), st.slices(5))
def test_two_slices_write_where_numpy_writes(rows, columns):
    array, _ = pair(6, 5)
    tensor = dt.tensor(array)
    value = np.arange(array[rows, columns].size).reshape(array[rows, columns].shape) + 100
    array[rows, columns] = value
    tensor[rows, columns] = value
    assert tensor.tolist() == array.tolist()


def test_a_slice_with_negative_step_shares_memory():
    array, tensor = pair(5)
    tensor[::-2][0] = -1
    assert array.tolist() == [0, 1, 2, 3, -1]


def test_as_many_ints_as_dimensions_give_a_tensor_without_dimensions():
    _, tensor = pair(2, 3)
    assert tensor[1, 2].shape == ()
    assert tensor[1, 2].item() == 5


@pytest.mark.parametrize(
    "index", [np.int8(1), np.uint64(1), np.array(1), torch.tensor(1), dt.tensor(1)]
)
def test_anything_with_an_index_is_an_int(index):
    _, tensor = pair(3)
    assert tensor[index].item() == 1


@pytest.mark.parametrize(
    "key",
    [True, np.True_, (0, False), [0], [[0]], np.array([0, 1]), np.array([1]), torch.tensor([1]),
     1.0, "a", dt.tensor([1]), dt.tensor(True), (0, [1]), {}, object()],
    ids=repr,
)  # fmt: skip
def test_other_keys_are_refused_by_name(key):
    _, tensor = pair(3, 3)
    with pytest.raises(TypeError, match="only basic indexing is supported"):
        tensor[key]
    with pytest.raises(TypeError, match="only basic indexing is supported"):
        tensor[key] = 1


@pytest.mark.parametrize("key", [torch.tensor(True), paddle.to_tensor(False), dt.tensor(True)])
def test_a_tensor_of_a_bool_is_no_index(key):
    for tensor, index in [(dt.zeros((3, 4)), key), (dt.zeros((3, 4)), (0, key))]:
        with pytest.raises(TypeError, match="only basic indexing"):
            tensor[index]
        with pytest.raises(TypeError, match="only basic indexing"):
            tensor[index] = 1
        assert not any(map(any, tensor.tolist()))


@pytest.mark.parametrize("key", [3, -4, 10**30, (0, 0), np.int64(3), (..., 7)])
def test_an_index_out_of_range_is_an_index_error(key):
    _, tensor = pair(3)
    with pytest.raises(IndexError):
        tensor[key]
    with pytest.raises(IndexError):
        tensor[key] = 0


def test_a_step_of_zero_is_a_value_error():
    _, tensor = pair(3)
    with pytest.raises(ValueError, match=r"zero|0"):
        tensor[::0]


def test_two_ellipses_are_refused():
    _, tensor = pair(3, 3)
    with pytest.raises(IndexError, match="ellipsis"):
        tensor[..., ...]


def test_slices_of_huge_bounds_and_steps_are_clamped():
    array, tensor = pair(3)
    big = 2**70
    for key in [slice(-big, big), slice(big, -big, -1), slice(None, None, big), slice(0, 3, -big)]:
        assert tensor[key].tolist() == array[key].tolist()


def test_views_inherit_read_only_and_requires_grad():
    tensor = dt.frombuffer(bytes(8), dtype=dt.float32).requires_grad_()
    assert tensor[0].readonly and tensor[1:].requires_grad


def test_len_and_iteration_follow_the_first_dimension():
    _, tensor = pair(3, 2)
    assert len(tensor) == 3
    assert [row.tolist() for row in tensor] == [[0, 1], [2, 3], [4, 5]]
    assert [t.item() for t in reversed(tensor[0])] == [1, 0]
    with pytest.raises(TypeError, match="0-D"):
        len(tensor[0, 0])
    with pytest.raises(TypeError):
        iter(tensor[0, 0])


def test_a_read_only_tensor_is_not_written():
    tensor = dt.frombuffer(b"abcd", dtype=dt.uint8)
    for value in [1, [1, 2, 3, 4], np.ones(4, np.uint8)]:
        with pytest.raises(ValueError, match="read-only"):
            tensor[:] = value
    assert tensor.tolist() == list(b"abcd")


def test_elements_are_not_deleted():
    _, tensor = pair(3)
    with pytest.raises(TypeError, match="deleted"):
        del tensor[0]


@pytest.mark.parametrize(
    "value",
    [7, np.int64(7), np.array(7), [7], [[7]], (7,), torch.tensor(7), torch.tensor([[7]]), True, 7.0,
     np.float32(7), memoryview(np.array([7])), dt.tensor(7, dtype=dt.uint8)],
    ids=repr,
)  # fmt: skip
def test_numbers_lists_and_arrays_are_broadcast(value):
    array, tensor = pair(2, 3)
    tensor[1] = value
    assert array.tolist() == [[0, 1, 2], [1, 1, 1] if value is True else [7, 7, 7]]


def test_another_type_is_refused_with_both_names():
    _, tensor = pair(3)
    with pytest.raises(ValueError, match=r"float32.*int64.*dovetail.tensor"):
        tensor[:] = np.ones(3, np.float32)


def test_a_shape_that_does_not_broadcast_is_refused():
    _, tensor = pair(3)
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        tensor[:] = [1, 2]
    with pytest.raises(ValueError, match="ragged"):
        tensor[:] = [1, [2], 3]


@pytest.mark.parametrize(
    "value, error",
    [("a", TypeError), (None, TypeError), (1j, TypeError), (300, OverflowError),
     (-129, OverflowError), (10**30, OverflowError), (float("nan"), ValueError),
     (float("inf"), OverflowError), ({}, TypeError), (object(), TypeError)],
    ids=repr,
)  # fmt: skip
def test_a_value_that_does_not_fit_is_refused_and_nothing_is_written(value, error):
    array, tensor = pair(3, dtype="int8")
    with pytest.raises(error):
        tensor[0] = value
    assert array.tolist() == [0, 1, 2]


def test_overlapping_copies_are_as_if_the_source_was_copied_first():
    array, tensor = pair(6)
    expected = array.copy()
    expected[1:] = array[:-1].copy()
    tensor[1:] = tensor[:-1]
    assert array.tolist() == expected.tolist()
    tensor[:] = tensor[::-1]
    assert array.tolist() == expected[::-1].tolist()


def test_a_tensor_that_requires_grad_may_be_the_value():
    _, tensor = pair(2, dtype="float32")
    tensor[:] = dt.tensor([3.0, 4.0], requires_grad=True)
    assert tensor.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("dtype", ["int4", "uint2", "float4_e2m1fn", "float6_e3m2fn"])
def test_elements_that_share_bytes_are_written_one_by_one(dtype):
    tensor = dt.zeros(9, dtype=dtype)
    expected = [0] * 9
    for i in (8, 1, 3):
        tensor[i] = 1
        expected[i] = 1
        assert tensor.tolist() == expected
    tensor[1::3] = [2, 0, 2]
    expected[1::3] = [2, 0, 2]
    assert tensor.tolist() == expected
    tensor[5:8] = dt.tensor([1, 1, 1], dtype=dtype)
    assert tensor.tolist() == [*expected[:5], 1, 1, 1, *expected[8:]]


def test_a_view_that_starts_inside_a_byte_is_refused_with_the_remedy():
    tensor = dt.zeros(4, dtype=dt.int4)
    assert tensor[2:].tolist() == [0, 0]
    with pytest.raises(ValueError, match="inside a byte"):
        tensor[1]


def test_a_list_that_changes_while_it_is_read_does_no_harm():
    data = [0, 0, 0]

    class Shrinks:
        def __index__(self):
            data.clear()
            return 7

    data[0] = Shrinks()
    _, tensor = pair(3)
    tensor[:] = data
    assert tensor.tolist() == [7, 0, 0]
    assert operator.index(tensor[0]) == 7
