"""A trace on emulated GPUs: streams that are ordered, waits of the host, copies between devices."""

import emulated_gpu
import pytest

import dovetail as dt

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


@pytest.fixture(params=["cuda", "rocm"])
def device(request):
    yield f"{request.param}:0"
    GPUS[request.param].finish()
    assert GPUS[request.param].complaints() == []


def kinds(log):
    return [event.kind for event in log]


def test_a_copy_to_the_host_tells_that_the_host_waited(device):
    t = dt.arange(1024, dtype=dt.int32, device=device)
    with dt.trace() as log:
        t.to("cpu")
    (copy,) = log.copies()
    assert (str(copy.device), str(copy.to_device), copy.nbytes) == (device, "cpu", 4096)
    assert copy.stream is not None and device in copy.stream
    (wait,) = log.waits()
    assert wait.awaited == (copy.stream,) and wait.file == __file__
    assert copy.start_ns <= wait.start_ns
    assert wait.start_ns + wait.duration_ns <= copy.start_ns + copy.duration_ns


def test_an_export_to_another_stream_tells_which_waits_for_which(device):
    gpu = GPUS[device.split(":")[0]]
    t = dt.arange(8, device=device)
    stream = gpu.make_stream(0)
    with dt.trace() as log:
        t.__dlpack__(stream=stream, max_version=(1, 0))
    assert kinds(log) == ["order", "export"]
    order, export = log
    assert order.stream != order.awaited[0] and len(order.awaited) == 1
    assert f"{stream:#x}" in order.stream
    assert export.way == "__dlpack__" and str(export.device) == device


def test_a_copy_between_vendors_tells_of_its_parts(device):
    other = "rocm:1" if device.startswith("cuda") else "cuda:1"
    t = dt.arange(8, device=device)
    with dt.trace() as log:
        t.to(other)
    outer = log.events[-1]
    assert (outer.kind, str(outer.device), str(outer.to_device)) == ("copy", device, other)
    assert "wait" in kinds(log) and outer.duration_ns > 0
    assert len(log.copies()) == 1


def test_no_copies_refuses_a_change_of_device(device):
    t = dt.arange(8, device=device)
    with dt.no_copies():
        for refused in (
            lambda: t.to("cpu"),
            lambda: dt.from_dlpack(t, device="cpu"),
            lambda: dt.zeros(3).to(device),
        ):
            with pytest.raises(dt.ExchangeError):
                refused()
        assert dt.from_dlpack(t).data_ptr() == t.data_ptr()
