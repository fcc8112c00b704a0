"""A program's own memory on an emulated GPU: an object, and stand-ins for other libraries' pools.

The stand-ins have the signatures that RMM, CuPy and PyTorch publish, over the emulator's memory.
The libraries themselves need a real GPU: tests/real_gpu/user_allocators_test.py.
"""

import sys
import threading
import types

import emulated_gpu
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())
DEVICE = "cuda:0"


class Pool:
    """Counts, and poisons memory that comes back, in the order of its stream."""

    def __init__(self):
        self.live = {}
        self.calls = []
        self.failures = []

    def take(self, nbytes, device, stream):
        self.calls.append(("allocate", nbytes, device, stream))
        if self.failures:
            raise self.failures.pop(0)
        pointer = GPU.malloc(device, nbytes)
        self.live[pointer] = nbytes
        return pointer

    def give(self, pointer, nbytes, device, stream):
        self.calls.append(("deallocate", nbytes, device, stream))
        assert nbytes is None or self.live[pointer] == nbytes
        GPU.set(stream or 1, device, pointer, 0xDF, self.live.pop(pointer))

    def counts(self):
        return [sum(call[0] == name for call in self.calls) for name in ("allocate", "deallocate")]


class Resource:
    """Any object with the two methods."""

    def __init__(self, pool):
        self.pool = pool

    def allocate(self, nbytes, stream):
        assert isinstance(stream, dt.Stream)
        return self.pool.take(nbytes, stream.device.index, stream.handle)

    def deallocate(self, pointer, nbytes, stream):
        self.pool.give(pointer, nbytes, stream.device.index, stream.handle)


class RmmStream:
    def __init__(self, obj):
        version, self.handle = obj.__cuda_stream__()
        assert version == 0


class DeviceMemoryResource:
    def __init__(self, pool):
        self.pool = pool

    def allocate(self, nbytes, stream=None):
        assert type(stream) is RmmStream
        return self.pool.take(nbytes, 0, stream.handle)

    def deallocate(self, ptr, nbytes, stream=None):
        assert type(stream) is RmmStream
        self.pool.give(ptr, nbytes, 0, stream.handle)


CURRENT = threading.local()  # CuPy's device and stream


class CupyContext:
    """cupy.cuda.Device and ExternalStream."""

    def __init__(self, what, value):
        self.what, self.value = what, value

    def __enter__(self):
        self.before = getattr(CURRENT, self.what, 0)
        setattr(CURRENT, self.what, self.value)

    def __exit__(self, *error):
        setattr(CURRENT, self.what, self.before)


class CupyMemory:
    def __init__(self, pool, nbytes):
        self.pool, self.ptr = pool, None
        self.device, self.stream = CURRENT.device, CURRENT.stream
        self.ptr = pool.take(nbytes, self.device, self.stream)

    def __del__(self):
        if self.ptr is not None:
            self.pool.give(self.ptr, None, self.device, self.stream)


class CupyPool:
    def __init__(self, pool):
        self.pool = pool

    def malloc(self, size):
        return CupyMemory(self.pool, size)


def torch_cuda(pool):
    module = types.ModuleType("torch.cuda")
    streams = {}

    class OutOfMemoryError(RuntimeError):
        pass

    def caching_allocator_alloc(size, device=None, stream=None):
        assert isinstance(device, int) and isinstance(stream, int)
        try:
            pointer = pool.take(size, device, stream)
        except MemoryError as error:
            raise OutOfMemoryError("CUDA out of memory.") from error
        streams[pointer] = device, stream
        return pointer

    def caching_allocator_delete(mem_ptr):
        pool.give(mem_ptr, None, *streams.pop(mem_ptr))

    module.OutOfMemoryError = OutOfMemoryError
    module.caching_allocator_alloc = caching_allocator_alloc
    module.caching_allocator_delete = caching_allocator_delete
    return module


