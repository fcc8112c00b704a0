"""The rows of docs/migrating/jax.md: lines that end in `# before`, `# after`."""

import jax
import jax.numpy as jnp
import numpy as np
import paddle
import pytest
import torch
from memory import array_at, frozen_array, shared

import dovetail as dt


def test_memory_at_a_multiple_of_64_is_shared_by_both():
    a = array_at(0)
    j = jax.dlpack.from_dlpack(a)  # before
    assert shared(j, a)
    j = dt.convert(a, jax.Array)  # after
    assert isinstance(j, jax.Array) and shared(j, a)


def test_read_only_memory_is_shared_instead_of_refused():
    frozen = array_at(0)
    frozen.flags.writeable = False
    with pytest.raises(BufferError, match="readonly"):
        jax.dlpack.from_dlpack(frozen)  # before
    j = dt.convert(frozen, jax.Array)  # after
    assert shared(j, frozen)
    assert dt.convert(frozen_array(), jax.Array).tolist() == [0, 0, 0]


def test_numbers_of_64_bits_are_refused_instead_of_cut():
    a = np.array([2**40 + 5])
    j = jax.dlpack.from_dlpack(a)  # before
    assert j.tolist() == [5]
    with pytest.raises(dt.ExchangeError, match="jax_enable_x64"):
        dt.convert(a, jax.Array)  # after
    with jax.enable_x64(True):
        assert dt.convert(a, jax.Array).tolist() == [2**40 + 5]


def test_a_copy_is_announced():
    a = array_at(16)
    j = jax.dlpack.from_dlpack(a)  # before
    assert not shared(j, a)
    report = dt.explain(a, jax.Array)  # after
    assert not report.aliases and "not aligned" in report.reason


def test_a_copy_is_avoided_by_memory_of_dovetail():
    a = array_at(16)
    with pytest.raises(ValueError, match="64 bytes"):
        jax.dlpack.from_dlpack(a, copy=False)  # before
    j = dt.convert(dt.empty(16), jax.Array, copy=False)  # after
    assert j.shape == (16,)


def test_a_capsule_is_refused_and_the_tensor_taken():
    x = torch.zeros(3)
    c = torch.utils.dlpack.to_dlpack(x)
    with pytest.raises(TypeError, match="__dlpack_device__"):
        jax.dlpack.from_dlpack(c)  # before
    j = dt.convert(x, jax.Array)  # after
    assert j.tolist() == [0, 0, 0]
    j = dt.convert(dt.utils.dlpack.from_dlpack(c), jax.Array)
    assert j.tolist() == [0, 0, 0]


def test_jax_makes_no_capsules_any_more():
    j = jnp.zeros(3)
    with pytest.raises(AttributeError, match="to_dlpack"):
        jax.dlpack.to_dlpack(j)  # before
    c = dt.to_dlpack(dt.from_dlpack(j).copy())  # after
    assert torch.utils.dlpack.from_dlpack(c).tolist() == [0, 0, 0]


def test_a_tensor_of_paddle_is_taken_instead_of_refused():
    p = paddle.zeros([3])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        jax.dlpack.from_dlpack(p)  # before
    j = dt.convert(p, jax.Array)  # after
    assert j.tolist() == [0, 0, 0]


def test_an_imaginary_part_does_not_change_its_sign():
    z = torch.tensor([1 + 2j]).conj()
    j = jax.dlpack.from_dlpack(z.imag)  # before
    assert j.tolist() == [2]
    with pytest.raises(dt.ExchangeError, match="resolve_neg"):
        dt.convert(z.imag, jax.Array)
    j = dt.convert(z.imag.resolve_neg(), jax.Array)  # after
    assert j.tolist() == [-2]


def test_an_array_of_jax_keeps_its_elements():
    j = jnp.zeros(3)
    torch.from_dlpack(j)[0] = 7  # before
    assert j[0] == 7
    j = jnp.zeros(3)
    dt.convert(j, torch.Tensor)[0] = 7  # after
    assert j[0] == 0


def test_an_array_of_jax_is_a_read_only_array_of_numpy():
    j = jnp.zeros(3)
    a = np.from_dlpack(j)  # before
    assert not a.flags.writeable
    a = dt.convert(j, np.ndarray)  # after
    assert not a.flags.writeable and shared(a, j)


def test_a_shared_array_of_numpy_can_still_be_written_behind_jax():
    a = array_at(0)
    j = dt.convert(a, jax.Array)
    a[0] = 7
    assert j[0] == 7
