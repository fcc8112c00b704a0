"""Casts on emulated GPUs: by each function that casts, where the fewest bytes cross the link."""

import emulated_gpu
import ml_dtypes
import numpy as np
import pytest

import dovetail as dt

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for emulated in GPUS.values():
    dt.register_backend(emulated.backend())

COUNT = 1200


@pytest.fixture(params=["cuda", "rocm"])
def vendor(request):
    return request.param


@pytest.fixture
def gpu(vendor):
    emulated = GPUS[vendor]
    yield emulated
    emulated.finish()
    assert emulated.complaints() == []


def quarters():
    return np.arange(COUNT, dtype=np.float32) / 4 - 100


def numpy_of(t):
    return t.to("cpu").numpy()


WITHIN = {
    "to": lambda x, dtype: x.to(dtype),
    "astype": lambda x, dtype: x.astype(dtype),
    "copyto": lambda x, dtype: copied_into(dt.empty_like(x, dtype=dtype), x),
    "index": lambda x, dtype: set_by_index(dt.empty_like(x, dtype=dtype), x),
    "copy_": lambda x, dtype: dt.empty_like(x, dtype=dtype).copy_(x),
    "asarray": lambda x, dtype: dt.asarray(x, dtype=dtype),
}


def copied_into(y, x):
    dt.copyto(y, x, casting="unsafe")
    return y


def set_by_index(y, x):
    y[...] = x
    return y


@pytest.mark.parametrize("way", WITHIN)
@pytest.mark.parametrize("dtype", ["bfloat16", "float64", "int16", "float8_e5m2", "bool"])
def test_within_a_device_no_byte_crosses_the_link(gpu, vendor, way, dtype):
    x = dt.tensor(quarters(), device=vendor)
    if way == "index" and dtype in ("int16", "bool"):
        pytest.skip("t[...] = other converts within one kind")
    gpu.reset_counts()
    y = WITHIN[way](x, dtype)
    counts = gpu.counts()
    assert (counts["launches"], counts["copies"], counts["host_waits"]) == (1, 0, 0)
    with np.errstate(invalid="ignore"):
        expected = quarters().astype(np.dtype(dtype))
    assert (str(y.device), y.dtype) == (f"{vendor}:0", dt.dtype(dtype))
    np.testing.assert_array_equal(numpy_of(y).view(np.uint8), expected.view(np.uint8))


@pytest.mark.parametrize(
    ("source", "target", "wide", "narrow"),
    [
        ("{}:0", "cpu", "float32", "bfloat16"),
        ("cpu", "{}:0", "float32", "bfloat16"),
        ("{}:0", "{}:1", "float32", "bfloat16"),
        ("{}:1", "cpu", "float64", "int8"),
        ("cpu", "{}:1", "complex64", "bool"),
    ],
)
def test_the_smaller_type_crosses_the_link(gpu, vendor, source, target, wide, narrow):
    source, target = source.format(vendor), target.format(vendor)
    for start, end in [(wide, narrow), (narrow, wide)]:
        host = quarters().astype(np.dtype(start))
        x = dt.tensor(host, device=source)
        gpu.finish()
        gpu.reset_counts()
        y = x.to(target, end)
        assert gpu.counts()["link_bytes"] == COUNT * np.dtype(narrow).itemsize
        np.testing.assert_array_equal(numpy_of(y), host.astype(np.dtype(end)))


def test_between_vendors_the_smaller_type_crosses_both_links():
    x = dt.tensor(quarters(), device="cuda")
    for emulated in GPUS.values():
        emulated.finish()
        emulated.reset_counts()
    y = x.to("rocm", "float16")
    assert [emulated.counts()["link_bytes"] for emulated in GPUS.values()] == [2 * COUNT] * 2
    np.testing.assert_array_equal(numpy_of(y), quarters().astype(np.float16))


def turned(t):
    return t.transpose(0, 2, 1) if isinstance(t, np.ndarray) else t.permute(0, 2, 1)


def test_views_of_every_kind_are_cast_in_one_launch(gpu, vendor):
    host = quarters().reshape(3, 20, 20)
    x = dt.tensor(host, device=vendor)
    views = {
        "transposed": turned,
        "reversed": lambda t: t[::-1, :, ::-2],
        "row": lambda t: t[1, :, 3],
    }
    for view in views.values():
        gpu.reset_counts()
        y = view(x).to("float16")
        assert (gpu.counts()["launches"], gpu.counts()["copies"]) == (1, 0)
        np.testing.assert_array_equal(numpy_of(y), view(host).astype(np.float16))


def test_narrow_floats_have_the_bits_of_ml_dtypes(gpu, vendor):
    codes = np.arange(65536, dtype=np.uint16)
    halves = codes.view(np.float16)
    x = dt.from_dlpack(halves).to(vendor)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "bfloat16"):
        dtype = np.dtype(getattr(ml_dtypes, name))
        there = numpy_of(x.to(name))
        with np.errstate(invalid="ignore", over="ignore"):
            expected = halves.astype(dtype)
        is_number = ~np.isnan(halves)
        np.testing.assert_array_equal(
            there[is_number].view(np.uint8), expected[is_number].view(np.uint8)
        )
        assert np.isnan(there[~is_number].astype(np.float32)).all()


def test_a_trace_tells_why_the_host_casts(gpu, vendor):
    x = dt.tensor(quarters(), device=vendor)
    with dt.trace() as log:
        x.to("int4")
    (refused,) = [event for event in log if event.reason]
    assert refused.reason == "No kernel casts float32 to int4; the host casts."
    assert not refused.is_copy
    assert [(str(e.device), str(e.to_device)) for e in log.copies()] == [
        (f"{vendor}:0", "cpu"),
        ("cpu", "cpu"),
        ("cpu", f"{vendor}:0"),
    ]
    assert "copies: 3 of" in str(log)
