"""Calls within calls: what Python code does while an argument is loaded, or in the body."""

import nanobind_extension
import numpy as np
import pybind11_extension
import pytest
import torch
from process import run_python

import dovetail as dt

EXTENSIONS = [nanobind_extension, pybind11_extension]
X = np.float32([1, 2, 4])


@pytest.fixture(params=EXTENSIONS, ids=lambda extension: extension.__name__)
def ext(request):
    return request.param


class Number:
    """A number that calls something to find its value."""

    def __init__(self, action):
        self.action = action

    def __float__(self):
        self.action()
        return 2.0


def test_sizes_of_a_call_within_an_argument_are_its_own(ext):
    five = np.ones(5, np.float32)
    weight = Number(lambda: ext.add(five, five, five.copy()))
    assert ext.weighted(weight, X, X) == 3
    with pytest.raises(ValueError, match=r"argument 2 .* n = 2 in dimension 0, and argument 1 has"):
        ext.weighted(weight, X, X[:2])


def test_a_call_that_fails_within_an_argument_leaves_nothing(ext):
    def action():
        with pytest.raises(ValueError, match=r"argument 3 .* n = 2 .* argument 1 has n = 3"):
            ext.add(X, X, X[:2])
        with pytest.raises(TypeError, match="incompatible"):
            ext.kind(np.zeros(1, np.float16))
        with pytest.raises(TypeError):
            ext.weighted("text", X, X)

    assert ext.weighted(Number(action), X, X) == 3
    assert ext.factored(Number(action), X.astype(np.float64)) == "float64"
    with pytest.raises(TypeError, match=r"argument 1 .* must be float32"):
        ext.weighted(Number(action), X.astype(np.float64), X)


RESULTS = """
import {extension} as ext
import gc, numpy as np, torch

class Number:
    def __float__(self):
        assert type(ext.doubled(torch.ones(3))) is torch.Tensor
        gc.collect()
        self.other = [torch.ones(3) for _ in range(100)]
        return 2.0

x = np.float32([1, 2, 4])
for _ in range(20):
    result = ext.scaled(Number(), x, x[:1])
    assert type(result) is np.ndarray, type(result)
"""


@pytest.mark.parametrize("ext", EXTENSIONS, ids=lambda extension: extension.__name__)
def test_a_result_is_of_the_library_of_its_own_calls_arguments(ext):
    run_python(RESULTS.format(extension=ext.__name__))


def test_a_call_in_the_body_has_arguments_of_its_own(ext):
    x = torch.ones(3)
    assert type(ext.calling(x, ext.wrapped)) is dt.Tensor
    assert type(ext.calling(x, lambda: ext.doubled(X))) is np.ndarray
    for other in EXTENSIONS:
        assert type(ext.calling(x, other.wrapped)) is dt.Tensor
        assert type(ext.calling(x, lambda: other.doubled(X))) is np.ndarray  # noqa: B023


def test_other_arguments_do_not_decide_what_a_result_is(ext):
    assert type(ext.with_rest(torch.ones(3), 1, 2)) is torch.Tensor
    assert type(ext.with_rest(X)) is np.ndarray


def test_calls_within_calls_may_be_deep(ext):
    def depth(n):
        if n > 0:
            weight = Number(lambda: depth(n - 1))
            x = np.ones(n, np.float32)
            assert ext.weighted(weight, x, x) == 3
            assert ext.factored(weight, x.astype(np.float64)) == "float64"

    depth(6)
