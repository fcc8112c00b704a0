"""dovetail.distributed on emulated GPUs of both vendors."""

import emulated_gpu
import pytest

import dovetail as dt
from dovetail.distributed import describe

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


@pytest.fixture(params=GPUS)
def device(request):
    yield f"{request.param}:0"
    GPUS[request.param].finish()
    assert GPUS[request.param].complaints() == []


def test_the_memory_is_nixls_vram(device):
    t = dt.zeros((4, 6), device=device)
    d = describe(t[1:3])
    start = t.data_ptr() + 24
    assert (d.device_type, d.device_id, d.nixl_memory) == (device[:4], 0, "VRAM")
    assert d.nixl_registration() == [(start, 48, 0, "")]
    view = describe(t[:2, 3:])
    rows = [[t.data_ptr() + 12, 12, 0], [start + 12, 12, 0]]
    assert view.nixl_transfer().tolist() == rows
    assert view.nixl_transfer(strided=True).tolist() == [[*rows[0], 24, 2]]


def test_a_pair_has_rows_on_two_devices_and_a_plan_with_copies_on_the_gpu(device):
    a = dt.zeros((64, 64), device=device)
    b = dt.zeros((64, 128))
    pair = dt.describe_pair(a.T, b[:, ::2])
    assert (pair.a.nixl_memory, pair.b.nixl_memory, pair.count) == ("VRAM", "DRAM", 64 * 64)
    plan = pair.plan()
    assert sorted(plan.seconds) == ["spans", "staging a", "staging b", "staging both"]
    assert plan.choice == "staging both" and plan.rows["staging both"] == 1


def pending(device, value):
    """A tensor on which a stream has still to work, and its GPU."""
    gpu = GPUS[device[:4]]
    t = dt.zeros((64, 64), dtype="uint8", device=device)
    gpu.finish()
    stream = dt.Stream(device)
    with dt.stream(stream):
        gpu.set(stream.handle, 0, t.data_ptr(), value, t.nbytes)
        return t.T.copy(), gpu


def test_the_host_waits_for_work_on_other_streams(device):
    for value in range(1, 20):
        t, gpu = pending(device, value)
        describe(t).synchronize()
        assert gpu.peek(t.data_ptr(), t.nbytes) == bytes([value]) * t.nbytes


def test_the_host_waits_for_work_on_both_sides_of_a_pair(device):
    for value in range(1, 20):
        t, gpu = pending(device, value)
        dt.describe_pair(t, dt.zeros((64, 64), dtype="uint8")).synchronize()
        assert gpu.peek(t.data_ptr(), t.nbytes) == bytes([value]) * t.nbytes


def test_a_buffer_is_ordered_after_work_on_other_streams(device):
    for value in range(1, 20):
        t, _ = pending(device, value)
        assert describe(t).buffer().to("cpu").tolist() == [value] * t.nbytes


# Numbers of nccl.h's ncclDataType_t.
@pytest.mark.parametrize(
    ("name", "number"),
    [
        *(("int8", 0), ("uint8", 1), ("int32", 2), ("uint32", 3), ("int64", 4), ("uint64", 5)),
        *(("float16", 6), ("float32", 7), ("float64", 8), ("bfloat16", 9)),
        *(("float8_e4m3fn", 10), ("float8_e5m2", 11)),
    ],
)
def test_nccl_gets_pointer_count_and_type(device, name, number):
    t = dt.zeros((4, 6), dtype=name, device=device)
    d = describe(t[1:])
    assert d.nccl() == (t.data_ptr() + 6 * t.itemsize, 18, number)
    assert d.nccl(as_bytes=True) == (d.address, d.nbytes, 1)


@pytest.mark.parametrize("name", ["bool", "int16", "complex64", "float8_e4m3fnuz", "int4"])
def test_a_type_that_nccl_lacks_goes_as_bytes(device, name):
    d = describe(dt.zeros(6, dtype=name, device=device))
    with pytest.raises(TypeError, match=f"NCCL has no type {name}; .*as_bytes=True"):
        d.nccl()
    assert d.nccl(as_bytes=True) == (d.address, d.nbytes, 1)


def test_nccl_gets_no_strided_memory(device):
    with pytest.raises(dt.ExchangeError, match="NCCL's buffers are contiguous"):
        describe(dt.zeros((4, 6), device=device)[:, ::2]).nccl()


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e5m2", "int4"])
def test_a_buffer_of_a_gpu_has_the_cuda_array_interface(device, name):
    t = dt.zeros((4, 6), dtype=name, device=device)
    b = describe(t).buffer()
    interface = b.__cuda_array_interface__
    assert (interface["typestr"], interface["shape"]) == ("|u1", (t.nbytes,))
    assert interface["data"] == (t.data_ptr(), False)
    assert str(b.device) == device and b.to("cpu").tolist() == [0] * t.nbytes


def test_packed_elements_of_a_gpu_fill_whole_bytes_in_a_buffer(device):
    with pytest.raises(ValueError, match="no whole number"):
        describe(dt.zeros(5, dtype="int4", device=device)).buffer()


def test_a_buffer_of_a_gpu_keeps_the_memory(device):
    expected = dt.frombuffer(dt.full(1000, 3, dtype="bfloat16"), dtype="uint8").tolist()
    b = describe(dt.full(1000, 3, dtype="bfloat16", device=device)).buffer()
    dt.zeros(1000, dtype="bfloat16", device=device)  # would be where freed memory was
    assert b.to("cpu").tolist() == expected