ALLOCATORS = {
    "object": Resource,
    "rmm": DeviceMemoryResource,
    "cupy": CupyPool,
    "torch": torch_cuda,
}


@pytest.fixture
def libraries(monkeypatch):
    rmm = types.ModuleType("rmm")
    rmm.mr = types.SimpleNamespace(DeviceMemoryResource=DeviceMemoryResource)
    rmm.pylibrmm = types.SimpleNamespace(stream=types.SimpleNamespace(Stream=RmmStream))
    monkeypatch.setitem(sys.modules, "rmm", rmm)
    cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(
        MemoryPool=CupyPool,
        Device=lambda index: CupyContext("device", index),
        ExternalStream=lambda handle, index: CupyContext("stream", handle),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)


@pytest.fixture
def pool():
    return Pool()


@pytest.fixture(params=ALLOCATORS)
def allocator(request, pool, libraries):
    return ALLOCATORS[request.param](pool)


@pytest.fixture(autouse=True)
def restore():
    yield
    for device in ("cuda:0", "cuda:1"):
        for kind in ("device", "pinned"):
            dt.set_allocator(device, None, kind)
        dt.trim_memory(device)
    GPU.finish()
    assert GPU.complaints() == []


def drain():
    dt.empty(1, dtype=dt.uint8, device="cuda:1")


