"""Attributes that a tensor does not have: what the error says, and what dir() lists."""

import pickle

import numpy as np
import pytest
from process import run_failing

import dovetail as dt

HIDDEN = sorted(set(vars(dt.Tensor)) - set(dir(dt.zeros(1))))


def test_methods_that_compute_say_who_has_them():
    with pytest.raises(AttributeError, match=r"no sum\(\): it computes nothing; t\.numpy\(\) or"):
        dt.zeros(3).sum()
    assert len(HIDDEN) > 20 and {"sum", "mean", "argmax", "abs"} < set(HIDDEN)


@pytest.mark.parametrize("name", HIDDEN)
def test_they_are_absent_for_whoever_asks(name):
    t = dt.zeros(3)
    assert not hasattr(t, name) and getattr(t, name, None) is None
    assert name not in dir(t)
    with pytest.raises(AttributeError) as caught:
        setattr(t, name, 1)
    assert "not writable" in str(caught.value)


@pytest.mark.parametrize("name", HIDDEN)
def test_each_is_a_method_of_another_library(name):
    import torch  # here, so that the other tests run where it is not installed

    assert hasattr(np.ndarray, name) or hasattr(torch.Tensor, name)


def test_dir_lists_what_there_is():
    names = dir(dt.zeros(1))
    assert names == sorted(names)
    there = {name for name in names if hasattr(dt.zeros(1, 1), name)}
    gpus = {"__cuda_array_interface__", "__sycl_usm_array_interface__"}
    assert set(names) - there == gpus  # of their tensors alone
    assert {"shape", "numpy", "__dlpack__"} < there


def test_dir_of_the_class_lists_what_its_objects_have():
    names = dir(dt.Tensor)
    assert not set(HIDDEN) & set(names) and {"shape", "numpy", "__dlpack__"} < set(names)
    assert isinstance(dt.Tensor, type) and type(dt.Tensor).__name__ == "TensorType"
    assert pickle.loads(pickle.dumps(dt.Tensor)) is dt.Tensor
    assert "__class__" in dir(type(dt.Tensor)("Other", (), {}))
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Other", (dt.Tensor,), {})


@pytest.mark.parametrize(
    ("typed", "meant"), [("shap", "shape"), ("nump", "numpy"), ("dtyp", "dtype")]
)
def test_python_suggests_the_name_that_was_meant(typed, meant):
    status, line = run_failing(f"import dovetail as dt; dt.zeros(1).{typed}")
    assert status == 1 and line.endswith(f"Did you mean: '{meant}'?")


def test_python_suggests_nothing_beside_the_remedy():
    for name in HIDDEN:
        status, line = run_failing(f"import dovetail as dt; dt.zeros(1).{name}")
        assert status == 1 and line.endswith("with a library that does"), line


@pytest.mark.parametrize("name", ["sum", "mean", "max", "argmax", "std", "cumsum", "round"])
def test_functions_of_numpy_that_would_call_them_compute(name):
    np.testing.assert_array_equal(getattr(np, name)(dt.arange(3)), getattr(np, name)(np.arange(3)))
