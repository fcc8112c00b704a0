"""OwnedTensor as an argument, and in functions that release the GIL."""

import numpy as np
import peers
import pytest
import torch
from process import run_python

pytest_plugins = ["bindings"]


def read_only():
    x = np.float32([1, 2])
    x.flags.writeable = False
    return [x, peers.JAX.make("float32", [1, 2]), np.float32([1, 2]).tobytes()]


def test_memory_that_is_read_only_is_not_written(ext):
    for x in read_only()[:2]:
        for function, argument in [(ext.fill, x), (ext.fill_all, [np.float32([0]), x])]:
            with pytest.raises(RuntimeError, match="read-only"):
                function(argument)
        assert np.asarray(x).tolist() == [1, 2]
        assert ext.first(x) == 1


def test_other_memory_is_written(ext):
    x, y = np.float32([1, 2]), torch.tensor([1.0, 2.0])
    ext.fill(x)
    assert x.tolist() == [7, 2] and ext.first(x) == 7
    ext.fill_all([x[1:], y])
    assert x.tolist() == [7, 7] and y.tolist() == [7, 2]


WITHOUT_GIL = """
import {extension} as ext
import numpy as np
x = np.float32([1])
assert ext.empty_without_gil(x, 3).shape == (3,)
assert ext.wrapped_without_gil(1).tolist() == [1]
for _ in range(10):
    for function, arguments in [
        (ext.empty_without_gil, (x, -1)),
        (ext.wrapped_without_gil, (2,)),
    ]:
        try:
            function(*arguments)
        except ValueError as error:
            assert str(error)
        else:
            raise AssertionError("no error")
"""


@pytest.mark.parametrize("name", ["nanobind_extension", "pybind11_extension"])
def test_a_tensor_that_cant_be_made_without_the_gil_is_an_error(name):
    run_python(WITHOUT_GIL.format(extension=name))
