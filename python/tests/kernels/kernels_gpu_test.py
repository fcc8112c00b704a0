"""Kernels that take tensors on emulated GPUs."""

import emulated_gpu
import numpy as np
import pytest
from libraries import k, refused

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())
CUDA = 2  # DLPack's code


@pytest.fixture(autouse=True)
def no_fault_is_left():
    yield
    GPU.finish()
    assert GPU.complaints() == []


def test_a_kernel_gets_the_current_stream_of_the_tensors_device():
    x = dt.zeros(4, device="cuda:1")
    assert k.stream_of(x).tolist() == [0, CUDA]
    first, second = dt.Stream("cuda:0"), dt.Stream("cuda:1")
    with dt.stream(first), dt.stream(second):
        assert k.stream_of(x).tolist() == [second.handle, CUDA]


def test_a_result_is_made_on_the_device_of_the_first_tensor():
    x = dt.zeros(4, device="cuda:1")
    made = k.beside(x)
    assert (str(made.device), made.shape) == ("cuda:1", (4,))
    out = dt.zeros(4, device="cuda:1")
    assert k.beside(x, out) is out
    words = "beside(): argument 'out' is on cuda:0, and argument 'x' is on cuda:1."
    refused(ValueError, words, k.beside, x, dt.zeros(4, device="cuda:0"))


def test_a_kernel_for_the_host_refuses_a_gpu():
    x = dt.zeros(4, device="cuda:0")
    words = "argument 'x' (dovetail.Tensor) must be in host memory, and is on cuda:0"
    refused(TypeError, words, k.scale_add, x, x, 1.0)
    assert k.beside(np.zeros(3, np.float32)).shape == (3,)
