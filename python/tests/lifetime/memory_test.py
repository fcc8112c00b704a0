"""CPU memory: what is in use, what is cached for reuse, and how to release the caches."""

import ctypes

import pytest
from process import run_python

import dovetail as dt

KINDS = ["pinned", "managed"]

# Under AddressSanitizer, nothing is cached.
UNDER_ADDRESS_SANITIZER = hasattr(ctypes.CDLL(None), "__asan_init")


def stats():
    return dt.allocator_stats("cpu")


def test_the_bytes_in_use_are_those_of_the_tensors():
    before = stats()
    small, large = dt.empty(1000, dtype=dt.float32), dt.empty(1 << 20, dtype=dt.float32)
    during = stats()
    assert during["allocated_bytes"] - before["allocated_bytes"] == small.nbytes + large.nbytes
    assert during["allocations"] - before["allocations"] == 2
    assert during["reserved_bytes"] >= during["allocated_bytes"]
    assert during["peak_bytes"] >= during["allocated_bytes"]
    view = large[1:]
    del small, large
    assert stats()["allocated_bytes"] - before["allocated_bytes"] == 4 << 20
    del view
    assert stats()["allocated_bytes"] == before["allocated_bytes"]


def test_memory_kept_for_reuse_goes_back_on_request():
    in_use = stats()["allocated_bytes"]
    for _ in range(100):
        dt.empty(100)
    dt.trim_memory("cpu")
    assert stats()["allocated_bytes"] == in_use
    assert stats()["reserved_bytes"] <= 2 * in_use + 256


# The setting bounds the caches: of 1,000 tensors of each size, they keep none or a few.
@pytest.mark.parametrize(("setting", "kept"), [("0", 0), ("4096", 9 * 4096)])
def test_a_thread_keeps_no_more_than_the_environment_says(setting, kept):
    code = """
    import dovetail as dt
    for size in (256 << i for i in range(9)):
        tensors = [dt.empty(size, dtype=dt.uint8) for _ in range(1000)]
        del tensors
    print(dt.allocator_stats("cpu")["reserved_bytes"])
    """
    reserved = int(run_python(code, DOVETAIL_CPU_CACHE_BYTES=setting))
    assert reserved <= kept


# Of eight tensors of 16 MiB, they keep none, two, or as many as fit in 64 MiB.
@pytest.mark.parametrize(
    ("setting", "kept"),
    [("0", 0), (str(40 << 20), 32 << 20), ("40M", 32 << 20), ("many", 64 << 20), ("", 64 << 20)],
)
def test_the_process_keeps_no_more_large_memory_than_the_environment_says(setting, kept):
    code = """
    import dovetail as dt
    tensors = [dt.empty(16 << 20, dtype=dt.uint8) for _ in range(8)]
    in_use = dt.allocator_stats("cpu")["reserved_bytes"]
    del tensors
    print(in_use, dt.allocator_stats("cpu")["reserved_bytes"])
    dt.trim_memory("cpu")
    print(dt.allocator_stats("cpu")["reserved_bytes"])
    """
    in_use, reserved, after = map(
        int, run_python(code, DOVETAIL_CPU_LARGE_CACHE_BYTES=setting).split()
    )
    assert in_use >= 8 * (16 << 20)
    assert reserved - after == (0 if UNDER_ADDRESS_SANITIZER else kept)
    assert after <= 1024


# Memory of a thread's cache, of malloc, of the process's cache, and memory that is always new.
@pytest.mark.parametrize("size", [100, 70_000, 5 << 20, 64 << 20, 80 << 20])
def test_zeros_are_zeros_where_there_was_something_else_before(size):
    for _ in range(3):
        used = dt.full((size,), 7, dtype=dt.uint8)
        del used
        zeros = dt.zeros(size, dtype=dt.uint8)
        assert not zeros.numpy().any()
        zeros[-1:] = 1
        assert zeros.numpy()[-2:].tolist() == [0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_cpu_has_ordinary_memory_alone(kind):
    with pytest.raises(ValueError, match="pinned and managed memory belong to a GPU"):
        dt.allocator_stats("cpu", kind)
