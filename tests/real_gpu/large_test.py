"""Gigabytes, many small matrices, and busy threads on a real GPU. Skipped where there is none.

python -m pytest large_test.py      # with dovetail and PyTorch importable, no Bazel needed
"""

import itertools
import threading

import pytest
from torch_on_gpu import torch

import dovetail as dt

GIB = 1 << 30
# Clock cycles that keep a stream busy for some tens of milliseconds.
BUSY = 50_000_000


@pytest.fixture(autouse=True)
def memory():
    """Before a test, both libraries give back what they keep."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    dt.trim_memory("cuda:0")


def need(nbytes):
    free, _ = torch.cuda.mem_get_info()
    if free < nbytes:
        pytest.skip(f"needs {nbytes / GIB:.0f} GiB of GPU memory; {free / GIB:.0f} are free")


# ---- Sizes ----


@pytest.mark.parametrize("order", [(0, 3, 2, 1), (3, 0, 1, 2), (1, 0, 3, 2), (2, 3, 0, 1)])
def test_permutes_of_3_gib_are_as_torch_makes_them(order):
    need(10 * GIB)
    x = torch.randint(0, 256, (3, 1024, 1024, 1024), dtype=torch.uint8, device="cuda")
    ours = dt.from_dlpack(x).permute(order).contiguous()
    assert torch.equal(torch.from_dlpack(ours), x.permute(order))


def test_a_strided_fill_reaches_beyond_2_31_elements():
    need(5 * GIB)
    count = (1 << 31) + 4096
    x = torch.zeros(2 * count, dtype=torch.uint8, device="cuda")
    dt.from_dlpack(x)[::2] = 7
    torch.cuda.synchronize()
    assert bool((x[::2] == 7).all())
    assert not bool(x[1::2].any())


@pytest.mark.parametrize(("edge", "batch"), [(8, 1 << 24), (16, 1 << 22), (32, 1 << 20)])
def test_batches_of_small_matrices_are_transposed(edge, batch):
    need(3 * GIB)
    x = torch.randint(0, 256, (batch, edge, edge), dtype=torch.uint8, device="cuda")
    ours = dt.from_dlpack(x).permute(0, 2, 1).contiguous()
    assert torch.equal(torch.from_dlpack(ours), x.transpose(1, 2))


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "int64", "complex128"])
def test_fills_are_as_torch_makes_them(name):
    dtype = getattr(torch, name)
    for shape, step in itertools.product([(1,), (1 << 20,), (1000, 777)], [1, 3]):
        x = torch.zeros(shape, dtype=dtype, device="cuda")
        y = torch.zeros(shape, dtype=dtype, device="cuda")
        dt.from_dlpack(x)[..., ::step] = 3
        y[..., ::step] = 3
        torch.cuda.synchronize()
        assert torch.equal(x, y), (shape, step)


# ---- Host memory ----


def test_pinned_memory_may_be_overwritten_as_soon_as_it_was_copied():
    need(2 * GIB)
    x = torch.full((GIB // 4,), 1.0, dtype=torch.float32, pin_memory=True)
    side = torch.cuda.Stream()
    for stream in (None, side.cuda_stream):
        x.fill_(1)
        t = dt.from_dlpack(x)
        capsule = t.__dlpack__(stream=stream, max_version=(1, 0), dl_device=(2, 0), copy=True)
        x.fill_(9)
        there = torch.from_dlpack(dt.from_dlpack(capsule))
        torch.cuda.synchronize()
        assert bool((there == 1).all()), stream
        del capsule, there


def test_pinned_memory_that_is_freed_at_once_was_read():
    side = torch.cuda.Stream()
    for turn in range(20):
        x = torch.full((1 << 24,), float(turn), pin_memory=True)
        with dt.stream(side):
            there = dt.from_dlpack(x).to("cuda:0")
        del x
        torch.full((1 << 24,), -1.0, pin_memory=True)
        assert bool((torch.from_dlpack(there) == turn).all()), turn


# ---- Allocators ----


def test_what_the_pool_gave_back_can_be_had_from_the_driver():
    free, _ = torch.cuda.mem_get_info()
    nbytes = min(free * 3 // 4, 60 * GIB)
    assert dt.allocators("cuda:0")[0] == "async"
    t = dt.empty(nbytes, dtype="uint8", device="cuda:0")
    del t
    dt.set_allocator("cuda:0", "direct")
    try:
        t = dt.empty(nbytes, dtype="uint8", device="cuda:0")
        del t
        dt.trim_memory("cuda:0")
        x = torch.empty(nbytes, dtype=torch.uint8, device="cuda")
        del x
    finally:
        dt.set_allocator("cuda:0", "async")


# ---- Captures ----


def test_threads_may_allocate_and_drop_while_another_captures():
    t = dt.full((64,), 2.0, device="cuda:0")
    out = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    errors, is_over = [], threading.Event()

    def allocate(size):
        try:
            while not is_over.is_set():
                kept = [dt.full((size + i,), 1.0, device="cuda:0") for i in range(8)]
                assert kept[3].to("cpu").tolist()[0] == 1.0
        except Exception as error:  # shown by the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=allocate, args=(size,)) for size in (16, 1 << 16)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(20):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                out.copy_(torch.from_dlpack(t) + turn)
            graph.replay()
            torch.cuda.synchronize()
            assert bool((out == 2 + turn).all()), turn
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert not errors, errors[0]


# ---- The CUDA array interface ----


def test_the_interface_names_a_stream_that_the_consumer_waits_for():
    cupy = pytest.importorskip("cupy")
    side = torch.cuda.Stream()
    source = dt.full((1 << 20,), 5.0, device="cuda:0")
    torch.cuda.synchronize()
    with torch.cuda.stream(side), dt.stream(side):
        torch.cuda._sleep(BUSY)
        t = source.copy()
    with cupy.cuda.Stream(non_blocking=True):
        y = cupy.asarray(t) + 1
        assert bool((y == 6).all())
