"""The rows of docs/migrating/torch_from_numpy.md: lines that end in `# before`, `# after`."""

import warnings

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
from memory import frozen_array, shared

import dovetail as dt


def test_a_writable_array_is_shared_by_both():
    a = np.zeros((2, 3), np.float32)
    x = torch.from_numpy(a)  # before
    assert shared(x, a)
    x = dt.convert(a, torch.Tensor)  # after
    assert type(x) is torch.Tensor and shared(x, a) and x.shape == (2, 3)


def test_a_tensor_is_shared_with_numpy_by_both():
    x = torch.zeros(3)
    a = x.numpy()  # before
    assert shared(a, x)
    a = dt.convert(x, np.ndarray)  # after
    assert type(a) is np.ndarray and shared(a, x)


def test_a_read_only_array_is_copied_instead_of_written():
    frozen = frozen_array()
    with warnings.catch_warnings():  # PyTorch warns once in a process
        warnings.simplefilter("ignore")
        x = torch.from_numpy(frozen)  # before
    x[0] = 7
    assert frozen[0] == 7
    x = dt.convert(frozen, torch.Tensor)  # after
    x[0] = 8
    assert frozen[0] == 7


def test_an_array_of_jax_keeps_its_elements():
    j = jnp.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.from_numpy(np.asarray(j))[0] = 7  # before
    assert j[0] == 7
    j = jnp.zeros(3)
    dt.convert(j, torch.Tensor)[0] = 7  # after
    assert j[0] == 0


def test_a_reversed_array_is_copied_instead_of_refused():
    a = np.arange(3.0)
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(a[::-1])  # before
    x = dt.convert(a[::-1], torch.Tensor)  # after
    assert x.tolist() == [2, 1, 0]


def test_an_array_of_bfloat16_is_shared_instead_of_refused():
    a = np.ones(2, ml_dtypes.bfloat16)
    with pytest.raises(TypeError, match="bfloat16"):
        torch.from_numpy(a)  # before
    x = dt.convert(a, torch.Tensor)  # after
    assert x.dtype == torch.bfloat16 and shared(x, a)


def test_a_tensor_of_bfloat16_is_shared_instead_of_refused():
    x = torch.ones(2, dtype=torch.bfloat16)
    with pytest.raises(TypeError, match="BFloat16"):
        x.numpy()  # before
    a = dt.convert(x, np.ndarray)  # after
    assert a.dtype == ml_dtypes.bfloat16 and shared(a, x)


def test_a_batch_is_converted_by_one_call():
    batch = {"x": np.zeros(3), "y": np.ones(3)}
    batch = {k: torch.from_numpy(v) for k, v in batch.items()}  # before
    assert type(batch["y"]) is torch.Tensor
    batch = {"x": np.zeros(3), "y": [np.ones(3), "a name"]}
    batch = dt.convert_tree(batch, torch.Tensor)  # after
    assert type(batch["x"]) is type(batch["y"][0]) is torch.Tensor
    assert batch["y"][1] == "a name"


def test_an_array_in_the_other_byte_order_is_refused_by_both():
    a = np.ones(3, ">f4")
    with pytest.raises(ValueError, match="byte order"):
        torch.from_numpy(a)
    with pytest.raises(dt.ExchangeError, match="byte order"):
        dt.convert(a, torch.Tensor)
    x = torch.from_numpy(a.astype("=f4"))  # before
    y = dt.convert(a.astype("=f4"), torch.Tensor)  # after
    assert x.tolist() == y.tolist() == [1, 1, 1]


def test_a_list_has_no_memory_to_share():
    with pytest.raises(TypeError, match="no tensor"):
        dt.convert([1.0, 2.0], torch.Tensor)
    assert torch.tensor([1.0, 2.0]).tolist() == [1, 2]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_a_read_only_memory_map_is_shared_by_pytorch_alone(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    for mode, shares in (("r", False), ("c", True)):
        a = np.load(tmp_path / "a.npy", mmap_mode=mode)
        assert shared(torch.from_numpy(a), a)
        assert shared(dt.convert(a, torch.Tensor), a) == shares
