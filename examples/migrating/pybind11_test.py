"""The types of docs/migrating/pybind11.md, before and after, as functions that are called."""

import jax
import jax.numpy as jnp
import numpy as np
import paddle
import pytest
import torch
from memory import frozen_array
from migrating_pybind11 import after, before, strict

import dovetail as dt

FLOATS = np.float32([1, 2, 3])
DOUBLES = np.array([1.0, 2.0, 3.0])
TENSORS = [FLOATS, torch.ones(3), jnp.ones(3), paddle.ones([3])]
WORDLESS = "incompatible function arguments"


@pytest.mark.parametrize("x", TENSORS, ids=lambda x: type(x).__module__)
def test_a_tensor_of_each_library_is_taken_by_both(x):
    assert before.vector(x) == after.vector(x) == 1


def test_noconvert_takes_numpys_arrays_alone():
    assert strict(FLOATS) == 1
    for x in TENSORS[1:]:
        with pytest.raises(TypeError, match=WORDLESS):
            strict(x)


def test_another_type_is_refused_by_both_and_named_after():
    with pytest.raises(TypeError, match=WORDLESS):
        before.vector(DOUBLES)
    with pytest.raises(TypeError, match=r'is float64. Pass x.astype\("float32"\)'):
        after.vector(DOUBLES)


def test_gaps_are_copied_before_and_refused_after():
    assert before.vector(FLOATS[::2]) == 1
    with pytest.raises(ValueError, match=r"Pass numpy\.ascontiguousarray"):
        after.vector(FLOATS[::2])


def test_a_list_of_numbers_is_taken_before_alone():
    assert before.vector([1.0, 2.0]) == 1
    with pytest.raises(TypeError, match="'list' object is no tensor"):
        after.vector([1.0, 2.0])


def test_rules_allow_casts_that_lose_no_kind():
    for x in (DOUBLES, np.int32([1]), FLOATS[::2]):
        assert before.converted(x) == after.converted(x) == 1


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_complex_numbers_and_text_are_cast_before_and_refused_after():
    for x in (np.complex64([1 + 2j]), np.array(["1"])):
        assert before.converted(x) == 1
        with pytest.raises((TypeError, dt.ExchangeError)):
            after.converted(x)


def test_what_is_written_to_another_type_is_lost_before_and_refused_after():
    for x in (np.zeros(3), torch.zeros(3, dtype=torch.float64)):
        before.written(x)
        assert x[0] == 0
        with pytest.raises(TypeError, match="must be float32, and is float64"):
            after.written(x)
    x = torch.zeros(3)
    after.written(x)
    assert x[0] == 7


def test_read_only_memory_is_refused_by_both():
    for x in (frozen_array(), jnp.zeros(3)):
        with pytest.raises(ValueError, match="array is not writeable"):
            before.written(x)
        with pytest.raises(dt.ExchangeError, match=r"read-only\. Pass a copy"):
            after.written(x)


def test_any_tensor_is_taken_after_and_numpys_arrays_alone_before():
    assert before.any(DOUBLES) == after.any(DOUBLES) == 1
    for x in (torch.ones(3), torch.ones(3, dtype=torch.bfloat16)):
        with pytest.raises(TypeError, match=WORDLESS):
            before.any(x)
        assert after.any(x) == 1


def test_none_is_no_tensor_in_both():
    for module in (before, after):
        assert module.maybe(FLOATS) and not module.maybe(None) and not module.maybe()


def test_a_list_is_taken_and_its_element_named():
    assert before.several([FLOATS, torch.ones(3)]) == after.several([FLOATS, torch.ones(3)]) == 2
    assert before.several([FLOATS, DOUBLES]) == 2
    with pytest.raises(TypeError, match=r"argument 1, element 2 .*must be float32"):
        after.several([FLOATS, DOUBLES])


def test_a_result_is_of_the_callers_class():
    classes = [np.ndarray, torch.Tensor, jax.Array, paddle.Tensor]
    for x, cls in zip(TENSORS, classes, strict=True):
        assert type(before.result(x)) is np.ndarray
        assert isinstance(after.result(x), cls)
        assert dt.asarray(after.result(x)).tolist() == before.result(x).tolist()
