"""Tensors on emulated GPUs of both vendors, whose backends are registered as from another wheel."""

import struct

import emulated_gpu
import numpy as np
import pytest

import dovetail as dt

N = 64
NBYTES = 4 * N

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


@pytest.fixture(params=["cuda", "rocm"])
def vendor(request):
    yield request.param
    gpu = GPUS[request.param]
    gpu.finish()
    assert gpu.complaints() == []


@pytest.fixture
def gpu(vendor):
    return GPUS[vendor]


@pytest.fixture
def device(vendor):
    return f"{vendor}:0"


def counting(shape=(N,)):
    return dt.arange(int(np.prod(shape)), dtype=dt.int32).reshape(shape)


def ints(raw):
    return list(struct.unpack(f"{len(raw) // 4}i", raw))


class Consumer:
    """Another library, which reads an imported tensor on a stream of its own."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.stream = gpu.make_stream(0)
        self.out = gpu.malloc(0, NBYTES)

    def read(self, tensor):
        self.gpu.copy(self.stream, 0, self.out, tensor.data_ptr(), NBYTES)
        self.gpu.synchronize(self.stream)
        return ints(self.gpu.peek(self.out, NBYTES))


class Producer:
    """Another library's tensor, written on its own stream and ordered as __dlpack__ requires."""

    def __init__(self, gpu, vendor, value, device=None):
        self.gpu, self.vendor = gpu, vendor
        self.stream = gpu.make_stream(0)
        self.asked = []
        # A Dovetail tensor that nothing else refers to stands for the library's memory.
        self.tensor = dt.empty(N, dtype=dt.int32, device=device or f"{vendor}:0")
        gpu.finish()
        gpu.set(self.stream, 0, self.tensor.data_ptr(), value, NBYTES)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked.append(stream)
        if stream is not None and stream > 2:
            self.gpu.record_and_wait(self.stream, stream, 0)
        return self.tensor.__dlpack__(stream=-1, max_version=max_version)


def test_backends_tell_of_the_devices(vendor):
    assert dt.backends()[vendor] == 2


def test_a_capsule_is_taken_once(gpu):
    capsule = gpu.backend()
    with pytest.raises(RuntimeError, match="serves already"):
        dt.register_backend(capsule)
    with pytest.raises(TypeError, match="not used before"):
        dt.register_backend(capsule)
    with pytest.raises(TypeError):
        dt.register_backend(3)


def test_memory_on_the_device(vendor, device):
    t = dt.empty(3, 4, device=device)
    assert t.device == dt.Device(device)
    assert t.__dlpack_device__() == ({"cuda": 2, "rocm": 10}[vendor], 0)
    assert dt.zeros(3, device=f"{vendor}:1").tolist() == [0.0, 0.0, 0.0]
    assert dt.tensor([1, 2], device=device).tolist() == [1, 2]
    assert dt.full((2,), 7, device=device).tolist() == [7, 7]


def test_a_device_that_is_not_there(vendor):
    with pytest.raises(RuntimeError, match=f"no device {vendor}:7"):
        dt.empty(2, device=f"{vendor}:7")


def test_to_the_device_and_back(vendor, device):
    x = counting((4, 6))
    for view in (x, x.T, x[::-1, ::2], x[1]):
        y = view.to(device)
        assert y.device == dt.Device(device)
        assert y.tolist() == view.tolist()
        assert y.to("cpu").device == dt.Device("cpu")
        assert y.to(f"{vendor}:1").to("cpu").tolist() == view.tolist()
    y = x.to(device)
    assert y.T[::-1].tolist() == x.T[::-1].tolist()
    assert y.copy().tolist() == x.tolist()


def test_from_one_vendor_to_the_other(vendor, device):
    other = {"cuda": "rocm:1", "rocm": "cuda:1"}[vendor]
    x = counting((4, 6))
    y = x.to(device).T.to(other)
    assert y.device == dt.Device(other)
    assert y.tolist() == x.T.tolist()


def test_writes(device):
    t = dt.zeros(4, 4, dtype=dt.int32, device=device)
    t[1:3, ::2] = 5
    t[0] = counting((4,))
    expected = np.zeros((4, 4), dtype=np.int32)
    expected[1:3, ::2] = 5
    expected[0] = np.arange(4)
    assert t.tolist() == expected.tolist()


def test_printing(device):
    assert repr(dt.tensor([1, 2], device=device)) == f"tensor([1, 2], device='{device}')"


def test_numpy_is_refused_with_the_remedy(device):
    with pytest.raises(BufferError, match="can't reach memory"):
        dt.empty(2, device=device).numpy()


