"""OwnedTensor as an argument."""

import nanobind_capsule_extension
import nanobind_extension
import numpy as np
import peers
import pybind11_extension
import pytest
import torch

EXTENSIONS = [nanobind_extension, nanobind_capsule_extension, pybind11_extension]


@pytest.fixture(params=EXTENSIONS, ids=lambda extension: extension.__name__)
def ext(request):
    return request.param


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
