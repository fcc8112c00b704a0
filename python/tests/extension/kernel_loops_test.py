"""Lists and dicts of tensors, and what kernels do with them: views, rows, sums, threads."""

import ml_dtypes
import numpy as np
import pytest
import torch
from bindings import refused

import dovetail as dt

pytest_plugins = ["bindings"]
X = np.float32([1, 2, 4])


# Lists and dicts


def test_lists_tuples_and_dicts_of_tensors(ext):
    assert ext.k_list([X, torch.tensor([10.0, 0, 0])]) == 11
    assert ext.k_list((X,) * 50) == 50
    assert ext.k_list([]) == 0
    assert ext.k_optional_list(None) == -1
    assert ext.k_optional_list([X]) == 1
    assert ext.k_dict({"a": X, "bcd": X}) == 4
    assert ext.k_dict({}) == 0


def test_an_element_that_does_not_fit_is_named(ext):
    words = "argument 1, element 2 (numpy.ndarray) has size n = 2 in dimension 0"
    refused(ValueError, words, ext.k_list, [X, X[:2]])
    refused(
        TypeError,
        "argument 1, element 1 (numpy.ndarray) must be float32",
        ext.k_list,
        [X.astype(int)],
    )
    refused(TypeError, "argument 1, element 3: 'int' object is no tensor", ext.k_list, [X, X, 3])
    refused(
        TypeError,
        "argument 1 must be a list or tuple of tensors, and is a numpy.ndarray",
        ext.k_list,
        X,
    )
    refused(TypeError, "argument 1 must be a dict of tensors", ext.k_dict, [X])
    refused(TypeError, "must be a dict of tensors with keys of str", ext.k_dict, {1: X})
    refused(TypeError, "must be a dict of tensors with keys of str", ext.k_dict, {"\ud800": X})
    refused(TypeError, "argument 1, element 2", ext.k_dict, {"a": X, "b": None})


def test_a_list_that_changes_while_it_is_taken_keeps_its_tensors(ext):
    everything = []

    class Producer:
        def __dlpack__(self, **options):
            everything.clear()
            return X.__dlpack__(**options)

        def __dlpack_device__(self):
            return X.__dlpack_device__()

    everything += [Producer(), X.copy(), X.copy()]
    assert ext.k_list(everything) == 3
    assert everything == []

    everything = {"a": Producer(), "bc": X.copy()}
    assert ext.k_dict(everything) == 3
    assert everything == {}


# Views, rows, threads


def test_arguments_by_reference_and_views_of_any_rank(ext):
    assert ext.k_reference(X) == 4
    assert ext.k_view(np.float32([[1, 2]])) == 2
    refused(ValueError, "another type", ext.k_view, np.float64([[1, 2]]))
    refused(ValueError, "another rank", ext.k_view, X)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 1000])
def test_sums_of_narrow_floats_are_computed_in_float(ext, count):
    x = (np.arange(count) % 7).astype(np.float32)
    largest = x.max() if count else -np.inf
    for dtype in (np.float32, np.float16, ml_dtypes.float8_e4m3fn):
        assert ext.k_sum(x.astype(dtype)) == x.sum() + largest


def test_rows_come_in_order_with_any_strides_between_them(ext):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for view in (x, x[::-1, ::2], x.transpose(1, 0, 2), x[:0], x[..., :1]):
        firsts = view[..., 0].reshape(-1)
        assert ext.k_range(view) == (firsts * np.arange(1, len(firsts) + 1)).sum()


def test_rows_of_two_types_with_their_numbers(ext):
    x = np.arange(12, dtype=np.float64).reshape(3, 4)
    at = np.arange(6, dtype=np.int32).reshape(3, 2)
    expected = [[i, x[i].sum() + at[i].sum()] for i in range(3)]
    assert ext.k_numbers(x, at, None).tolist() == expected
    assert ext.k_numbers(x.astype(np.float32), at.astype(np.int64), None).tolist() == expected


def test_sums_of_two_rows_and_of_integers(ext):
    x = np.arange(100, dtype=np.float32)
    assert ext.k_dot(x, np.ones(100, ml_dtypes.bfloat16)) == 4950
    refused(ValueError, "different sizes", ext.k_dot, x, np.ones(99, ml_dtypes.bfloat16))
    assert ext.k_sum_bytes(np.ones(200, np.int8)) == 200


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_parallel_loops_visit_each_index_once_and_rethrow(ext, threads):
    before = dt.get_num_threads()
    dt.set_num_threads(threads)
    try:
        for count in (0, 1, 5, 1000, 100000):
            for grain in (1, 7, 1 << 40):
                assert ext.k_parallel(np.ones(count, np.float32), grain) == count
        x = np.ones(100000, np.float32)
        x[77777] = -1
        refused(ValueError, "negative", ext.k_parallel, x, 100)
    finally:
        dt.set_num_threads(before)


def test_parallel_rows_agree_with_numpy(ext):
    x = np.random.default_rng(1).random((300, 1000), np.float32)
    assert np.array_equal(ext.k_add_rows(x, x[::-1], None), x + x[::-1])


def test_signatures_say_what_is_wanted(ext):
    doc = ext.k_copy.__doc__
    assert "float32|float64|bfloat16[..., n]" in doc and "writable" in doc
    assert "float32[2*tokens_per_expert]" in ext.k_long.__doc__
    assert "inner-contiguous" in ext.k_add_rows.__doc__
    assert "dict[str, " in ext.k_dict.__doc__ and "Sequence[" in ext.k_list.__doc__


def result_of(function):
    """The type of the result in the signature of a function of one overload."""
    return function.__doc__.partition(") -> ")[2].splitlines()[0]


def test_signatures_say_what_a_kernel_returns(ext):
    written = [
        f'typing.Annotated[typing.Any, "{text}, writable"]'
        for text in [
            "float32|float64|bfloat16[..., n]",
            "float32[2, n], C-contiguous",
            "int64[3*n], C-contiguous",
            "float32[n]",
        ]
    ]
    assert result_of(ext.k_copy) == written[0]
    assert result_of(ext.k_fill) == f"tuple[{written[1]}, {written[2]}]"
    assert result_of(ext.k_increment) == written[3]
    assert result_of(ext.k_empty_like) == "typing.Any"


def test_signatures_of_many_results_are_whole(ext):
    text = 'typing.Annotated[typing.Any, "float32|float64|bfloat16[tokens_per_expert], writable"]'
    assert result_of(ext.k_many_results) == f"tuple[{', '.join([text] * 16)}]"
