"""Tensors of an emulated GPU as Dask sends them: the frame, and the tensor in one; without Dask."""

import emulated_gpu
import pytest

import dovetail as dt
from dovetail.dask import dump_cuda, load_cuda

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())


@pytest.fixture(autouse=True)
def no_complaints():
    yield
    GPU.finish()
    assert GPU.complaints() == []


class Received:
    """A frame as UCX receives it: other memory of the GPU, described by the array interface."""

    def __init__(self, frame):
        self.address = GPU.malloc(0, frame.nbytes)
        GPU.copy(GPU.make_stream(0), 0, self.address, frame.data_ptr(), frame.nbytes)
        GPU.finish()
        self.__cuda_array_interface__ = {
            "version": 3, "shape": (frame.nbytes,), "typestr": "|u1",
            "data": (self.address, False), "strides": None, "stream": None,
        }  # fmt: skip


def test_a_frame_is_the_tensors_memory_and_a_tensor_lies_in_the_received_frame():
    tensor = dt.arange(12, dtype="float32", device="cuda:0").reshape(3, 4).T
    header, (frame,) = dump_cuda(tensor)
    assert (frame.data_ptr(), frame.nbytes) == (tensor.data_ptr(), tensor.nbytes)
    received = Received(frame)
    back = load_cuda(header, [received])
    assert (back.data_ptr(), back.strides) == (received.address, (1, 4))
    assert back.to("cpu").tolist() == tensor.to("cpu").tolist()


def test_the_work_on_the_memory_is_done_before_it_is_sent():
    source = dt.full((16,), 7, dtype="int32", device="cuda:0")
    with dt.stream(dt.Stream("cuda:0")):
        tensor = source.copy()
    sevens = (7).to_bytes(4, "little") * 16
    assert GPU.peek(tensor.data_ptr(), tensor.nbytes) != sevens  # the copy has not run yet
    _, (frame,) = dump_cuda(tensor)
    assert GPU.peek(frame.data_ptr(), frame.nbytes) == sevens


def test_a_tensor_on_the_cpu_is_left_to_the_next_serialiser():
    with pytest.raises(NotImplementedError, match="cpu has no CUDA frames"):
        dump_cuda(dt.arange(3))


def test_headers_that_came_as_lists_are_taken():
    tensor = dt.zeros((2, 3), device="cuda:0").T
    header, frames = dump_cuda(tensor)
    header["fields"] = [list(f) if isinstance(f, tuple) else f for f in header["fields"]]
    assert load_cuda(header, frames).strides == tensor.strides
