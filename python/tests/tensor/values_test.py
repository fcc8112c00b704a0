"""tolist(), item() and conversions to numbers: bool, int, float, complex, range."""

import math

import numpy as np
import pytest
import torch

import dovetail as dt

NUMPY_TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
               "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_tolist_gives_the_lists_that_numpy_gives(name):
    array = (np.arange(24) * 7 - 30).astype(name).reshape(2, 3, 4)
    for x in [array, array[:, ::-1], array.T, array[0, 0, 0], array[:0], array[..., :0]]:
        ours = dt.tensor(x).tolist() if x.ndim == 0 else dt.from_dlpack(x).tolist()
        assert ours == x.tolist()
        assert repr(ours) == repr(x.tolist())  # also compares the numbers' types


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_the_ends_of_64_bits_are_exact(name):
    info = np.iinfo(name)
    values = [int(info.min), int(info.max)]
    assert dt.tensor(values, dtype=name).tolist() == values


def test_item_is_the_only_element_of_any_shape():
    assert dt.tensor(5).item() == 5
    assert dt.tensor([[[2.5]]]).item() == 2.5
    assert dt.tensor([True]).item() is True
    assert dt.tensor([1 + 2j]).item() == 1 + 2j


@pytest.mark.parametrize("convert", [dt.Tensor.item, bool, int, float, complex], ids=str)
@pytest.mark.parametrize("shape", [(0,), (2,), (2, 0)])
def test_more_than_one_element_or_none_is_a_value_error(convert, shape):
    with pytest.raises(ValueError):
        convert(dt.zeros(shape))


def test_truth_is_that_of_the_element():
    assert dt.tensor([[1]]) and dt.tensor(0.5) and dt.tensor(1j) and dt.tensor(math.nan)
    assert not dt.tensor(0) and not dt.tensor(-0.0) and not dt.tensor([False])


def test_int_cuts_off_the_fraction_and_refuses_what_python_refuses():
    assert int(dt.tensor(-1.75)) == -1
    assert int(dt.tensor(True)) == 1
    with pytest.raises(ValueError, match="NaN"):
        int(dt.tensor(math.nan))
    with pytest.raises(OverflowError):
        int(dt.tensor(math.inf))


@pytest.mark.parametrize("convert", [int, float])
def test_a_complex_number_is_neither_int_nor_float(convert):
    with pytest.raises(TypeError, match="complex"):
        convert(dt.tensor(1j))


def test_float_and_complex_take_every_kind():
    for value in [True, 3, 2.5]:
        assert float(dt.tensor(value)) == value
        assert complex(dt.tensor(value)) == value
    assert complex(dt.tensor(1 + 2j)) == 1 + 2j
    assert float(dt.tensor([2**64 - 1], dtype=dt.uint64)) == 2.0**64


def test_only_integers_without_dimensions_are_an_index():
    assert list(range(dt.tensor(3))) == [0, 1, 2]
    assert [10, 20][dt.tensor(1, dtype=dt.uint8)] == 20
    for other in [dt.tensor(1.0), dt.tensor(True), dt.tensor([1]), dt.tensor([1, 2])]:
        with pytest.raises(TypeError):
            range(other)


def test_vectors_have_no_single_numbers():
    tensor = dt.zeros(2, dtype="float32x4")
    for read in [dt.Tensor.tolist, lambda t: t[0].item(), lambda t: float(t[0])]:
        with pytest.raises(TypeError, match="4 lanes"):
            read(tensor)


def test_formats_apply_to_one_element():
    assert f"{dt.tensor(1.5):.3f}" == "1.500"
    assert f"{dt.tensor([[7]]):>4d}" == "   7"
    assert f"{dt.tensor(1.5)}" == "1.5" == format(torch.tensor(1.5))
    assert f"{dt.tensor([1.5])}" == "tensor([1.5000])"
    with pytest.raises(TypeError, match="2"):
        format(dt.tensor([1.5, 2]), ".2f")
