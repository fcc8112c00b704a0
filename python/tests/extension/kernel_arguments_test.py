"""What kernels take: gradients, types out of several, named sizes, overlap, made results."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import peers
import pytest
import torch
from bindings import refused
from process import run_python

import dovetail as dt

pytest_plugins = ["bindings"]
X = np.float32([1, 2, 4])


# Gradients


def test_a_tensor_that_requires_gradients_is_data_while_none_are_recorded(ext):
    leaf = torch.ones(3, requires_grad=True)
    parameter = torch.nn.Parameter(torch.ones(3))
    for x in (leaf, leaf * 2, parameter):
        with torch.no_grad():
            assert ext.doubled(x).tolist() == (2 * x).tolist()
        with torch.inference_mode():
            assert ext.doubled(x).tolist() == (2 * x).tolist()
        words = (
            "The tensor requires gradients, which the function does not compute. Pass x.detach()"
        )
        refused(BufferError, words, ext.doubled, x)
        refused(BufferError, "torch.no_grad()", ext.doubled, x)
    with torch.no_grad():
        assert ext.k_increment(parameter) is parameter
    assert parameter.tolist() == [2, 2, 2]


def test_frozen_parameters_are_tensors_like_any_other(ext):
    frozen = torch.nn.Parameter(torch.ones(3), requires_grad=False)
    assert ext.doubled(frozen).tolist() == [2, 2, 2]
    integers = torch.nn.Parameter(torch.arange(3), requires_grad=False)
    refused(TypeError, "must be float32, and is int64", ext.doubled, integers)


def test_a_parameter_with_a_lazy_mark_or_freed_memory_is_refused(ext):
    with torch.no_grad():
        marked = torch.nn.Parameter(torch._neg_view(torch.ones(3)))
        refused(BufferError, "negation", ext.doubled, marked)
        freed = torch.nn.Parameter(torch.ones(3))
        freed.untyped_storage().resize_(0)
        refused(BufferError, "resize", ext.doubled, freed)


def test_a_parameter_may_be_the_first_tensor_of_the_process():
    run_python(
        """
import torch, pybind11_extension as ext
with torch.no_grad():
    assert ext.doubled(torch.nn.Parameter(torch.ones(2))).tolist() == [2, 2]
