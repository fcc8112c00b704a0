"""kernels.cu on emulated GPUs: its own code, compiled by the C++ compiler, and its own launches.
Their work runs as late as the order of streams allows. cuda_runtime.h says what is emulated."""

import ctypes
import re

import emulated_gpu
import numpy as np
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())
RUNTIME = ctypes.CDLL("tests/emulated_cuda/runtime/libemulated_cudart.so")
RUNTIME.EmulateCudaRuntime(ctypes.c_void_p(GPU.runtime_api()))
k = dt.load_kernels("examples/kernels_cuda/emulated_kernels.so", namespace="kernels_cuda")

ROWS, N = 3, 300  # more elements in a row than a block has threads
BYTES = 4 * ROWS * N


@pytest.fixture(autouse=True)
def no_complaint_is_left():
    yield
    GPU.finish()
    assert GPU.complaints() == []


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X, WEIGHT = random(ROWS, N), random(N, seed=1)


def on(device, array, dtype="float32"):
    return dt.from_dlpack(array).to(dtype=dtype).to(device)


def values(tensor):
    return np.array(tensor.to("cpu").tolist(), np.float64)


def expected(x=X, weight=WEIGHT, eps=1e-6):
    x = np.asarray(x, np.float64)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def memory(tensor):
    """What is in the device's memory now."""
    return np.frombuffer(GPU.peek(tensor.data_ptr(), BYTES), np.float32).reshape(ROWS, N)


@pytest.mark.parametrize("dtype, error", [("float32", 1e-6), ("float16", 1e-3), ("bfloat16", 1e-2)])
@pytest.mark.parametrize("shape", [(ROWS, N), (7,), (2, 1, 3, 256), (4, 1)])
def test_the_values_are_those_of_numpy(dtype, error, shape):
    x, weight = (on("cuda:0", random(*s), dtype) for s in (shape, shape[-1:]))
    result = k.rms_norm(x, weight, eps=0.5)
    assert (result.dtype, result.shape) == (x.dtype, shape)
    wanted = expected(values(x), values(weight), eps=0.5)
    assert np.allclose(values(result), wanted, rtol=error, atol=error)


def test_a_result_is_made_on_the_device_of_x_and_by_its_library():
    for device in ("cuda:0", "cuda:1", "cuda:0"):
        result = k.rms_norm(on(device, X), on(device, WEIGHT))
        assert (type(result), str(result.device)) == (dt.Tensor, device)
        assert np.allclose(values(result), expected(), rtol=1e-6)


def test_a_given_result_is_written_and_returned():
    x, weight = on("cuda:1", X), on("cuda:1", WEIGHT)
    out = dt.zeros(ROWS, N, device="cuda:1")
    assert k.rms_norm(x, weight, out=out) is out
    assert k.rms_norm(x, weight, out=x) is x  # in place
    assert np.allclose([values(out), values(x)], expected(), rtol=1e-6)


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_the_launch_goes_to_the_current_stream(device):
    x, weight, out = on(device, X), on(device, WEIGHT), dt.zeros(ROWS, N, device=device)
    GPU.finish()
    stream, other = dt.Stream(device), dt.Stream(device)
    GPU.reset_counts()
    with dt.stream(stream):
        k.rms_norm(x, weight, out=out)
    assert (GPU.counts()["launches"], GPU.counts()["host_waits"]) == (1, 0)
    GPU.synchronize(other.handle)
    assert not memory(out).any()
    GPU.synchronize(stream.handle)
    assert np.allclose(memory(out), expected(), rtol=1e-6)


def test_without_a_current_stream_the_launch_goes_to_the_default_one():
    x, weight, out = on("cuda:0", X), on("cuda:0", WEIGHT), dt.zeros(ROWS, N, device="cuda:0")
    GPU.finish()
    other = dt.Stream("cuda:0")
    k.rms_norm(x, weight, out=out)
    GPU.synchronize(other.handle)
    assert not memory(out).any()
    GPU.synchronize(0)
    assert np.allclose(memory(out), expected(), rtol=1e-6)