@pytest.mark.parametrize("kind", ["host", "managed"])
def test_pinned_and_managed_memory(vendor, device, kind):
    if kind == "managed" and vendor == "rocm":
        pytest.skip("DLPack has no code for managed memory of ROCm")
    code = {"cuda_host": 3, "cuda_managed": 13, "rocm_host": 11}[f"{vendor}_{kind}"]
    t = counting((4, 6)).to(f"{vendor}_{kind}")
    assert t.__dlpack_device__() == (code, 0)
    assert t.tolist() == counting((4, 6)).tolist()
    assert t.T.to(device).tolist() == counting((4, 6)).T.tolist()


# ---- Streams ----


def test_streams_and_events(gpu, device):
    s, t = dt.Stream(device), dt.Stream(device)
    assert s != t
    assert s == s  # noqa: PLR0124: its own equality
    for other in (None, s.handle, dt.Device(device), device, object()):
        assert (s == other) is False and (s != other) is True
    assert s.__eq__(None) is NotImplemented
    assert len({s, t}) == 2
    assert s.device == dt.Device(device)
    assert s.handle > 2
    assert s.__cuda_stream__() == (0, s.handle)
    event = s.record()
    assert event.device == dt.Device(device)
    t.wait(event)
    event.synchronize()
    assert event.query()
    t.synchronize()
    assert device in repr(s)


@pytest.mark.parametrize(("mine", "other"), [("cuda", "rocm"), ("rocm", "cuda")])
def test_the_host_waits_for_an_event_of_another_vendor(mine, other):
    stream = dt.Stream(f"{other}:0")
    with dt.stream(stream):
        x = counting().to(f"{other}:0")
        y = x.copy()
    event = stream.record()
    dt.Stream(f"{mine}:0").wait(event)
    assert event.query()
    assert y.tolist() == counting().tolist()


def test_the_current_stream(vendor, device):
    default = dt.current_stream(device)
    assert default.handle == 0
    s = dt.Stream(device)
    with dt.stream(s) as current:
        assert current == s
        assert dt.current_stream(device) == s
        assert dt.current_stream(f"{vendor}:1") == dt.current_stream(f"{vendor}:1")
        with dt.stream(dt.Stream(device)) as inner:
            assert dt.current_stream(device) == inner
        assert dt.current_stream(device) == s
    assert dt.current_stream(device) == default


def test_streams_of_other_libraries(gpu, device):
    handle = gpu.make_stream(0)

    class Protocol:
        def __cuda_stream__(self):
            return (0, handle)

    class Torch:
        cuda_stream = handle

    class CuPy:
        ptr = handle
        device_id = 0

    for stream in (handle, Protocol(), Torch(), CuPy()):
        with dt.stream(stream, device=device):
            assert dt.current_stream(device).handle == handle
    with dt.stream(0, device=device):
        assert dt.current_stream(device).handle == 0
    with pytest.raises(TypeError, match="is no stream"):
        dt.stream("s", device=device)


def test_a_stream_of_another_device_is_refused(gpu, vendor):
    handle = gpu.make_stream(1)
    with pytest.raises(RuntimeError, match=f"belongs to {vendor}:1"):
        dt.stream(handle, device=f"{vendor}:0")


# ---- DLPack ----


# Rules 46, 47.
def test_stream_codes(vendor, device):
    t = dt.empty(2, device=device)
    accepted = {"cuda": [None, 1, 2, -1], "rocm": [None, 0, -1]}[vendor]
    refused = {"cuda": [0, -2], "rocm": [1, 2, -2]}[vendor]
    for code in accepted:
        t.__dlpack__(stream=code)
    for code in refused:
        with pytest.raises(RuntimeError, match=f"no stream {code}"):
            t.__dlpack__(stream=code)


# Rule 49.
def test_a_consumers_stream_sees_the_work_that_is_pending(gpu, device):
    x = counting().to(device)
    consumer = Consumer(gpu)
    with dt.stream(dt.Stream(device)):
        y = x.copy()
    gpu.reset_counts()
    capsule = y.__dlpack__(stream=consumer.stream, max_version=(1, 3))
    assert gpu.counts()["host_waits"] == 0
    assert gpu.counts()["stream_waits"] >= 1
    assert consumer.read(y) == list(range(N))
    del capsule


# Rule 49.
def test_an_import_passes_our_stream_and_waits_for_the_producer(gpu, vendor, device):
    producer = Producer(gpu, vendor, 3)
    s = dt.Stream(device)
    with dt.stream(s):
        t = dt.from_dlpack(producer)
        assert producer.asked == [s.handle]
        assert t.copy().tolist() == [0x03030303] * N


