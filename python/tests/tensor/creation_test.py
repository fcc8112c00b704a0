"""ones(), tensors like others, asarray()."""

import numpy as np
import pytest
import torch

import dovetail as dt


def test_ones():
    for tensor in (dt.ones(2, 3), dt.ones((2, 3)), dt.ones(shape=(2, 3)), dt.ones([2, 3])):
        assert tensor.dtype == "float32" and tensor.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert dt.ones(2, dtype="int4").tolist() == [1, 1]
    assert dt.ones((), dtype=bool).item() is True
    for call in (dt.ones, lambda: dt.ones(2, shape=2)):
        with pytest.raises(TypeError, match="give the shape once"):
            call()


@pytest.mark.parametrize(
    "like", [dt.zeros((2, 3), dtype="int16"), np.zeros((2, 3), np.int16),
             torch.zeros((2, 3), dtype=torch.int16)],
    ids=["dovetail", "numpy", "torch"],
)  # fmt: skip
def test_tensors_like_others(like):
    for made, value in [(dt.zeros_like(like), 0), (dt.ones_like(like), 1),
                        (dt.full_like(like, 7), 7)]:  # fmt: skip
        assert (made.shape, made.dtype) == ((2, 3), "int16") and made.tolist() == [[value] * 3] * 2
    assert dt.empty_like(like).shape == (2, 3)
    other = dt.empty_like(like, dtype="bfloat16", device="cpu")
    assert (other.dtype, str(other.device)) == ("bfloat16", "cpu")


def test_asarray_shares_what_it_can():
    array = np.arange(4, dtype=np.float32)
    tensor = torch.arange(4.0)
    assert dt.asarray(array).data_ptr() == array.ctypes.data
    assert dt.asarray(tensor, copy=False).data_ptr() == tensor.data_ptr()
    assert dt.asarray(tensor, copy=True).data_ptr() != tensor.data_ptr()
    own = dt.arange(3)
    assert dt.asarray(own) is own and dt.asarray(own, copy=True) is not own
    assert dt.asarray(array, dtype="int8").dtype == "int8"
    assert dt.asarray([[1, 2], [3, 4]]).shape == (2, 2) and dt.asarray(2.5).item() == 2.5


def test_asarray_takes_the_numbers_of_a_range():
    for numbers in (range(3), range(5, 1, -2), range(0)):
        tensor = dt.asarray(numbers)
        assert (tensor.tolist(), tensor.dtype) == (list(numbers), dt.tensor(list(numbers)).dtype)
    with pytest.raises(dt.ExchangeError, match="a range has no memory"):
        dt.asarray(range(3), copy=False)


def test_asarray_without_a_copy_refuses_what_takes_one():
    for x in ([1, 2], 3.0):
        with pytest.raises(ValueError, match="no memory that could be shared"):
            dt.asarray(x, copy=False)
    with pytest.raises(dt.ExchangeError, match="takes a copy"):
        dt.asarray(np.zeros(2), dtype="float32", copy=False)
