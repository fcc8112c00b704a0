"""A program's own memory on an emulated GPU, from C: two functions, and a capsule."""

import ctypes

import emulated_gpu
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())
DEVICE = "cuda:0"


@pytest.fixture(autouse=True)
def restore():
    yield
    dt.set_allocator(DEVICE, None)
    dt.trim_memory(DEVICE)
    GPU.finish()
    assert GPU.complaints() == []


def drain():
    dt.empty(1, dtype=dt.uint8, device="cuda:1")


def test_c_functions_get_the_stream_too():
    dt.set_allocator(DEVICE, GPU.c_functions())
    GPU.take_c_calls()
    stream = dt.Stream(DEVICE)
    with dt.stream(stream):
        t = dt.tensor([1, 2, 3], device=DEVICE)
        assert t.tolist() == [1, 2, 3]
    del t
    drain()
    calls = [("alloc", 24, 0, stream.handle), ("free", 24, 0, stream.handle)]
    assert GPU.take_c_calls() == calls
    u = dt.empty(10, dtype=dt.uint8, device=DEVICE)
    del u
    drain()
    assert GPU.take_c_calls() == [("alloc", 10, 0, 0), ("free", 10, 0, 0)]


def test_c_functions_may_be_ctypes_function_pointers():
    alloc, free = GPU.c_functions()
    dt.set_allocator(
        DEVICE,
        (
            ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)(
                alloc
            ),
            ctypes.c_void_p(free),
        ),
    )
    GPU.take_c_calls()
    assert dt.full((4,), 7, device=DEVICE).tolist() == [7] * 4
    drain()
    assert [call[0] for call in GPU.take_c_calls()] == ["alloc", "free"]


def test_c_functions_without_memory_are_asked_once_more():
    dt.set_allocator(DEVICE, GPU.c_functions())
    GPU.take_c_calls()
    with pytest.raises(MemoryError, match="returned NULL for 1099511627776 bytes"):
        dt.empty(2**40, dtype=dt.uint8, device=DEVICE)
    assert len(GPU.take_c_calls()) == 2


def test_a_capsule_of_another_extension_is_taken_once():
    capsule = GPU.allocator_capsule()
    with pytest.raises(RuntimeError, match="No backend serves rocm:0"):
        dt.set_allocator("rocm:0", capsule)
    dt.set_allocator(DEVICE, capsule)
    GPU.take_c_calls()
    t = dt.full((4,), 7, device=DEVICE)
    assert t.tolist() == [7] * 4
    dt.set_allocator(DEVICE, None)
    drain()
    assert [call[0] for call in GPU.take_c_calls()] == ["alloc"]
    del t
    drain()
    assert [call[0] for call in GPU.take_c_calls()] == ["free", "release"]
    with pytest.raises(TypeError, match="not used before"):
        dt.set_allocator(DEVICE, capsule)