# Rule 49.
def test_an_import_without_a_stream_names_the_default_one(gpu, vendor):
    producer = Producer(gpu, vendor, 3)
    dt.from_dlpack(producer)
    assert producer.asked == [{"cuda": 1, "rocm": 0}[vendor]]


@pytest.mark.parametrize("read", [np.asarray, lambda t: t.numpy(), memoryview, dt.Tensor.tolist])
def test_what_the_host_reads_of_managed_memory_is_ready(read):
    gpu = GPUS["cuda"]
    producer = Producer(gpu, "cuda", 3, device="cuda_managed")
    with dt.stream(dt.Stream("cuda:0")):
        t = dt.from_dlpack(producer)
    assert list(read(t)) == [0x03030303] * N
    assert gpu.complaints() == []


# Rule 42.
def test_dl_device_cpu_is_ready_on_return(gpu, device):
    t = counting().to(device)
    a = np.from_dlpack(t, device="cpu", copy=True)
    assert a.tolist() == list(range(N))
    with pytest.raises(RuntimeError):
        t.__dlpack__(dl_device=(1, 0), stream=1)


# Rule 40.
def test_a_copy_is_ordered_on_the_consumers_stream(gpu, device):
    consumer = Consumer(gpu)
    t = counting().to(device)
    taken = dt.from_dlpack(t.__dlpack__(stream=consumer.stream, max_version=(1, 3), copy=True))
    assert taken.data_ptr() != t.data_ptr()
    assert consumer.read(taken) == list(range(N))


def test_our_own_tensor_comes_back_as_it_is(device):
    t = dt.empty(4, device=device)
    assert dt.from_dlpack(t).data_ptr() == t.data_ptr()
    assert dt.from_dlpack(t.__dlpack__(max_version=(1, 3))).data_ptr() == t.data_ptr()


# Rule 50.
def test_memory_is_not_reused_while_a_consumer_reads(gpu, device):
    consumer = Consumer(gpu)
    with dt.stream(dt.Stream(device)) as s:
        t = counting().to(device)
        capsule = t.__dlpack__(stream=consumer.stream, max_version=(1, 3))
        gpu.copy(consumer.stream, 0, consumer.out, t.data_ptr(), NBYTES)
        del t, capsule
        for _ in range(8):
            dt.full((N,), -1, dtype=dt.int32, device=device)
        s.synchronize()
    gpu.finish()
    assert ints(gpu.peek(consumer.out, NBYTES)) == list(range(N))


# Rule 54.
def test_the_exchange_api_tells_the_current_stream(device):
    import ctypes

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(dt.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
    # The header is version (2 × uint32) and prev_api. Five functions follow; this calls the last.
    functions = (ctypes.c_void_p * 7).from_address(table)
    current = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
    )
    code = dt.empty(1, device=device).__dlpack_device__()[0]
    with dt.stream(dt.Stream(device)) as s:
        out = ctypes.c_void_p()
        assert current(functions[6])(code, 0, ctypes.byref(out)) == 0
    assert out.value == s.handle


# ---- __cuda_array_interface__ ----


class CudaArray:
    def __init__(self, interface):
        self.__cuda_array_interface__ = interface


# Rule 59.
def test_cuda_array_interface_out_names_the_stream(gpu, device):
    with dt.stream(dt.Stream(device)) as s:
        t = dt.empty(N, dtype=dt.int32, device=device)
    d = t.__cuda_array_interface__
    assert d["data"] == (t.data_ptr(), False)
    assert d["stream"] == s.handle
    assert dt.empty(N, device=device).__cuda_array_interface__["stream"] == 1


# Rule 59.
def test_cuda_array_interface_in_waits_for_the_stream(gpu, vendor, device):
    theirs = gpu.make_stream(0)
    data = gpu.malloc(0, NBYTES)
    gpu.set(theirs, 0, data, 5, NBYTES)
    interface = {"version": 3, "shape": (N,), "typestr": "<i4", "data": (data, False)}
    t = dt.from_cuda_array_interface(CudaArray({**interface, "stream": theirs}))
    assert t.device == dt.Device(device)
    gpu.destroy_stream(theirs)
    assert t.tolist() == [0x05050505] * N
    del t
    gpu.reset_counts()
    unsynchronised = dt.from_cuda_array_interface(CudaArray({**interface, "stream": None}))
    assert gpu.counts()["stream_waits"] == 0
    assert unsynchronised.data_ptr() == data
