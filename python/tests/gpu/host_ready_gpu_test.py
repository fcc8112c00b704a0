"""The host waits for a GPU before it reads or writes memory that both can reach.

The emulator runs each stream as late as it may, so that a missing wait shows as wrong values.
"""

import emulated_gpu
import nanobind_capsule_extension
import nanobind_extension
import numpy as np
import pybind11_extension
import pytest

import dovetail as dt
import dovetail.distributed

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())

KINDS = ["cuda_host", "cuda_managed"]
EXTENSIONS = [nanobind_capsule_extension, nanobind_extension, pybind11_extension]


@pytest.fixture(params=KINDS)
def kind(request):
    yield request.param
    GPU.finish()
    assert GPU.complaints() == []


@pytest.fixture(params=EXTENSIONS, ids=lambda extension: extension.__name__)
def ext(request):
    return request.param


class Written:
    """Another library's array of four elements, whose bytes are 0 until a kernel sets them."""

    def __init__(self, kind, value, dtype):
        self.memory = dt.zeros(4, dtype=dtype, device=kind)
        nbytes = self.memory.nbytes
        self.stream = GPU.make_stream(0)
        GPU.finish()
        GPU.set(self.stream, 0, self.memory.data_ptr(), value, nbytes)
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (self.memory.data_ptr(), False),
            "stream": self.stream,
        }


def late(kind, value, dtype=dt.int32):
    """A tensor of four elements on which that kernel is pending."""
    tensor = dt.from_cuda_array_interface(Written(kind, value, dtype)).view(dtype)
    assert tensor.device == dt.Device(kind)
    return tensor


THREES = 0x03030303


# ---- What libraries on the host read ----


def test_an_export_to_a_consumer_without_a_stream_waits_for_the_work(kind):
    tensor = late(kind, 3)
    assert np.from_dlpack(tensor).tolist() == [THREES] * 4


def test_an_export_that_names_a_stream_or_none_at_all_does_not_wait(kind):
    for stream in (1, -1):
        tensor = late(kind, 3)
        capsule = tensor.__dlpack__(stream=stream, max_version=(1, 0))
        assert GPU.peek(tensor.data_ptr(), 4) == bytes(4)
        del capsule


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_a_copy_in_pinned_memory_is_made_from_every_device(device):
    tensor = dt.tensor([3, 4, 5], device=device)
    capsule = tensor.__dlpack__(dl_device=(3, 0), max_version=(1, 0))
    copy = dt.from_dlpack(capsule)
    assert copy.device == dt.Device("cuda_host")
    assert np.from_dlpack(copy).tolist() == [3, 4, 5]


def test_pinned_memory_is_ready_when_its_description_was_synchronized():
    tensor = late("cuda_host", 3)
    dt.distributed.describe(tensor).synchronize()
    assert GPU.peek(tensor.data_ptr(), 4) == bytes([3] * 4)


# ---- What the host reads ----


def test_a_tensor_in_a_list_is_read_after_the_work_on_it(kind):
    assert dt.tensor([late(kind, 3), late(kind, 5)]).tolist() == [[THREES] * 4, [0x05050505] * 4]


def test_a_tensor_in_an_assigned_list_is_read_after_the_work_on_it(kind):
    u = dt.zeros(4, dtype=dt.int32)
    u[:] = [late(kind, 3)[0], 1, late(kind, 5)[0], 2]
    assert u.tolist() == [THREES, 1, 0x05050505, 2]


@pytest.mark.parametrize("dtype", [dt.int32, dt.float64])
def test_an_assigned_element_is_read_after_the_work_on_it(kind, dtype):
    u = dt.zeros(4, dtype=dtype)
    u[1] = late(kind, 3)[0]
    assert u.tolist() == [0, THREES, 0, 0]


def test_a_fill_value_is_read_after_the_work_on_it(kind):
    assert dt.full((2,), late(kind, 3)[0]).tolist() == [THREES] * 2


def test_a_checked_conversion_reads_after_the_work(kind):
    assert dt.tensor(late(kind, 3), dtype=dt.uint32).tolist() == [THREES] * 4
    with pytest.raises(OverflowError):
        dt.tensor(late(kind, 3), dtype=dt.int8)


def test_elements_that_share_bytes_are_read_after_the_work_on_them(kind):
    u = dt.zeros(4, dtype=dt.int4)
    u[1:3] = late(kind, 0x33, dtype=dt.int4)[2:]
    assert u.tolist() == [0, 3, 3, 0]


# ---- What the host writes ----


def test_an_element_is_written_after_the_work_on_the_tensor(kind):
    t = late(kind, 3)
    t[1] = 7
    GPU.finish()
    assert t.tolist() == [THREES, 7, THREES, THREES]


def test_an_element_that_starts_inside_a_byte_is_written_after_the_work(kind):
    t = late(kind, 0x33, dtype=dt.int4)
    t[1] = 7
    GPU.finish()
    assert t.tolist() == [3, 7, 3, 3]


