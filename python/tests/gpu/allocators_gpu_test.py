"""Allocators of emulated GPUs of both vendors, chosen and asked from Python."""

import emulated_gpu
import pytest

import dovetail as dt

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


@pytest.fixture(params=["cuda", "rocm"])
def device(request):
    yield f"{request.param}:0"
    gpu = GPUS[request.param]
    gpu.finish()
    assert gpu.complaints() == []


def test_allocators_are_chosen_and_tell_of_themselves(device):
    names = dt.allocators(device)
    assert names == ["async", "direct", "caching(async)", "caching(direct)"]
    assert dt.allocators(device, kind="pinned") == ["pinned", "caching(pinned)"]
    try:
        for name in names:
            dt.set_allocator(device, name)
            before = dt.allocator_stats(device)
            t = dt.empty(1000, dtype=dt.uint8, device=device)
            after = dt.allocator_stats(device)
            assert after["allocated_bytes"] == before["allocated_bytes"] + 1000
            assert after["reserved_bytes"] >= 1000
            del t
            dt.trim_memory(device)
            assert dt.allocator_stats(device)["allocated_bytes"] == before["allocated_bytes"]
    finally:
        dt.set_allocator(device, names[0])
    with pytest.raises(ValueError, match="there are: async"):
        dt.set_allocator(device, "none such")
    with pytest.raises(ValueError, match="kind must be"):
        dt.allocators(device, kind="other")


def test_out_of_memory(device):
    with pytest.raises(MemoryError, match=r"Out of memory on .*:0: 1099511627776 bytes"):
        dt.empty(2**40, dtype=dt.uint8, device=device)
