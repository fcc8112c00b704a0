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


MAKERS = {
    "zeros": lambda dtype, device: dt.zeros(3, 5, dtype=dtype, device=device),
    "full": lambda dtype, device: dt.full((3, 5), 1, dtype=dtype, device=device),
    "zeros_like": lambda dtype, device: dt.zeros_like(
        dt.empty(15, dtype=dtype, device=device), device=device
    ),
}


@pytest.mark.parametrize("dtype", ["int2", "int4", "float4_e2m1fn", "float6_e2m3fn", "complex64"])
@pytest.mark.parametrize("maker", MAKERS)
def test_new_tensors_are_filled_without_the_host(maker, dtype):
    gpu = GPUS["cuda"]
    dt.zeros(3, device="cuda")
    gpu.reset_counts()
    there = MAKERS[maker](dtype, "cuda")
    assert gpu.counts()["copies"] == gpu.counts()["host_waits"] == 0
    assert there.to("cpu").tolist() == MAKERS[maker](dtype, "cpu").tolist()
    assert gpu.complaints() == []


NUMBERS = [(10,), (-3, 40, 7), (40, -3, -7), (0, 1, 0.1), (-0.3, 2, 0.7), (0,), (5, 2**40, 2**38)]


@pytest.mark.parametrize("arguments", NUMBERS)
@pytest.mark.parametrize("dtype", [None, "float64", "float32", "bfloat16", "float16"])
def test_arange_makes_its_numbers_on_the_device(arguments, dtype):
    gpu = GPUS["cuda"]
    dt.zeros(3, device="cuda")
    here = dt.arange(*arguments, dtype=dtype) if dtype != "float16" or max(arguments) < 99 else None
    if here is None:
        return
    gpu.reset_counts()
    there = dt.arange(*arguments, dtype=dtype, device="cuda")
    assert gpu.counts()["copies"] == gpu.counts()["host_waits"] == 0
    assert (there.dtype, there.shape) == (here.dtype, here.shape)
    assert there.to("cpu").tolist() == here.tolist()


def test_arange_checks_the_numbers_before_it_allocates():
    with pytest.raises(OverflowError, match="300"):
        dt.arange(301, dtype="uint8", device="cuda")
    assert dt.arange(4, dtype="complex64", device="cuda").to("cpu").tolist() == [0, 1, 2, 3]
    assert dt.arange(4, dtype="int4", device="cuda").to("cpu").tolist() == [0, 1, 2, 3]


def test_a_view_from_an_odd_address_is_filled():
    raw = dt.zeros(9, dtype="uint8", device="cuda")
    gpu = GPUS["cuda"]
    gpu.reset_counts()
    raw[1:].view(dt.int16).fill_(0x0201)
    assert gpu.counts()["copies"] == gpu.counts()["host_waits"] == 0
    assert raw.to("cpu").tolist() == [0] + [1, 2] * 4
