"""Arrow's fixed-size lists and fixed shape tensors as tensors of several dimensions (rule 64)."""

import itertools

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from arrow_structs import TYPES

import dovetail as dt


def leaf_address(array):
    """The address of the first number of an array of lists, whatever its offsets."""
    first = array.offset
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    while pa.types.is_fixed_size_list(array.type):
        first *= array.type.list_size
        array = array.values  # whole, without the lists' offset
        first += array.offset
    return array.buffers()[1].address + first * array.type.bit_width // 8


class Requested:
    """A tensor that is asked for a type. (PyArrow 26 asks for the storage of an extension type.)"""

    def __init__(self, tensor, type_):
        self._tensor, self._type = tensor, type_

    def __arrow_c_array__(self, requested_schema=None):
        return self._tensor.__arrow_c_array__(self._type.__arrow_c_schema__())


# Rule 64.
@pytest.mark.parametrize("name", TYPES)
def test_lists_of_lists_share_their_memory(name):
    array = pa.array([[[1, 2, 3], [4, 5, 6]]] * 4, pa.list_(pa.list_(TYPES[name], 3), 2))
    t = dt.from_arrow(array)
    assert (t.dtype, t.shape) == (getattr(dt, name), (4, 2, 3))
    assert t.data_ptr() == leaf_address(array)
    assert t.tolist() == array.to_pylist()
    assert t.readonly


# Rule 64.
def test_a_slice_of_lists_starts_at_its_offset():
    array = pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.int32(), 2))[1:][1:3]
    t = dt.from_arrow(array)
    assert t.tolist() == array.to_pylist() == [[5, 6], [7, 8]]
    assert t.data_ptr() == leaf_address(array)


# Rule 64.
def test_a_tensor_is_an_array_of_lists():
    t = dt.arange(24, dtype=dt.float32).reshape(4, 2, 3)
    array = pa.array(t)
    assert array.type == pa.list_(pa.list_(pa.float32(), 3), 2)
    assert leaf_address(array) == t.data_ptr()
    assert array.to_pylist() == t.tolist()
    array.validate(full=True)
    back = dt.from_arrow(array)
    assert (back.data_ptr(), back.shape) == (t.data_ptr(), t.shape)


# Rule 64.
def test_a_tensor_is_an_array_of_fixed_shape_tensors_where_that_is_asked_for():
    t = dt.arange(24, dtype=dt.float32).reshape(4, 2, 3)
    wish = pa.fixed_shape_tensor(pa.float32(), (2, 3))
    from_storage = pa.ExtensionArray.from_storage(wish, pa.array(t, type=wish.storage_type))
    for array in (from_storage, pa.array(Requested(t, wish))):
        assert array.type == wish
        assert leaf_address(array) == t.data_ptr()
        assert np.array_equal(array.to_numpy_ndarray(), np.asarray(t))
        array.validate(full=True)
        back = dt.from_arrow(array)
        assert (back.data_ptr(), back.shape, back.tolist()) == (t.data_ptr(), t.shape, t.tolist())


# Rule 64. (PyArrow 26 does not read permutations of three dimensions and more as the specification
# says, so those that are their own inverse are compared with it.)
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0)], ids=str)
def test_a_permutation_is_kept_as_pyarrow_reads_it(order):
    type_ = pa.fixed_shape_tensor(pa.int16(), (2, 3, 4), permutation=order)
    numbers = pa.array(range(48), pa.int16())
    array = pa.ExtensionArray.from_storage(type_, pa.FixedSizeListArray.from_arrays(numbers, 24))
    t = dt.from_arrow(array)
    assert t.data_ptr() == leaf_address(array)
    assert np.array_equal(np.asarray(t), array.to_numpy_ndarray())
    again = pa.array(Requested(t, type_))
    assert again.type == type_
    assert leaf_address(again) == t.data_ptr()
    assert np.array_equal(again.to_numpy_ndarray(), np.asarray(t))


# Rule 64.
@pytest.mark.parametrize("order", itertools.permutations(range(3)), ids=str)
def test_a_permutation_is_kept_as_the_specification_says(order):
    type_ = pa.fixed_shape_tensor(pa.int16(), (2, 3, 4), permutation=order)
    numbers = np.arange(24, dtype=np.int16)
    storage = pa.FixedSizeListArray.from_arrays(pa.array(numbers), 24)
    t = dt.from_arrow(pa.ExtensionArray.from_storage(type_, storage))
    assert np.array_equal(np.asarray(t)[0], numbers.reshape(2, 3, 4).transpose(order))


# Rule 64.
def test_names_of_dimensions_are_refused_and_the_remedy_works():
    type_ = pa.fixed_shape_tensor(pa.int32(), (2, 3), dim_names=("H", "W"))
    storage = pa.array([[1, 2, 3, 4, 5, 6]], pa.list_(pa.int32(), 6))
    a = pa.ExtensionArray.from_storage(type_, storage)
    with pytest.raises(dt.ExchangeError, match="names") as refusal:
        dt.from_arrow(a)
    remedy = str(refusal.value).split("pyarrow's ")[1].rstrip(".")
    unnamed = eval(remedy, {"pa": pa, "a": a})
    assert dt.from_arrow(unnamed).tolist() == [[[1, 2, 3], [4, 5, 6]]]


def test_tensors_made_by_numpy_are_taken_as_numpy_has_them():
    x = np.arange(60, dtype=np.float64).reshape(5, 3, 4)
    t = dt.from_arrow(pa.FixedShapeTensorArray.from_numpy_ndarray(x))
    assert t.data_ptr() == x.ctypes.data
    assert np.array_equal(np.asarray(t), x)


def test_null_lists_are_refused():
    array = pa.array([[1, 2], None], pa.list_(pa.int32(), 2))
    with pytest.raises(dt.ExchangeError, match="1 of its 2 elements are null"):
        dt.from_arrow(array)
    assert dt.from_arrow(array[:1]).tolist() == [[1, 2]]


def test_a_null_inside_a_list_is_refused():
    array = pa.array([[1, 2], [3, None]], pa.list_(pa.int32(), 2))
    with pytest.raises(dt.ExchangeError, match="1 of its 4 elements are null"):
        dt.from_arrow(array)
    assert dt.from_arrow(array[:1]).tolist() == [[1, 2]]


def test_lists_of_any_size_are_refused_and_the_remedy_works():
    a = pa.array([[1, 2], [3, 4]])
    with pytest.raises(dt.ExchangeError, match=r"a\.cast\(pa\.list_\(a\.type\.value_type, n\)\)"):
        dt.from_arrow(a)
    assert dt.from_arrow(a.cast(pa.list_(a.type.value_type, 2))).tolist() == [[1, 2], [3, 4]]


def test_lists_of_nothing_are_tensors_without_elements():
    assert dt.from_arrow(pa.array([], pa.list_(pa.int8(), 3))).shape == (0, 3)
    assert dt.from_arrow(pa.array([[], []], pa.list_(pa.int8(), 0))).shape == (2, 0)
    assert pa.array(dt.zeros(0, 3)).type.list_size == 3
    assert len(pa.array(dt.zeros(2, 0))) == 2


def test_polars_shares_the_memory_of_an_array_column():
    series = pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int32, 2))
    t = dt.from_arrow(series)
    assert t.tolist() == [[1, 2], [3, 4]]
    assert t.data_ptr() == dt.from_arrow(series).data_ptr()
    back = pl.Series(pa.array(t))
    assert back.dtype == pl.Array(pl.Int32, 2)
    assert back.to_list() == [[1, 2], [3, 4]]
