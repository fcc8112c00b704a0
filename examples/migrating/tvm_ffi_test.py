"""The rows of docs/migrating/tvm_ffi.md: lines that end in `# before`, `# after`."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import tvm_ffi
from memory import frozen_array, shared

import dovetail as dt


def test_a_tensor_is_shared_by_both():
    x = torch.zeros(3)
    f = tvm_ffi.from_dlpack(x)  # before
    assert shared(f, x)
    f = dt.convert(x, tvm_ffi.Tensor)  # after
    assert type(f) is tvm_ffi.Tensor and shared(f, x)


def test_read_only_memory_is_copied_instead_of_refused():
    frozen = frozen_array()
    with pytest.raises(BufferError, match="readonly"):
        tvm_ffi.from_dlpack(frozen)  # before
    f = dt.convert(frozen, tvm_ffi.Tensor)  # after
    assert not shared(f, frozen)


def test_an_array_of_jax_keeps_its_elements():
    j = jnp.zeros(3)
    f = tvm_ffi.from_dlpack(j)  # before
    np.from_dlpack(f)[0] = 7
    assert j[0] == 7
    j = jnp.zeros(3)
    f = dt.convert(j, tvm_ffi.Tensor)  # after
    np.from_dlpack(f)[0] = 7
    assert j[0] == 0


def test_a_conjugate_is_refused_instead_of_losing_its_sign():
    z = torch.tensor([1 + 2j]).conj()
    f = tvm_ffi.from_dlpack(z)  # before
    assert np.from_dlpack(f)[0] == 1 + 2j and z[0] == 1 - 2j
    with pytest.raises(dt.ExchangeError, match="conjugate"):
        dt.convert(z, tvm_ffi.Tensor)
    f = dt.convert(z.resolve_conj(), tvm_ffi.Tensor)  # after
    assert np.from_dlpack(f)[0] == 1 - 2j


def test_a_tensor_that_requires_gradients_is_refused_instead_of_losing_them():
    w = torch.ones(3, requires_grad=True)
    f = tvm_ffi.from_dlpack(w)  # before
    assert shared(f, w.detach())
    with pytest.raises(dt.ExchangeError, match="detach"):
        dt.convert(w, tvm_ffi.Tensor)
    f = dt.convert(w.detach(), tvm_ffi.Tensor)  # after
    assert shared(f, w.detach())


def test_a_tensor_without_gaps_is_made_where_one_is_needed():
    a = np.zeros((2, 3), np.float32)
    with pytest.raises(RuntimeError, match="not contiguous"):
        tvm_ffi.from_dlpack(a.T, require_contiguous=True)  # before
    f = dt.convert(dt.from_dlpack(a.T).contiguous(), tvm_ffi.Tensor)  # after
    assert f.shape == (3, 2) and f.is_contiguous()


def test_elements_are_read_and_written_by_index():
    f = tvm_ffi.from_dlpack(torch.zeros(3))
    with pytest.raises(TypeError, match="not subscriptable"):
        f[0]  # before
    dt.from_dlpack(f)[0] = 7  # after
    assert np.from_dlpack(f)[0] == 7


def test_a_copy_is_made_where_tvm_ffi_makes_none():
    f = tvm_ffi.from_dlpack(torch.zeros(3))
    with pytest.raises(BufferError, match="copy not yet supported"):
        np.from_dlpack(f, copy=True)  # before
    a = dt.convert(f, np.ndarray, copy=True)  # after
    assert not shared(a, f)


def test_a_function_of_tvm_ffi_takes_tensors_of_both():
    echo = tvm_ffi.get_global_func("testing.echo")
    x = torch.zeros(3)
    y = echo(x)  # before
    assert shared(y, x)
    t = dt.zeros(3)
    u = echo(t)  # after
    assert type(u) is dt.Tensor and shared(u, t)