def test_each_gives_the_memory_of_new_tensors(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    t = dt.arange(6).to(DEVICE)
    assert pool.live == {t.data_ptr(): 48}
    assert t.tolist() == [0, 1, 2, 3, 4, 5]
    assert (t.copy().to("cpu").tolist(), pool.counts()[0]) == ([0, 1, 2, 3, 4, 5], 2)
    del t
    dt.trim_memory(DEVICE)
    assert pool.live == {}


def test_memory_of_one_stream_goes_back_on_it(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    stream = dt.Stream(DEVICE)
    with dt.stream(stream):
        t = dt.empty(100, dtype=dt.uint8, device=DEVICE)
    assert pool.calls == [("allocate", 100, 0, stream.handle)]
    GPU.reset_counts()
    del t
    drain()
    assert pool.calls[1][0] == "deallocate" and pool.calls[1][2:] == (0, stream.handle)
    assert GPU.counts()["host_waits"] == 0


def test_memory_that_another_stream_uses_waits_for_its_work(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    first, second = dt.Stream(DEVICE), dt.Stream(DEVICE)
    with dt.stream(first):
        t = dt.tensor([1, 2, 3], device=DEVICE)
    with dt.stream(second):
        u = t.copy()
    del t
    drain()
    assert pool.counts() == [2, 0]
    assert u.tolist() == [1, 2, 3]
    first.synchronize()
    for _ in range(4):
        drain()
    assert pool.calls[-1][2:] == (0, first.handle)


def test_statistics_are_of_the_allocator_in_use(allocator, pool):
    before = dt.allocator_stats(DEVICE)
    dt.set_allocator(DEVICE, allocator)
    t = dt.empty(1000, dtype=dt.uint8, device=DEVICE)
    stats = dt.allocator_stats(DEVICE)
    assert stats["allocated_bytes"] == stats["reserved_bytes"] == stats["peak_bytes"] == 1000
    assert (stats["allocations"], stats["retries"]) == (1, 0)
    del t
    dt.set_allocator(DEVICE, None)
    assert dt.allocator_stats(DEVICE) == before


def test_memory_goes_back_to_where_it_came_from(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    t = dt.empty(100, device=DEVICE)
    dt.set_allocator(DEVICE, "direct")
    u = dt.empty(100, device=DEVICE)
    assert (list(pool.live), pool.counts()) == ([t.data_ptr()], [1, 0])
    del t, u
    drain()
    assert (pool.live, pool.counts()) == ({}, [1, 1])


def test_out_of_memory_it_is_asked_once_more(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    pool.failures = [MemoryError("full")]
    t = dt.empty(10, device=DEVICE)
    assert pool.counts() == [2, 0]
    assert dt.allocator_stats(DEVICE)["retries"] == 1
    pool.failures = [MemoryError("full"), MemoryError("still full")]
    with pytest.raises(MemoryError, match="Out of memory on cuda:0, the program's allocator") as e:
        dt.empty(10, device=DEVICE)
    assert isinstance(e.value.__cause__, MemoryError)
    assert pool.counts() == [4, 0]
    del t


def test_other_exceptions_are_the_cause(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    pool.failures = [ValueError("broken")]
    with pytest.raises(RuntimeError, match="allocator raised: ValueError: broken") as e:
        dt.empty(10, device=DEVICE)
    assert type(e.value.__cause__) is ValueError
    pool.failures = [ValueError("broken")]
    with pytest.raises(RuntimeError) as e:
        dt.arange(100_000).to(DEVICE)
    assert type(e.value.__cause__) is ValueError
    assert pool.counts() == [2, 0]


def test_an_interrupt_in_an_allocator_is_itself(pool):
    dt.set_allocator(DEVICE, Resource(pool))
    pool.failures = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        dt.empty(10, device=DEVICE)
    dt.empty(10, device=DEVICE)


def test_allocation_on_a_captured_stream_is_refused_before_the_call(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    stream = dt.Stream(DEVICE)
    GPU.begin_capture(stream.handle, 0)
    with dt.stream(stream), pytest.raises(BufferError, match="captured into a graph"):
        dt.empty(10, device=DEVICE)
    assert GPU.end_capture(stream.handle, 0)
    assert pool.calls == []


def test_copies_on_many_threads(allocator, pool):
    dt.set_allocator(DEVICE, allocator)
    source = dt.arange(5000)
    expected = source.tolist()
    wrong = []

    def work():
        for _ in range(10):
            t = source.to(DEVICE)
            if t.tolist() != expected:
                wrong.append(t)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    dt.trim_memory(DEVICE)
    assert pool.live == {}


def test_a_gpus_pool_is_refused_for_other_memory(allocator, pool):
    if type(allocator) is Resource:
        return
    with pytest.raises(ValueError, match=r"a GPU's, and can't be memory of cpu"):
        dt.set_allocator("cpu", allocator)
    if isinstance(allocator, types.ModuleType):
        with pytest.raises(ValueError, match="not pinned memory"):
            dt.set_allocator(DEVICE, allocator, "pinned")
        with pytest.raises(ValueError, match="not managed memory"):
            dt.set_allocator("cuda_managed", allocator)
    assert pool.calls == []


def test_sharing_with_processes_is_up_to_the_memory(pool):
    dt.set_allocator(DEVICE, Resource(pool))  # the driver's plain memory
    t = dt.tensor([1, 2], device=DEVICE)
    assert dt.ipc.open(dt.ipc.share(t)).tolist() == [1, 2]
    dt.set_allocator(DEVICE, GPU.c_functions())  # of its stream-ordered pool
    with pytest.raises(BufferError):
        dt.ipc.share(dt.tensor([1, 2], device=DEVICE))
    calls = pool.counts()
    assert dt.ipc.empty((2,), device=DEVICE).shape == (2,)
    assert pool.counts() == calls, "shared memory has its own allocator"


def test_a_device_or_a_kind_without_memory_is_refused(pool):
    with pytest.raises(RuntimeError, match="cuda:9"):
        dt.set_allocator("cuda:9", Resource(pool))
    with pytest.raises(RuntimeError, match="No backend serves rocm:0"):
        dt.set_allocator("rocm:0", Resource(pool))
    with pytest.raises(ValueError, match="no memory of that kind"):
        dt.set_allocator("cuda_host", Resource(pool), "shared")
    with pytest.raises(ValueError, match="kind must be"):
        dt.set_allocator(DEVICE, Resource(pool), "other")
    assert pool.calls == []
