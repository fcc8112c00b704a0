"""repr(t) is the text that PyTorch prints for the same values."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dt

TORCH_TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8,
               torch.int16, torch.int32, torch.int64, torch.bool, torch.complex64,
               torch.complex128]  # fmt: skip
SHAPES = [(), (1,), (5,), (30,), (0,), (0, 3), (2, 0, 3), (2, 3), (3, 40), (2, 3, 4), (1001,),
          (2, 600), (40, 50), (7, 1, 200), (11, 10, 10), (2, 2, 2, 2), (1, 1, 2000)]  # fmt: skip


def normal(text):
    """Remove the differences: the type names, and the line breaks that depend on their length."""
    text = text.replace("torch.Size", "").replace("torch.", "dovetail.")
    return re.sub(r",\s+(dtype|requires_grad)=", r", \1=", text)


def check(tensor):
    ours = dt.from_dlpack(tensor.detach()).requires_grad_(tensor.requires_grad)
    assert normal(repr(ours)) == normal(repr(tensor))


def values(kind, shape, rng):
    a = rng.standard_normal(shape)
    scale = {"unit": 1, "small": 1e-3, "tiny": 1e-6, "zeros": 0}
    if kind in scale:
        return a * scale[kind]
    if kind == "wide":
        return a * 10.0 ** rng.integers(-6, 10, shape)
    if kind == "ints":
        return np.round(a * 50)
    if kind == "big ints":
        return np.round(a * 1e9)
    if kind == "halves":
        return np.round(a * 3) / 2 * 100
    choice = rng.integers(0, 4, shape)  # of special values
    return np.where(
        choice == 0, np.nan, np.where(choice == 1, np.inf, np.where(choice == 2, a, -np.inf))
    )


KINDS = ["unit", "small", "tiny", "zeros", "wide", "ints", "big ints", "halves", "special"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TORCH_TYPES, ids=str)
def test_every_shape_prints_as_in_torch(dtype, kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for shape in SHAPES:
        a = np.asarray(values(kind, shape, rng))
        if dtype.is_complex:
            a = a + 1j * np.asarray(values(rng.choice(KINDS), shape, rng))
        elif not dtype.is_floating_point:
            a = np.clip(np.nan_to_num(a), 0 if dtype == torch.uint8 else -100, 100)
        check(torch.tensor(a).to(dtype))


@settings(max_examples=300)
@given(st.lists(st.floats(width=32), min_size=1, max_size=12))
def test_any_floats_print_as_in_torch(numbers):
    check(torch.tensor(numbers))


@settings(max_examples=200)
@given(st.lists(st.floats(allow_nan=True), min_size=1, max_size=6), st.integers(0, 2))
def test_any_doubles_print_as_in_torch(numbers, rank):
    check(torch.tensor(numbers, dtype=torch.float64).reshape((1,) * rank + (-1,)))


def test_strided_tensors_and_marked_ones_print_as_in_torch():
    t = torch.arange(24.0).reshape(2, 3, 4)
    for view in [t.permute(2, 0, 1), t[:, ::2], t[..., 1], t.expand(2, 3, 4)]:
        check(view)
    check(torch.tensor([1.5, 2], requires_grad=True))
    check(torch.zeros(3, 30, dtype=torch.float64, requires_grad=True))


def test_the_seeds_print_as_they_say():
    assert repr(dt.tensor([-1, -1, 2, 3])) == "tensor([-1, -1,  2,  3])"
    assert repr(dt.tensor([[10, 0.3], [0.1, 2]])) == (
        "tensor([[10.0000,  0.3000],\n        [ 0.1000,  2.0000]])"
    )


def test_types_that_are_not_the_default_are_named():
    assert repr(dt.tensor([1], dtype="int8")) == "tensor([1], dtype=dovetail.int8)"
    assert repr(dt.zeros((0, 3))) == "tensor([], size=(0, 3))"
    assert repr(dt.zeros(0, dtype="int64")) == "tensor([], dtype=dovetail.int64)"


def test_narrow_types_print_their_values():
    t = dt.tensor([0.5, -1, 6], dtype="float4_e2m1fn")
    assert repr(t) == "tensor([ 0.5000, -1.0000,  6.0000], dtype=dovetail.float4_e2m1fn)"
    assert repr(dt.arange(5, dtype="int4")) == "tensor([0, 1, 2, 3, 4], dtype=dovetail.int4)"
    large = dt.zeros(1001, dtype="int4")
    assert repr(large) == "tensor([0, 0, 0,  ..., 0, 0, 0], dtype=dovetail.int4)"


def test_a_read_only_tensor_prints_like_any_other():
    assert repr(dt.frombuffer(b"ab", dtype=dt.int8)) == "tensor([97, 98], dtype=dovetail.int8)"


def test_vectors_print_without_values():
    text = repr(dt.zeros(3, dtype="float32x4"))
    assert text == "tensor(..., shape=(3,), dtype=dovetail.float32x4, device='cpu')"


def test_str_and_print_are_the_repr():
    t = dt.tensor([1.5])
    assert str(t) == repr(t) == f"{t}"
