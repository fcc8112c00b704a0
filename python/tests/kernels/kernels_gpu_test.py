"""Kernels that take tensors on emulated GPUs."""

import call_frame
import emulated_gpu
import numpy as np
import pytest
from libraries import k, path_of, refused

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


# (JAX has no emulated GPU: the handlers are called as XLA calls them.)
HANDLERS = {f.__name__: dt._core._xla_handlers(f)["CUDA"] for f in (k.stream_of, k.say_stream)}
GPU_0 = {"stream": 1234, "ordinal": 0}


def test_a_kernel_within_a_program_gets_the_programs_stream():
    x, out = dt.zeros(4, device="cuda:1"), np.zeros(2, np.int64)
    given = [(call_frame.F32, x.data_ptr(), (4,))]
    # (The result of this one is in host memory, and XLA's are all on the GPU.)
    words = "argument 'out' (jax.Array) must be in host memory, and is on cuda:1"
    written = [(call_frame.S64, out.ctypes.data, (2,))]
    handler = HANDLERS["stream_of"]
    refused(call_frame.Error, words, call_frame.run, handler, given, written, stream=7, ordinal=1)
    made = dt.zeros(4, device="cuda:1")
    written = [(call_frame.F32, made.data_ptr(), (4,))]
    words = "say_stream(): stream 7 of device 2:1"
    handler = HANDLERS["say_stream"]
    refused(call_frame.Error, words, call_frame.run, handler, given, written, stream=7, ordinal=1)


def test_bad_buffers_of_a_program_are_refused_by_name():
    x = dt.zeros(4, device="cuda:0")
    good, short = (call_frame.F32, x.data_ptr(), (4,)), (call_frame.F32, x.data_ptr(), (3,))
    handler = HANDLERS["say_stream"]
    words = (
        "say_stream(): argument 'out' (jax.Array) has size n = 3 in dimension 0, and argument 'x'"
    )
    refused(call_frame.Error, words, call_frame.run, handler, [good], [short], **GPU_0)
    words = "say_stream(): argument 'x' is of a type or a shape that kernels do not take"
    unknown = (30, x.data_ptr(), (4,))
    refused(call_frame.Error, words, call_frame.run, handler, [unknown], [good], **GPU_0)
    refused(call_frame.Error, words, call_frame.run, handler, [(11, 0, (4,))], [good], **GPU_0)
    words = "say_stream(): XLA passes other arguments than JAX traced"
    refused(call_frame.Error, words, call_frame.run, handler, [], [good], **GPU_0)
    refused(call_frame.Error, words, call_frame.run, handler, [good, good], [good], **GPU_0)


def test_tvm_ffi_passes_tensors_on_a_gpu_and_its_stream():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    m = tvm_ffi.load_module(path_of("kernel_library.so"))
    x, out = dt.zeros(4, device="cuda:1"), np.zeros(2, np.int64)
    stream = dt.Stream("cuda:1")
    with dt.stream(stream):
        m.stream_of(x, out)
    assert out.tolist() == [stream.handle, CUDA]
    m.beside(x, dt.zeros(4, device="cuda:1"))
    words = "argument 'x' (tvm_ffi.Tensor) must be in host memory, and is on cuda:1"
    refused(TypeError, words, m.scale_add, x, x, 1.0, x)
    words = "beside(): argument 'out' is on cuda:0, and argument 'x' is on cuda:1."
    refused(ValueError, words, m.beside, x, dt.zeros(4, device="cuda:0"))