"""
    )


def test_a_parameter_is_copied_where_that_is_allowed(ext):
    parameter = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
    with torch.no_grad():
        assert ext.copied(parameter.T) == (True, 5)
        assert ext.copied(parameter[:, :2]) == (True, 4)
        assert ext.cast(parameter.double()) == (True, 5)


def test_from_dlpack_refuses_what_requires_gradients_in_any_case():
    with torch.no_grad(), pytest.raises(BufferError, match="grad"):
        dt.from_dlpack(torch.nn.Parameter(torch.ones(3)))


# Types out of several


@pytest.mark.parametrize("dtype", ["float32", "float64", ml_dtypes.bfloat16])
def test_one_of_takes_each_of_its_types(ext, dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    y = ext.k_copy(x, None)
    assert y.dtype == x.dtype and y.tolist() == x.tolist()
    assert ext.k_copy(x.T, None).tolist() == x.T.tolist()


def test_types_of_one_name_agree_among_the_arguments(ext):
    double = X.astype(np.float64)
    assert ext.k_same_type(double, double) == (True, 1)
    words = "argument 2 (numpy.ndarray) must be float64 as argument 1, and is float32."
    refused(TypeError, words + ' Pass x.astype("float64").', ext.k_same_type, double, X)
    words = "argument 2 (torch.Tensor) must be float32 as argument 1, and is bfloat16."
    refused(TypeError, words, ext.k_same_type, X, torch.ones(2, dtype=torch.bfloat16))
    words = "argument 1 (numpy.ndarray) must be float32, float64 or bfloat16, and is float16"
    refused(TypeError, words, ext.k_same_type, X.astype(np.float16), X)
    assert ext.k_other_name(double, X) == 2


def test_elements_are_aligned_to_the_type_that_they_have(ext):
    memory = np.zeros(64, np.uint8)
    assert ext.k_same_type(memory[4:16].view(np.float32), X)[0] is False
    misaligned = memory[4:36].view(np.float64)
    assert not misaligned.flags.aligned
    refused(ValueError, "must be aligned to 8 bytes", ext.k_same_type, misaligned, misaligned)
    assert ext.k_same_type(misaligned[:0], misaligned[:0]) == (True, 1)


def test_a_cast_goes_to_the_type_of_the_others(ext):
    assert ext.k_cast(X.astype(np.float64), np.int32([7])) == 7
    assert ext.k_cast(X, np.float64([7])) == 7
    refused(
        TypeError,
        "must be float32, float64 or bfloat16, and is complex64",
        ext.k_cast,
        X,
        np.complex64([7]),
    )


# Sizes


def test_leading_dimensions_may_be_any(ext):
    assert ext.k_leading(np.ones((3, 5), np.float32)) == 1005
    assert ext.k_leading(np.ones((2, 7, 3, 5), np.float32)) == 3005
    refused(TypeError, "must have at least 2 dimensions, and has shape (3,)", ext.k_leading, X)
    words = "must have size 3 in dimension 1, and has shape (2, 4, 5)"
    refused(ValueError, words, ext.k_leading, np.ones((2, 4, 5), np.float32))
    assert ext.k_min_rank(np.ones((2, 3, 4), np.float32)) == 1
    refused(TypeError, "at least 2 dimensions", ext.k_min_rank, X)


def test_leading_dimensions_of_one_name_agree(ext):
    a, b = np.ones((2, 3, 1), np.float32), np.ones((5, 1), np.float32)
    assert ext.k_two_leads(a, b, a) == 3
    words = "argument 3 (numpy.ndarray) has the leading dimensions (5,), and argument 1 has (2, 3)"
    refused(ValueError, words, ext.k_two_leads, a, b, b)


def test_a_shape_that_another_argument_does_not_have_is_named_with_both(ext):
    a, b, c = (np.ones(shape, np.float32) for shape in [(4, 3), (2, 3), (3,)])
    assert ext.k_same_shape(a, a) == 2
    words = "argument 2 (numpy.ndarray) must have shape (4, 3) to match argument 1, and has shape "
    refused(ValueError, words + "(2, 3).", ext.k_same_shape, a, b)
    refused(ValueError, words + "(3,).", ext.k_same_shape, a, c)
    refused(ValueError, words + "(2, 3).", ext.k_shape_of_rows, np.ones((4, 3, 5), np.float32), b)
    words = "argument 3 (numpy.ndarray) has a named shape, and a call has at most 2 of them"
    refused(ValueError, words, ext.k_three_shapes, a, a, a)


def test_a_shape_that_another_element_does_not_have_is_named_with_both(ext):
    a, b = np.ones((4, 3), np.float32), np.ones((2, 3), np.float32)
    words = "argument 1, element 3 (numpy.ndarray) must have shape (4, 3) to match an element "
    words += "before it, and has shape (2, 3)."
    refused(ValueError, words, ext.k_shapes_in_list, [a, a, b])
    words = "element 2 (numpy.ndarray) has the leading dimensions (2,), and an element before it "
    refused(ValueError, words + "has (4,).", ext.k_leads_in_list, [a, b])


def test_names_of_sizes_may_be_long_and_multiplied(ext):
    assert ext.k_long(X, np.ones(6, np.float32)) == 9
    words = "must have size 2 * tokens_per_expert in dimension 0, and has 5; tokens_per_expert = 3"
    refused(ValueError, words, ext.k_long, X, np.ones(5, np.float32))
    assert ext.k_twice_first(np.ones(6, np.float32), X) == 9
    words = "argument 1 (numpy.ndarray) must have size 2 * half in dimension 0, and has 3"
    refused(ValueError, words, ext.k_twice_first, X, X)
    words = (
        "argument 2 (numpy.ndarray) has size half = 3 in dimension 0, and argument 1 has half = 2"
    )
    refused(ValueError, words, ext.k_twice_first, np.ones(4, np.float32), X)


def test_names_with_hashes_are_no_leading_dimensions(ext):
    x = np.ones((2, 3, 4), np.float32)
    assert ext.k_hashed(x[0]) == 2
    refused(TypeError, "must have 2 dimensions, and has shape (2, 3, 4)", ext.k_hashed, x)
    assert ext.k_named_batch(x) == 2
    assert "float32[...batch, cache_heads]" in ext.k_named_batch.__doc__


def test_a_multiple_that_overflows_is_no_size(ext):
    large = np.broadcast_to(np.float32(1), 2**57)
    refused(ValueError, "must have size 128 * n", ext.k_128, large, np.zeros(0, np.float32))


def test_a_number_is_a_size_of_results(ext):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert ext.k_first(x, 2, None).tolist() == x[:, :2].tolist()
    assert ext.k_first(torch.from_numpy(x), 0, None).shape == (3, 0)
    out = np.zeros((3, 2), np.float32)
    assert ext.k_first(x, np.int64(2), out) is out
    words = "argument 2 (numpy.ndarray) has size k = 2 in dimension 1, and the call has k = 3"
    refused(ValueError, words, ext.k_first, x, 3, out)
    refused(ValueError, "k = -1 is no size: it must not be negative", ext.k_first, x, -1, None)
    refused(ValueError, "k is larger than n", ext.k_first, x, 5, None)
    refused(TypeError, "float", ext.k_first, x, 1.5, None)


# Overlap


def test_outputs_that_overlap_another_argument_are_refused(ext):
    x = np.ones((4, 6), np.float32)
    words = "argument 1 has memory in common with argument 2, and must not. Pass a copy."
    refused(ValueError, words, ext.k_no_overlap, x, x)
    refused(ValueError, words, ext.k_no_overlap, x[1:], x[:2])
    refused(ValueError, words, ext.k_no_overlap, x, torch.from_numpy(x))
    assert ext.k_no_overlap(x[:, :3], x[:, 3:]) == 24
    assert ext.k_no_overlap(x[::2], x[1::2]) == 24
    assert ext.k_no_overlap(x[:0], x) == 24


def test_elements_of_lists_count_for_overlap(ext):
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    words = "argument 2 has memory in common with argument 1, and must not"
    refused(ValueError, words, ext.k_no_overlap_list, [x, y], y[3:])
    assert ext.k_no_overlap_list([x], y) == 5
    assert ext.k_distinct([x, y]) == 2
    refused(ValueError, "argument 1 has memory in common with argument 1", ext.k_distinct, [x, x])


# Results


@pytest.mark.parametrize("peer", peers.EXPORTERS, ids=lambda peer: peer.name)
def test_results_are_made_of_the_library_of_the_first_tensor(ext, peer):
    x = peer.make("float32", [1, 2, 4])
    y = ext.k_add_rows(x, x, None)
    assert type(y) is type(x)
    assert peer.values(y) == [2, 4, 8]
    assert peer.values(x) == [1, 2, 4]


def test_results_that_are_given_are_returned_themselves(ext):
    x = np.ones((2, 3), np.float32)
    out = np.zeros((2, 3), np.float32)
    assert ext.k_add_rows(x, x, out) is out
    assert out.tolist() == [[2] * 3] * 2
    refused(
        ValueError,
        "argument 3 (numpy.ndarray) has size n = 4",
        ext.k_add_rows,
        x,
        x,
        np.zeros((2, 4), np.float32),
    )
    refused(TypeError, "argument 3", ext.k_add_rows, x, x, x.astype(np.float64))


def test_several_results_are_a_tuple_and_each_may_be_given(ext):
    a, b = ext.k_fill(torch.tensor([5.0, 6.0]), None, None)
    assert (a.tolist(), b.tolist()) == ([[5, 5], [5, 5]], [0, 1, 2, 3, 4, 5])
    given = np.zeros(6, np.int64)
    a, b = ext.k_fill(torch.tensor([5.0, 6.0]), None, given)
    assert isinstance(a, torch.Tensor) and b is given and given[5] == 5
    a, b = ext.k_fill(np.zeros(0, np.float32), None, None)
    assert (a.shape, b.shape) == ((2, 0), (0,))


def test_a_result_has_the_first_type_that_its_library_has(ext):
    assert ext.k_arange(X, None).tolist() == [0, 1, 2]
    assert ext.k_arange(X, None).dtype == np.int64
    assert ext.k_arange(torch.ones(2), None).dtype == torch.int64
    for has_int64 in (False, True):
        with jax.enable_x64(has_int64):
            made = ext.k_arange(jnp.ones(2, "float32"), None)
        assert made.dtype == ("int64" if has_int64 else "int32")
    given = np.zeros(3, np.int32)
    assert ext.k_arange(X, given) is given


def test_what_is_written_in_place_is_returned_and_arrays_that_never_change_are_copied(ext):
    x = X.copy()
    assert ext.k_increment(x) is x and x.tolist() == [2, 3, 5]
    array = jnp.float32([1, 2, 4])
    made = ext.k_increment(array)
    assert type(made) is type(array)
    assert (made.tolist(), array.tolist()) == ([2, 3, 5], [1, 2, 4])
    frozen = X.copy()
    frozen.flags.writeable = False
    refused(BufferError, "is written by the function, and is read-only", ext.k_increment, frozen)


def test_a_result_without_sizes_is_refused(ext):
    words = (
        "A result can't be made: no argument has the size n. Pass one for the function to write to"
    )
    refused(ValueError, words, ext.k_made_of_nothing, None)
    assert ext.k_made_of_nothing(X) is X


def test_functions_that_make_results_throw_python_errors(ext):
    assert ext.k_empty_like(X).shape == (3,)
    with pytest.raises((MemoryError, ValueError)):
        ext.k_too_large(X)
    first, second = ext.k_pair(torch.ones(3))
    assert first.shape == (3,) and second.shape == (2, 3) and second.dtype == torch.int32
