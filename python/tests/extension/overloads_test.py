"""Overloads of functions: which one is called, and what is said if none fits."""

import numpy as np
import pytest
import torch
from bindings import EXTENSIONS

pytest_plugins = ["bindings"]
TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float64": torch.float64}
X = np.float32([1, 2, 4])


def refuses(error, words, function, *arguments):
    with pytest.raises(error, match=words):
        function(*arguments)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("epsilon", [0.5, 1e-6, 1])
def test_another_argument_may_be_converted(ext, name, epsilon):
    x = torch.ones(3, dtype=TYPES[name])
    for _ in range(3):
        assert ext.norm(x, x, epsilon) == name
        assert ext.norm(x, torch.ones(3, dtype=TYPES[name]), epsilon) == name


@pytest.mark.parametrize("factor", [0.5, 1e-6, 1])
def test_an_argument_before_the_tensors_may_be_converted(ext, factor):
    for _ in range(3):
        assert ext.factored(factor, X) == "float32"
        assert ext.factored(factor, X.astype(np.float64)) == "float64"


def test_an_overload_without_tensors_may_come_last(ext):
    for _ in range(3):
        assert ext.listed(X) == "float32"
        assert ext.listed(X.astype(np.float64)) == "float64"
        assert ext.listed([1.5, 2]) == "list"
        assert ext.listed([1, 2]) == "list"


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("epsilon", [0.5, 1e-6, 1])
def test_the_overload_that_came_furthest_says_what_is_wrong(ext, name, epsilon):
    x = torch.ones(3, dtype=TYPES[name])
    words = r"^argument 2 \(torch.Tensor\) has size n = 2 .*, and argument 1 has n = 3\.$"
    for _ in range(3):
        refuses(ValueError, words, ext.norm, x, x[:2], epsilon)
    refuses(TypeError, rf"^argument 2 .* must be {name}, and is int8", ext.norm, x, x.char(), 0.5)


def test_if_none_came_further_all_are_listed(ext):
    for _ in range(3):
        refuses(TypeError, "incompatible function arguments", ext.norm, X.astype("i1"), X, 1)
        refuses(TypeError, "incompatible function arguments", ext.norm, X, X, "text")
        refuses(TypeError, "incompatible function arguments", ext.factored, 1, X.astype("i1"))
        refuses(TypeError, "incompatible function arguments", ext.listed, X[None])


def test_an_object_that_overloads_refused_is_refused_with_reason_elsewhere(ext):
    x = X.astype(np.float16)
    for _ in range(3):
        refuses(TypeError, "incompatible", ext.kind, x)
        refuses(TypeError, "argument 1 .* must be float32", ext.doubled, x)
        refuses(TypeError, "argument 2 .* must be float32", ext.add, X, x, X)
        refuses(TypeError, "argument 3 .* must be float32", ext.add, X, X, x)


def test_what_fails_after_a_valid_overloaded_call_has_its_reason(ext):
    x = torch.ones(3, dtype=torch.bfloat16)
    for function, arguments in [(ext.norm, (x, x, 1)), (ext.factored, (1, X.astype(np.float64)))]:
        for _ in range(3):
            function(*arguments)
            refuses(ValueError, "argument 3 .* n = 2", ext.add, X, X, X[:2])


def test_arguments_are_counted_in_each_call_anew(ext):
    x = X.astype(np.float16)
    refuses(TypeError, "^argument 2 ", ext.some, X, x)
    refuses(TypeError, "^argument 2 ", ext.some, None, x)
    refuses(TypeError, "^argument 2 ", ext.with_owned, X, x)
    for _ in range(3):
        refuses(ValueError, "^argument 2 ", ext.norm, X, X[:2], 1)


def test_arguments_by_name_are_counted_as_they_stand():
    out = "".join(["o", "ut"])  # not interned, unlike names in the source
    for ext in EXTENSIONS:
        refuses(ValueError, r"^argument 3 ", lambda ext=ext: ext.named(x=X, y=X, **{out: X[:2]}))
