"""Fills of tensors on an emulated GPU: the host does not wait for them."""

import emulated_gpu
import pytest

import dovetail as dt

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for emulated in GPUS.values():
    dt.register_backend(emulated.backend())


@pytest.mark.parametrize("vendor", GPUS)
def test_the_host_does_not_wait_for_fills(vendor):
    x = dt.full((3, 4), 1.5, dtype="float64", device=vendor)
    gpu = GPUS[vendor]
    gpu.reset_counts()
    x[...] = 7
    x[1, ::2] = 2.5
    x[2, 3] = 0.25
    y = dt.full((3, 4), 5, dtype="int16", device=vendor)
    assert gpu.counts()["host_waits"] == 0
    assert x.to("cpu").tolist() == [[7] * 4, [2.5, 7, 2.5, 7], [7, 7, 7, 0.25]]
    assert y.to("cpu").tolist() == [[5] * 4] * 3
    assert gpu.complaints() == []


@pytest.mark.parametrize("dtype", ["int4", "bool", "bfloat16", "float32", "complex128"])
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (5, 7)])
def test_full_is_as_on_the_cpu(dtype, shape):
    for value in (0, 1):
        there = dt.full(shape, value, dtype=dtype, device="cuda")
        assert there.to("cpu").tolist() == dt.full(shape, value, dtype=dtype).tolist()
