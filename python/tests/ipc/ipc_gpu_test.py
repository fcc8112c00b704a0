"""dovetail.ipc on emulated GPUs of both vendors, in two processes."""

import gc
import multiprocessing
import os
import pickle

import ipc_gpu_workers
import pytest
from ipc_gpu_workers import GPUS, counting

import dovetail as dt


@pytest.fixture(params=["cuda", "rocm"])
def vendor(request):
    yield request.param
    gpu = GPUS[request.param]
    gpu.finish()
    assert gpu.complaints() == []


@pytest.fixture
def device(vendor):
    return f"{vendor}:0"


def start(function, *arguments):
    context = multiprocessing.get_context("spawn")
    answer, go = context.Queue(), context.Queue()
    child = context.Process(target=function, args=(*arguments, answer, go))
    child.start()
    return child, answer, go


def test_another_process_reads_and_writes_the_same_memory(vendor, device):
    t = counting(device)
    handle = dt.ipc.share(t[:, 1:])
    child, answer, go = start(ipc_gpu_workers.borrow, handle)
    assert answer.get(timeout=60) == (device, (2, 2), (3, 1), [[1, 2], [4, 5]])
    go.put("write")
    assert answer.get(timeout=60) == [[7, 7], [7, 7]]
    assert t.to("cpu").tolist() == [[0, 7, 7], [3, 7, 7]]
    # The memory is kept as long as the borrower has it open.
    data = t.data_ptr()
    del t, handle
    dt.trim_memory(device, kind="shared")
    assert GPUS[vendor].is_live(data)
    go.put("let go")
    assert answer.get(timeout=60) == [[7, 7], [7, 7]]
    assert answer.get(timeout=60) == []
    child.join(60)
    assert child.exitcode == 0
    dt.trim_memory(device, kind="shared")
    assert not GPUS[vendor].is_live(data)


def test_memory_of_a_process_that_has_ended_is_refused():
    child, answer, go = start(ipc_gpu_workers.own)
    handle = answer.get(timeout=60)
    t = dt.ipc.open(handle)
    assert t.to("cpu").tolist() == [[0, 1, 2], [3, 4, 5]]
    go.put("end")
    child.join(60)
    assert child.exitcode == 0
    with pytest.raises(dt.ExchangeError, match="has ended"):
        dt.ipc.open(handle)


def test_a_pools_memory_is_refused_with_the_remedy_and_copied_when_asked(device):
    t = counting("cpu").to(device)
    with pytest.raises(dt.ExchangeError, match=r"set_allocator.*copy=True"):
        dt.ipc.share(t)
    handle = dt.ipc.share(t, copy=True)
    assert str(handle.tensor.device) == device
    assert dt.ipc.open(handle).to("cpu").tolist() == t.to("cpu").tolist()
    del handle
    dt.trim_memory(device, kind="shared")
    dt.trim_memory(device, kind="shared")


def test_pinned_memory_is_copied_to_the_cpu(vendor):
    t = counting("cpu").to(f"{vendor}_host")
    with pytest.raises(dt.ExchangeError, match="can't be opened by other processes"):
        dt.ipc.share(t)
    assert str(dt.ipc.share(t, copy=True).tensor.device) == "cpu"


def test_the_allocator_direct_makes_any_tensor_shareable(device):
    assert dt.allocators(device, kind="shared") == ["direct", "caching(direct)"]
    for name in ("direct", "caching(direct)"):
        dt.set_allocator(device, name)
        try:
            t = counting("cpu").to(device)
            handle = pickle.loads(pickle.dumps(dt.ipc.share(t)))
            assert dt.ipc.open(handle).data_ptr() == t.data_ptr()
        finally:
            dt.set_allocator(device, "async")


def test_many_cycles_leave_nothing_behind(vendor, device):
    def cycle(n):
        t = counting(device, (n,))
        u = dt.ipc.open(bytes(dt.ipc.share(t)))
        assert u.data_ptr() == t.data_ptr()
        data = t.data_ptr()
        del t, u
        return data

    def state():
        data = cycle(3)
        for _ in range(2):
            dt.trim_memory(device, kind="shared")
        assert not GPUS[vendor].is_live(data)
        with open("/proc/self/maps") as maps:
            mapped = sum("/dev/shm/dovetail." in line for line in maps)
        return len(os.listdir("/proc/self/fd")), mapped

    gc.collect()  # the descriptors of processes of other tests
    before = state()
    for i in range(2000):
        cycle(1 + i % 5)
    assert state() == before


def test_a_handle_of_a_gpu_opens_no_memory_of_the_cpu(device):
    t = counting(device)
    handle = bytearray(bytes(dt.ipc.share(t)))
    with pytest.raises(ValueError, match="damaged"):
        dt.ipc.open(bytes(handle[:16]) + b"\x01\0\0\0" + bytes(handle[20:]))