def test_a_kernel_runs_between_what_the_stream_did_before_and_does_after():
    weight = on("cuda:0", WEIGHT)
    source = on("cuda:0", X)
    x, copy, zeros = (dt.zeros(ROWS, N, device="cuda:0") for _ in range(3))
    GPU.finish()
    with dt.stream(dt.Stream("cuda:0")):
        dt.copyto(x, source)
        out = k.rms_norm(x, weight)
        dt.copyto(copy, out)
        dt.copyto(x, zeros)
    del out  # its memory may be used again only after that
    assert np.allclose(values(copy), expected(), rtol=1e-6)


def refused(error, words, *arguments, **named):
    """The call fails with the words, launches nothing and waits for nothing."""
    GPU.finish()
    GPU.reset_counts()
    with pytest.raises(error, match=re.escape(words)):
        k.rms_norm(*arguments, **named)
    assert (GPU.counts()["launches"], GPU.counts()["host_waits"]) == (0, 0)


def test_host_memory_is_refused():
    x, weight = on("cuda:0", X), on("cuda:0", WEIGHT)
    words = "rms_norm(): argument 'x' (numpy.ndarray) must be on a cuda device, and is on cpu"
    refused(TypeError, words, X, weight)
    words = "rms_norm(): argument 'weight' (numpy.ndarray) must be on a cuda device, and is on cpu"
    refused(TypeError, words, x, WEIGHT)
    words = "rms_norm(): argument 'out' (numpy.ndarray) must be on a cuda device, and is on cpu"
    refused(TypeError, words, x, weight, out=np.empty_like(X))


def test_tensors_on_two_devices_are_refused():
    x, weight = on("cuda:0", X), on("cuda:1", WEIGHT)
    words = "rms_norm(): argument 'weight' is on cuda:1, and argument 'x' is on cuda:0."
    refused(ValueError, words, x, weight)
    words = "rms_norm(): argument 'out' is on cuda:0, and argument 'x' is on cuda:1."
    refused(ValueError, words, on("cuda:1", X), weight, out=x)


def test_sizes_that_differ_are_refused():
    x, weight = on("cuda:0", X), on("cuda:0", WEIGHT)
    words = f"argument 'weight' (dovetail.Tensor) has size n = {N - 1} in dimension 0, and"
    refused(ValueError, words, x, on("cuda:0", WEIGHT[1:]))
    refused(ValueError, "argument 'out'", x, weight, out=dt.zeros(ROWS + 1, N, device="cuda:0"))


def test_a_result_that_is_read_only_or_of_another_type_is_refused():
    x, weight = on("cuda:0", X), on("cuda:0", WEIGHT)
    read_only = dt.zeros(1, N, device="cuda:0").broadcast_to((1, N))
    assert read_only.readonly
    refused(dt.ExchangeError, "argument 'out'", x[:1], weight, out=read_only)
    refused(TypeError, "argument 'out'", x, weight, out=on("cuda:0", X, "float16"))


def test_strided_tensors_are_refused():
    x, weight = on("cuda:0", X), on("cuda:0", WEIGHT)
    refused(ValueError, "argument 'x'", x[:, ::2], weight[: N // 2])


def test_a_tensor_without_elements_launches_nothing():
    x, weight = dt.zeros(0, N, device="cuda:1"), on("cuda:1", WEIGHT)
    GPU.finish()
    GPU.reset_counts()
    assert k.rms_norm(x, weight).shape == (0, N)
    assert GPU.counts()["launches"] == 0


def test_the_device_that_was_current_before_is_so_again():
    device = ctypes.c_int(-1)
    RUNTIME.cudaSetDevice(1)
    k.rms_norm(on("cuda:0", X), on("cuda:0", WEIGHT))
    RUNTIME.cudaGetDevice(ctypes.byref(device))
    assert device.value == 1
    RUNTIME.cudaSetDevice(0)
