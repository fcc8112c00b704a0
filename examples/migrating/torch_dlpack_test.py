"""The rows of docs/migrating/torch_dlpack.md: lines that end in `# before`, `# after`."""

import jax.numpy as jnp
import numpy as np
import paddle
import pytest
import torch
from memory import ends_the_process, frozen_array, shared

import dovetail as dt


def test_a_tensor_is_given_to_another_library_without_a_capsule():
    x = torch.zeros(3)
    c = torch.utils.dlpack.to_dlpack(x)  # before
    p = paddle.utils.dlpack.from_dlpack(c)  # before
    assert shared(p, x)
    p = dt.convert(x, paddle.Tensor)  # after
    assert type(p) is paddle.Tensor and shared(p, x)


def test_a_tensor_of_another_library_is_taken():
    a = np.zeros(3)
    x = torch.utils.dlpack.from_dlpack(a)  # before
    assert shared(x, a) and torch.from_dlpack is torch.utils.dlpack.from_dlpack
    x = dt.convert(a, torch.Tensor)  # after
    assert type(x) is torch.Tensor and shared(x, a)


def test_code_that_passes_capsules_stays():
    x = torch.zeros(3)
    c = torch.utils.dlpack.to_dlpack(x)
    y = torch.utils.dlpack.from_dlpack(c)  # before
    assert shared(y, x)
    c = torch.utils.dlpack.to_dlpack(x)
    y = dt.utils.dlpack.from_dlpack(c)  # after
    assert type(y) is dt.Tensor and shared(y, x)


def test_a_capsule_is_good_for_one_consumer_and_a_tensor_for_many():
    x = torch.zeros(3)
    c = torch.utils.dlpack.to_dlpack(x)
    first = torch.utils.dlpack.from_dlpack(c)
    assert shared(first, x)
    with pytest.raises(RuntimeError, match="consumed only once"):
        torch.utils.dlpack.from_dlpack(c)  # before
    for _ in range(2):
        a = dt.convert(x, np.ndarray)  # after
        assert shared(a, x)


def test_read_only_memory_is_copied_instead_of_written():
    frozen = frozen_array()
    torch.utils.dlpack.from_dlpack(frozen)[0] = 7  # before
    assert frozen[0] == 7
    frozen = frozen_array()
    dt.convert(frozen, torch.Tensor)[0] = 7  # after
    assert frozen[0] == 0


def test_an_array_of_jax_keeps_its_elements():
    j = jnp.zeros(3)
    torch.utils.dlpack.from_dlpack(j)[0] = 7  # before
    assert j[0] == 7
    j = jnp.zeros(3)
    dt.convert(j, torch.Tensor)[0] = 7  # after
    assert j[0] == 0


def test_a_reversed_array_is_copied_instead_of_ending_the_process():
    def forward():
        a = np.arange(3.0)
        torch.utils.dlpack.from_dlpack(a)

    def reverse():
        a = np.arange(3.0)
        torch.utils.dlpack.from_dlpack(a[::-1])  # before

    assert ends_the_process(reverse) and not ends_the_process(forward)
    a = np.arange(3.0)
    x = dt.convert(a[::-1], torch.Tensor)  # after
    assert x.tolist() == [2, 1, 0] and not shared(x, a)


def test_a_tensor_that_requires_gradients_is_refused_instead_of_losing_them():
    w = torch.ones(3, requires_grad=True)
    c = torch.utils.dlpack.to_dlpack(w)  # before
    assert not torch.utils.dlpack.from_dlpack(c).requires_grad
    with pytest.raises(dt.ExchangeError, match=r"tensor\.detach\(\)"):
        dt.from_dlpack(w)
    x = dt.from_dlpack(w.detach())  # after
    assert shared(x, w.detach())


def test_an_imaginary_part_does_not_change_its_sign():
    z = torch.tensor([1 + 2j]).conj()
    c = torch.utils.dlpack.to_dlpack(z.imag)  # before
    assert torch.utils.dlpack.from_dlpack(c).item() == 2
    assert z.imag.item() == -2
    with pytest.raises(dt.ExchangeError, match="resolve_neg"):
        dt.from_dlpack(z.imag)
    x = dt.from_dlpack(z.imag.resolve_neg())  # after
    assert x.tolist() == [-2]


def test_a_copy_is_forbidden_and_the_reason_is_said():
    a = np.arange(3.0)
    x = torch.utils.dlpack.from_dlpack(a, copy=False)  # before
    assert shared(x, a)
    x = dt.convert(a, torch.Tensor, copy=False)  # after
    assert shared(x, a)
    with pytest.raises(dt.ExchangeError, match="negative strides"):
        dt.convert(a[::-1], torch.Tensor, copy=False)


def test_a_report_tells_beforehand_whether_there_is_a_copy():
    a = np.arange(3.0)
    assert dt.explain(a, torch.Tensor).aliases
    report = dt.explain(a[::-1], torch.Tensor)  # after
    assert not report.aliases and "negative strides" in report.reason
