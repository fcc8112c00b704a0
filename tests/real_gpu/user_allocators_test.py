"""The pools of PyTorch, CuPy and RMM under Dovetail's tensors, on a real GPU. Skipped without one.

python -m pytest user_allocators_test.py      # with dovetail importable, no Bazel needed
"""

import ctypes
import importlib

import pytest

import dovetail as dt

GPU = dt.backends().get("cuda", "this build has no CUDA backend")
if not isinstance(GPU, int) or GPU == 0:
    pytest.skip(f"no GPU: {GPU}", allow_module_level=True)

DEVICE = "cuda:0"


def library(name):
    """The library, or a skip that says why it can't be used here."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # a broken installation skips as well, with its message
        pytest.skip(f"{name} can't be imported: {error}")


class Torch:
    def __init__(self):
        self.torch = library("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("this PyTorch sees no GPU")
        self.torch.zeros(1, device="cuda")
        self.allocator = self.torch.cuda

    def used_bytes(self):
        return self.torch.cuda.memory_allocated()

    def out_of_memory(self):
        return self.torch.cuda.mem_get_info()[1] * 2


class Cupy:
    def __init__(self):
        self.cupy = library("cupy")
        self.allocator = self.cupy.cuda.MemoryPool()

    def used_bytes(self):
        return self.allocator.used_bytes()

    def out_of_memory(self):
        return self.cupy.cuda.Device(0).mem_info[1] * 2


class Rmm:
    def __init__(self):
        rmm = library("rmm")
        pool = rmm.mr.PoolMemoryResource(
            rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 26, maximum_pool_size=1 << 28
        )
        self.allocator = rmm.mr.StatisticsResourceAdaptor(pool)

    def used_bytes(self):
        return self.allocator.allocation_counts.current_bytes

    def out_of_memory(self):
        return 1 << 29


@pytest.fixture(params=[Torch, Cupy, Rmm], ids=["torch", "cupy", "rmm"])
def pool(request):
    chosen = request.param()
    dt.set_allocator(DEVICE, chosen.allocator)
    yield chosen
    dt.set_allocator(DEVICE, None)
    dt.trim_memory(DEVICE)


def test_tensors_are_in_the_pool_and_go_back_to_it(pool):
    before = pool.used_bytes()
    t = dt.arange(1000).to(DEVICE)
    assert pool.used_bytes() >= before + 8000
    assert t.data_ptr() % 256 == 0
    assert t.tolist() == list(range(1000))
    assert dt.allocator_stats(DEVICE)["allocated_bytes"] == 8000
    del t
    dt.trim_memory(DEVICE)
    assert pool.used_bytes() == before


def test_data_stays_under_pending_work_of_other_streams(pool):
    source = dt.arange(1 << 18).to(DEVICE)
    expected = source.tolist()
    streams = [dt.Stream(DEVICE) for _ in range(3)]
    kept = []
    for step in range(60):
        with dt.stream(streams[step % 3]):
            first = source.copy()
        with dt.stream(streams[(step + 1) % 3]):
            kept.append(first.copy())
        del first
        if len(kept) > 4:
            assert kept.pop(step % 4).tolist() == expected
    for t in kept:
        assert t.tolist() == expected


def test_freed_memory_is_used_again(pool):
    addresses = set()
    for _ in range(50):
        t = dt.empty(1 << 20, dtype=dt.uint8, device=DEVICE)
        addresses.add(t.data_ptr())
        del t
    assert len(addresses) < 10


def test_out_of_memory_is_a_memory_error(pool):
    with pytest.raises(MemoryError, match="Out of memory on cuda:0, the program's allocator"):
        dt.empty(pool.out_of_memory(), dtype=dt.uint8, device=DEVICE)
    assert dt.zeros(10, device=DEVICE).tolist() == [0] * 10


def test_c_functions_over_the_runtime():
    try:
        runtime = ctypes.CDLL("libcudart.so")
    except OSError as error:
        pytest.skip(str(error))
    malloc_async, free_async = runtime.cudaMallocAsync, runtime.cudaFreeAsync
    p = ctypes.c_void_p
    calls = []

    @ctypes.CFUNCTYPE(p, ctypes.c_ssize_t, ctypes.c_int, p)
    def alloc(nbytes, device, stream):
        data = p()
        result = malloc_async(ctypes.byref(data), ctypes.c_size_t(nbytes), p(stream))
        calls.append(nbytes)
        return data.value if result == 0 else None

    @ctypes.CFUNCTYPE(None, p, ctypes.c_ssize_t, ctypes.c_int, p)
    def free(data, nbytes, device, stream):
        calls.append(-nbytes)
        assert free_async(p(data), p(stream)) == 0

    dt.set_allocator(DEVICE, (alloc, free))
    try:
        t = dt.arange(100).to(DEVICE)
        assert t.tolist() == list(range(100))
        del t
        dt.trim_memory(DEVICE)
        assert calls == [800, -800]
    finally:
        dt.set_allocator(DEVICE, None)
