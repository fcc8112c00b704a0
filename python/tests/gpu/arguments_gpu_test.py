"""Tensors on emulated GPUs as arguments of C++ functions, which launch on the caller's stream."""

import sys
import types

import emulated_gpu
import nanobind_capsule_extension
import nanobind_extension
import numpy as np
import pybind11_extension
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())

EXTENSIONS = [nanobind_capsule_extension, nanobind_extension, pybind11_extension]
N = 64


@pytest.fixture(params=EXTENSIONS, ids=lambda extension: extension.__name__)
def ext(request):
    yield request.param
    GPU.finish()
    assert GPU.complaints() == []


def test_a_function_gets_the_device_pointer_and_the_current_stream(ext):
    x = dt.zeros(N, device="cuda:0")
    assert ext.on_cuda(x) == (x.data_ptr(), 0)
    stream = dt.Stream("cuda:0")
    with dt.stream(stream):
        assert ext.on_cuda(x) == (x.data_ptr(), stream.handle)
    assert ext.on_cuda(x) == (x.data_ptr(), 0)
    assert ext.address(x) == x.data_ptr()


def test_the_stream_is_that_of_the_arguments_device(ext):
    x = dt.zeros(N, device="cuda:1")
    first, second = dt.Stream("cuda:0"), dt.Stream("cuda:1")
    with dt.stream(first), dt.stream(second):
        assert ext.on_cuda(x) == (x.data_ptr(), second.handle)


class Producer:
    """Another library's tensor."""

    def __init__(self, tensor):
        self.tensor, self.asked = tensor, []

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **kwargs):
        self.asked.append(stream)
        return self.tensor.__dlpack__(stream=stream, **kwargs)


class LikeJax(Producer):
    """Works on a stream that it does not say, and takes each number for a stream, -1 too."""

    def __init__(self, value):
        super().__init__(dt.empty(N, device="cuda:0"))
        self.stream = GPU.make_stream(0)
        GPU.finish()
        GPU.set(self.stream, 0, self.tensor.data_ptr(), value, 4 * N)

    def __dlpack__(self, *, stream=None, **kwargs):
        self.asked.append(stream)
        if stream == -1:
            raise RuntimeError("invalid resource handle")
        if stream in (None, 1):
            GPU.synchronize(self.stream)
        else:
            GPU.record_and_wait(self.stream, stream, 0)
        return self.tensor.__dlpack__(stream=-1, **kwargs)


def read(pointer, stream):
    out = GPU.malloc(0, 4 * N)
    GPU.copy(stream, 0, out, pointer, 4 * N)
    GPU.synchronize(stream)
    return GPU.peek(out, 4 * N)


def test_a_library_that_says_no_stream_is_ordered_before_ours(ext):
    first, second = LikeJax(3), LikeJax(5)
    stream = dt.Stream("cuda:0")
    with dt.stream(stream):
        pointer, launch_on = ext.on_cuda(first)
        assert launch_on == stream.handle
        assert read(pointer, launch_on) == b"\x03" * 4 * N
    pointer, launch_on = ext.on_cuda(second)
    assert launch_on == 0
    assert GPU.peek(pointer, 4 * N) == b"\x05" * 4 * N
    assert first.asked == [stream.handle] and second.asked in ([1], [None])


def test_a_result_for_such_a_library_is_ordered_after_the_function():
    with dt.stream(dt.Stream("cuda:0")):
        y = nanobind_capsule_extension.like(LikeJax(3))
        launch_on = nanobind_capsule_extension.on_cuda(LikeJax(3))[1]
    GPU.set(launch_on, 0, y.data_ptr(), 7, 4 * N)
    consumer = GPU.make_stream(0)
    capsule = y.__dlpack__(stream=consumer)
    assert read(y.data_ptr(), consumer) == b"\x07" * 4 * N
    del capsule


# Under the name of CuPy's class. (Dovetail knows one class of a library in a process.)
CupyArray = type("ndarray", (Producer,), {"__module__": "cupy"})


def test_a_result_for_cupy_is_of_cupys_class(ext, monkeypatch):
    cupy = types.ModuleType("cupy")
    cupy.ndarray, cupy.from_dlpack = CupyArray, CupyArray
    cupy.cuda = types.ModuleType("cupy.cuda")
    current = types.SimpleNamespace(ptr=GPU.make_stream(0))
    cupy.cuda.get_current_stream = lambda: current
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cupy.cuda)
    x = CupyArray(dt.zeros(N, device="cuda:0"))
    assert ext.on_cuda(x) == (x.tensor.data_ptr(), current.ptr)
    assert x.asked == [-1]
    assert type(nanobind_capsule_extension.like(x)) is CupyArray


def test_a_declared_result_is_made_on_the_device_and_stream_of_the_first_tensor():
    ext = nanobind_capsule_extension
    x = dt.zeros(N, device="cuda:1")
    stream = dt.Stream("cuda:1")
    with dt.stream(stream):
        y = ext.k_out_on_cuda(x, None)
    assert type(y) is dt.Tensor and (y.device, y.shape) == (dt.Device("cuda:1"), (N,))
    assert ext.k_last_out() == (y.data_ptr(), stream.handle)
    out = dt.empty(N, device="cuda:1")
    assert ext.k_out_on_cuda(x, out) is out


def test_a_function_for_the_host_refuses_memory_on_a_gpu(ext):
    x = dt.zeros(N, device="cuda:0")
    with pytest.raises(TypeError, match=r"in host memory, and is on cuda:0.*device=.cpu"):
        ext.doubled(x)
    with pytest.raises(TypeError, match=r"must be on a cuda device, and is on cpu"):
        ext.on_cuda(np.zeros(3, np.float32))


def test_pinned_memory_is_host_memory(ext):
    x = dt.tensor([1.0, 2.0]).to("cuda_host")
    assert ext.c_contiguous(x) == x.data_ptr()


def test_a_copy_brings_an_argument_to_the_host_where_that_is_allowed():
    x = dt.tensor([1.0, 2.0, 3.0], device="cuda:0")
    assert nanobind_capsule_extension.copied(x) == (True, 3)


def test_a_result_on_a_gpu_is_on_the_arguments_device():
    x = dt.zeros(2, 3, device="cuda:1")
    y = nanobind_capsule_extension.like(x)
    assert type(y) is dt.Tensor
    assert (y.device, y.shape, y.dtype) == (x.device, x.shape, x.dtype)
    assert y.data_ptr() != x.data_ptr()


def test_what_is_borrowed_on_a_gpu_is_released(ext):
    GPU.finish()
    for _ in range(100):
        ext.address(Producer(dt.zeros(N, device="cuda:0")))
        ext.on_cuda(dt.zeros(N, device="cuda:0"))
