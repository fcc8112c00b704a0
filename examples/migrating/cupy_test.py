"""The rows of docs/migrating/cupy.md: lines that end in `# before`, `# after`.

CuPy needs a GPU: what is before is parsed, and not run. What is after runs on an emulated GPU, with
a stand-in for CuPy's class.
"""

import sys
import types

import emulated_gpu
import numpy as np
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())


class CupyArray:
    """The protocol of cupy.ndarray, over memory of the emulated GPU."""

    def __init__(self, x):
        self.tensor = dt.from_dlpack(x)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **arguments):
        return self.tensor.__dlpack__(**arguments)

    @property
    def __cuda_array_interface__(self):
        return self.tensor.__cuda_array_interface__


CupyArray = type("ndarray", (CupyArray,), {"__module__": "cupy"})


@pytest.fixture(autouse=True)
def cupy(monkeypatch):
    module = types.ModuleType("cupy")
    module.ndarray = module.from_dlpack = CupyArray
    module.cuda = types.ModuleType("cupy.cuda")
    current = types.SimpleNamespace(ptr=GPU.make_stream(0))
    module.cuda.get_current_stream = lambda: current
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "cupy.cuda", module.cuda)
    yield module
    GPU.finish()
    assert GPU.complaints() == []


def on_gpu():
    return dt.tensor([1, 2, 3]).to("cuda:0")


def test_a_tensor_is_taken(cupy):
    x = on_gpu()
    # y = cupy.from_dlpack(x)  # before
    y = dt.convert(x, cupy.ndarray)  # after
    assert type(y) is CupyArray and y.tensor.data_ptr() == x.data_ptr()


def test_a_tensor_is_given_without_a_capsule(cupy):
    y = cupy.from_dlpack(on_gpu())
    # c = y.toDlpack()  # before
    t = dt.from_dlpack(y)  # after
    assert t.data_ptr() == y.tensor.data_ptr()


def test_memory_of_the_host_is_copied_to_the_gpu_first(cupy):
    a = np.arange(3)
    # y = cupy.asarray(a)  # before
    y = dt.convert(dt.from_dlpack(a).to("cuda:0"), cupy.ndarray)  # after
    assert y.tensor.tolist() == [0, 1, 2]


def test_an_array_is_copied_to_the_host(cupy):
    y = cupy.from_dlpack(on_gpu())
    # a = cupy.asnumpy(y)  # before
    a = dt.from_dlpack(y).to("cpu").numpy()  # after
    assert a.tolist() == [1, 2, 3]


def test_read_only_memory_is_copied(cupy):
    t = on_gpu().broadcast_to((2, 3))
    assert t.readonly
    # y = cupy.from_dlpack(t)  # before
    y = dt.convert(t, cupy.ndarray)  # after
    assert y.tensor.data_ptr() != t.data_ptr() and y.tensor.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_an_array_comes_by_its_cuda_array_interface(cupy):
    x = cupy.from_dlpack(on_gpu())
    # y = cupy.asarray(x)  # before
    t = dt.from_cuda_array_interface(x)  # after
    assert t.data_ptr() == x.tensor.data_ptr() and t.tolist() == [1, 2, 3]


def test_work_goes_to_a_stream(cupy):
    stream = types.SimpleNamespace(ptr=GPU.make_stream(0), device_id=0)
    # with stream:  # before
    with dt.stream(stream):  # after
        assert dt.current_stream("cuda:0").handle == stream.ptr
        t = dt.from_dlpack(on_gpu())
    assert t.tolist() == [1, 2, 3]
