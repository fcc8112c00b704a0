"""A kernel library that was compiled for version 1.0 of the interface runs on this package.

testdata/kernels_1_0_x86_64.so is examples/kernel_library/kernels.cc, compiled by g++ 12 with the
headers of Dovetail 0.1.0. It is not compiled anew: that it still runs is the test.
"""

import platform

import numpy as np
import pytest
from libraries import refused

import dovetail as dt

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="compiled for x86-64")
PATH = __file__.replace("abi_test.py", "testdata/kernels_1_0_x86_64.so")


@pytest.fixture(scope="module")
def kernels():
    return dt.load_kernels(PATH, namespace="of_1_0")


def test_a_library_of_1_0_has_its_kernels(kernels):
    assert [function.__name__ for function in kernels] == ["scale_add", "limit"]
    assert kernels.limit.__doc__.startswith("Limit the elements of x, in place.")


def test_kernels_of_1_0_compute(kernels):
    x = np.arange(4, dtype=np.float32)
    assert kernels.scale_add(x, x, 2.0).tolist() == [0, 3, 6, 9]
    assert kernels.limit(x, 1, high=2).tolist() == [1, 1, 2, 2]
    refused(ValueError, "limit(): low is above high", kernels.limit, x, 2)
    words = "argument 'y' (numpy.ndarray) must be float32"
    refused(TypeError, words, kernels.scale_add, x, x.astype(int), 1)


def test_operators_of_1_0_compute(kernels):
    torch = pytest.importorskip("torch")
    x = torch.ones(3)
    assert torch.ops.of_1_0.scale_add(x, x, 2.0).tolist() == [3, 3, 3]