def test_elements_that_start_inside_a_byte_are_written_after_the_work(kind):
    t = late(kind, 0x33, dtype=dt.int4)
    t[1:3] = dt.tensor([1, 2], dtype=dt.int4)
    GPU.finish()
    assert t.tolist() == [3, 1, 2, 3]


# ---- Memory that the host can't reach ----


@pytest.mark.parametrize("dtype", [dt.int32, dt.float64])
def test_a_number_on_a_gpu_is_copied_to_the_host(dtype):
    t = dt.full((1,), 5, dtype=dt.int32, device="cuda:0")
    u = dt.zeros(2, dtype=dtype)
    u[1] = t[0]
    u[0] = t
    assert u.tolist() == [5, 5]
    assert dt.tensor([t, t]).tolist() == [[5], [5]]
    assert dt.full((2,), t[0]).tolist() == [5, 5]
    u[:] = [t[0], 1]
    assert u.tolist() == [5, 1]


def test_elements_that_share_bytes_on_a_gpu_are_copied_to_the_host():
    t = dt.tensor([1, 2, 3, 4], dtype=dt.int4, device="cuda:0")
    u = dt.zeros(4, dtype=dt.int4)
    u[1:3] = t[:2]
    assert u.tolist() == [0, 1, 2, 0]


def test_part_of_a_byte_on_a_gpu_is_not_written():
    t = dt.zeros(4, dtype=dt.int4, device="cuda:0")
    with pytest.raises(dt.ExchangeError, match="can't reach memory on cuda:0"):
        t[1] = 3
    with pytest.raises(dt.ExchangeError, match="can't reach memory on cuda:0"):
        t[1:3] = dt.tensor([1, 2], dtype=dt.int4)


def test_a_number_on_a_gpu_is_a_copy_that_no_copies_forbids():
    t = dt.zeros(1, device="cuda:0")
    with dt.no_copies(), pytest.raises(dt.ExchangeError):
        dt.tensor([t])


# ---- Functions of extensions ----

FLOAT = float(np.frombuffer(b"\x3f" * 4, np.float32)[0])


def test_a_function_for_the_host_reads_an_argument_after_the_work_on_it(ext, kind):
    assert ext.copied(late(kind, 0x3F, dtype=dt.float32)) == (False, FLOAT)
    matrix = late(kind, 0x3F, dtype=dt.float32).reshape(2, 2)
    assert ext.elements(matrix) == pytest.approx(10 * FLOAT)


def test_a_function_for_the_host_waits_for_work_on_a_stream_of_its_own(ext, kind):
    with dt.stream(dt.Stream("cuda:0")):
        x = late(kind, 0x3F, dtype=dt.float32)
        assert ext.copied(x) == (False, FLOAT)
    with dt.stream(dt.Stream("cuda:0")):
        x = late(kind, 0x3F, dtype=dt.float32)
    assert ext.copied(x) == (False, FLOAT)


def test_a_function_for_the_host_writes_an_argument_after_the_work_on_it(ext, kind):
    one, out = dt.full((4,), 1.0), late(kind, 0x3F, dtype=dt.float32)
    ext.add(one, one, out)
    GPU.finish()
    assert out.tolist() == [2.0] * 4


# (An extension with Dovetail linked in has no backend for a copy, or to tell what an address is.)
def test_a_converted_argument_is_read_after_the_work_on_it(kind):
    assert nanobind_capsule_extension.cast(late(kind, 3)) == (True, float(np.float32(THREES)))


def test_an_argument_of_another_library_is_read_after_the_work_on_it(kind):
    x = Written(kind, 0x3F, dt.float32)
    x.__cuda_array_interface__.update(shape=(4,), typestr="<f4")
    assert nanobind_capsule_extension.copied(x) == (False, FLOAT)


class Producer:
    """Another library's tensor, which orders its stream before the consumer's."""

    def __init__(self):
        self.written = Written("cuda_managed", 0x3F, dt.float32)
        self.asked = []

    def __dlpack_device__(self):
        return self.written.memory.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **kwargs):
        self.asked.append(stream)
        if stream is not None and stream != -1:
            GPU.record_and_wait(self.written.stream, 0 if stream == 1 else stream, 0)
        return self.written.memory.__dlpack__(stream=-1, **kwargs)


# Under the name of CuPy's class, which says its stream. (Dovetail knows one class of a library in a
# process.)
CupyArray = type("ndarray", (Producer,), {"__module__": "cupy"})


@pytest.mark.parametrize("producer", [Producer, CupyArray])
def test_a_function_for_the_host_waits_for_a_producer(ext, producer):
    x = producer()
    with dt.stream(dt.Stream("cuda:0")) as stream:
        assert ext.copied(x) == (False, FLOAT)
    assert set(x.asked) == {stream.handle}
    GPU.finish()
    assert GPU.complaints() == []


def test_a_function_for_any_device_does_not_wait(ext):
    x = late("cuda_managed", 0x3F, dtype=dt.float32)
    GPU.reset_counts()
    assert ext.address(x) == x.data_ptr()
    assert GPU.counts()["host_waits"] == 0
