"""The rows of docs/migrating/paddle.md: lines that end in `# before`, `# after`."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import paddle
import pytest
import torch
from memory import frozen_array, shared

import dovetail as dt


def test_a_tensor_is_taken_without_a_capsule():
    x = torch.zeros(3)
    c = torch.utils.dlpack.to_dlpack(x)  # before
    p = paddle.utils.dlpack.from_dlpack(c)  # before
    assert shared(p, x)
    p = dt.convert(x, paddle.Tensor)  # after
    assert type(p) is paddle.Tensor and shared(p, x)


def test_a_tensor_is_given_without_a_capsule():
    p = paddle.zeros([3])
    c = paddle.utils.dlpack.to_dlpack(p)  # before
    x = torch.utils.dlpack.from_dlpack(c)  # before
    assert shared(x, p)
    x = dt.convert(p, torch.Tensor)  # after
    assert type(x) is torch.Tensor and shared(x, p)


def test_a_reversed_array_is_copied_instead_of_taking_all_memory():
    a = np.arange(4.0)
    p = paddle.utils.dlpack.from_dlpack(a[::-1])  # before
    with pytest.raises(MemoryError, match="alloc memory"):
        p.numpy()
    p = dt.convert(a[::-1], paddle.Tensor)  # after
    assert p.tolist() == [3, 2, 1, 0]


def test_read_only_memory_is_copied_instead_of_written():
    frozen = frozen_array()
    paddle.utils.dlpack.from_dlpack(frozen).fill_(7)  # before
    assert frozen[0] == 7
    dt.convert(frozen, paddle.Tensor).fill_(8)  # after
    assert frozen[0] == 7


def test_an_array_of_jax_keeps_its_elements():
    j = jnp.zeros(3)
    paddle.utils.dlpack.from_dlpack(j).fill_(7)  # before
    assert j[0] == 7
    j = jnp.zeros(3)
    dt.convert(j, paddle.Tensor).fill_(7)  # after
    assert j[0] == 0


def test_a_tensor_that_requires_gradients_is_refused_instead_of_losing_them():
    w = paddle.ones([3])
    w.stop_gradient = False
    c = paddle.utils.dlpack.to_dlpack(w)  # before
    assert paddle.utils.dlpack.from_dlpack(c).stop_gradient
    with pytest.raises(dt.ExchangeError, match="detach"):
        dt.from_dlpack(w)
    x = dt.from_dlpack(w.detach())  # after
    assert shared(x, w.detach())


def test_an_array_is_shared_instead_of_copied():
    a = np.zeros(3, np.float32)
    p = paddle.to_tensor(a)  # before
    assert not shared(p, a)
    p = dt.convert(a, paddle.Tensor)  # after
    assert shared(p, a)


def test_a_tensor_is_shared_with_numpy_instead_of_copied():
    p = paddle.zeros([3])
    a = p.numpy()  # before
    assert not shared(a, p)
    a = dt.convert(p, np.ndarray)  # after
    assert shared(a, p)


def test_bfloat16_is_shared_instead_of_refused():
    p = paddle.ones([2], "bfloat16")
    with pytest.raises(RuntimeError, match="Unsupported dtype"):
        np.from_dlpack(p)  # before
    a = dt.convert(p, np.ndarray)  # after
    assert a.dtype == ml_dtypes.bfloat16 and shared(a, p)


def test_jax_takes_a_tensor_instead_of_refusing_it():
    p = paddle.zeros([3])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        jax.dlpack.from_dlpack(p)  # before
    j = dt.convert(p, jax.Array)  # after
    assert j.tolist() == [0, 0, 0]
