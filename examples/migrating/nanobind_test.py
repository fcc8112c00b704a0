"""The types of docs/migrating/nanobind.md, before and after, as functions that are called."""

import jax
import jax.numpy as jnp
import numpy as np
import paddle
import pytest
import torch
from memory import frozen_array
from migrating_nanobind import after, before, converted, strict

import dovetail as dt

FLOATS = np.float32([1, 2, 3])
DOUBLES = np.array([1.0, 2.0, 3.0])
TENSORS = [FLOATS, torch.ones(3), jnp.ones(3), paddle.ones([3]), dt.ones(3)]
WORDLESS = "incompatible function arguments"


@pytest.mark.parametrize("x", TENSORS, ids=lambda x: type(x).__module__)
def test_a_vector_of_each_library_is_taken_by_both(x):
    assert before.vector(x) == after.vector(x) == 1


def test_another_type_is_copied_before_and_refused_after():
    assert before.vector(DOUBLES) == 1
    with pytest.raises(TypeError, match=r'is float64. Pass x.astype\("float32"\)'):
        after.vector(DOUBLES)


def test_noconvert_refuses_too_without_the_reason():
    assert strict(FLOATS) == 1
    for x in (DOUBLES, FLOATS[::2]):
        with pytest.raises(TypeError, match=WORDLESS):
            strict(x)


def test_rules_allow_what_ndarray_does_unasked():
    assert converted(DOUBLES) == converted(FLOATS[::2]) == 1


def test_gaps_are_copied_before_and_refused_after():
    assert before.vector(FLOATS[::2]) == 1
    with pytest.raises(ValueError, match=r"Pass numpy\.ascontiguousarray"):
        after.vector(FLOATS[::2])


def test_a_tensor_that_requires_gradients_is_taken_before_and_refused_after():
    w = torch.ones(3, requires_grad=True)
    assert before.vector(w) == 1
    with pytest.raises(dt.ExchangeError, match=r"Pass x\.detach\(\)"):
        after.vector(w)
    with torch.no_grad():
        assert after.vector(w) == 1


def test_what_is_written_to_another_type_is_lost_before_and_refused_after():
    x = np.zeros(3)
    before.written(x)
    assert x[0] == 0
    with pytest.raises(TypeError, match="must be float32, and is float64"):
        after.written(x)
    x = np.zeros(3, np.float32)
    after.written(x)
    assert x[0] == 7


def test_an_array_of_jax_is_written_before_and_refused_after():
    j = jnp.zeros(3)
    with pytest.raises(dt.ExchangeError, match="read-only"):
        after.written(j)
    before.written(j)
    assert j[0] == 7


def test_a_read_only_array_is_refused_by_both():
    with pytest.raises(TypeError, match=WORDLESS):
        before.written(frozen_array())
    with pytest.raises(dt.ExchangeError, match=r"read-only\. Pass a copy"):
        after.written(frozen_array())


def test_repeated_elements_are_written_before_and_refused_after():
    x = torch.zeros(1).expand(3)
    before.written(x)
    assert x.tolist() == [7, 7, 7]
    with pytest.raises(ValueError, match="several elements in one place"):
        after.written(x)


def test_strides_count_elements_in_both():
    x = np.zeros((2, 3), np.float32)[::-1]
    assert before.strided(x) == after.strided(x) == -3


def test_a_wrong_size_is_named():
    points, others = np.zeros((2, 3), np.float32), np.zeros((2, 4), np.float32)
    assert before.points(points) == after.points(points) == 2
    with pytest.raises(TypeError, match=WORDLESS):
        before.points(others)
    with pytest.raises(ValueError, match="must have size 3 in dimension 1"):
        after.points(others)


def test_rows_are_copied_to_columns_before_and_refused_after():
    x = np.zeros((2, 3), np.float32)
    assert before.column_major(x) == 2
    with pytest.raises(ValueError, match=r"Pass numpy\.asfortranarray"):
        after.column_major(x)
    assert before.column_major(x.T) == after.column_major(x.T) == 3


def test_any_type_is_taken_by_both():
    for x in (DOUBLES, torch.ones(2, dtype=torch.bfloat16), b"abc"):
        assert before.any(x) == after.any(x) == 1


def test_one_of_two_types_is_found_out():
    for x in (FLOATS, DOUBLES):
        assert before.real(x) == after.real(x) == 6
    with pytest.raises(TypeError, match="x must be float32 or float64"):
        before.real(np.int32([1]))
    with pytest.raises(TypeError, match="must be float32 or float64, and is int32"):
        after.real(np.int32([1]))


def test_memory_of_the_host_is_no_memory_of_a_gpu():
    with pytest.raises(TypeError, match=WORDLESS):
        before.gpu(FLOATS)
    with pytest.raises(TypeError, match="must be on a cuda device, and is on cpu"):
        after.gpu(FLOATS)


def test_none_is_no_tensor_in_both():
    for module in (before, after):
        assert module.maybe(FLOATS) and not module.maybe(None) and not module.maybe()


def test_a_list_is_taken_and_its_element_named():
    assert before.several([FLOATS, torch.ones(3)]) == after.several([FLOATS, torch.ones(3)]) == 2
    assert before.several([FLOATS, DOUBLES]) == 2
    with pytest.raises(TypeError, match=r"argument 1, element 2 .*must be float32"):
        after.several([FLOATS, DOUBLES])


def test_a_result_is_of_the_callers_class():
    classes = [np.ndarray, torch.Tensor, jax.Array, paddle.Tensor, dt.Tensor]
    for x, cls in zip(TENSORS, classes, strict=True):
        assert type(before.result(x)) is np.ndarray
        assert isinstance(after.result(x), cls)
        assert dt.asarray(after.result(x)).tolist() == before.result(x).tolist()
