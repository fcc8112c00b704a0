"""dovetail.distributed on the CPU. (tests/other_libraries has tests with NIXL, UCXX and NCCL.)"""

import ctypes
import gc
import itertools
import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import dovetail as dt
from dovetail.distributed import describe

INDEX = (slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, 2), slice(3, 0, -2))


def read(spans):
    return b"".join(ctypes.string_at(address, nbytes) for address, nbytes, _ in spans.tolist())


def expanded(strided):
    """The spans of N x 5 rows."""
    return [
        [(address + i * stride) % 2**64, nbytes, device]
        for address, nbytes, device, stride, count in strided.tolist()
        for i in range(count)
    ]


@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "float64"])
def test_the_spans_are_the_elements_in_row_major_order(dtype):
    base = dt.arange(4 * 5 * 6, dtype="float32").to(dtype).reshape(4, 5, 6)
    for index in itertools.product(INDEX, repeat=3):
        for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
            t = base[index].permute(*order)
            d = describe(t)
            assert read(d.spans) == bytes(dt.frombuffer(t.copy(), dtype="uint8"))
            assert d.spans[:, 1].sum() == d.nbytes
            assert expanded(d.strided) == d.spans.tolist()
            assert (d.iovec == d.spans[:, :2]).all() and d.iovec.flags.c_contiguous
            assert d.contiguous == t.is_contiguous() == (len(d.spans) <= 1)
            low, high = d.spans[:, 0].min(), (d.spans[:, 0] + d.spans[:, 1]).max()
            assert d.extent == (low, high - low)


def test_spans_are_as_long_as_the_strides_allow():
    t = dt.zeros((4, 5, 6))
    assert describe(t[:, 1:3]).spans[:, 1].tolist() == [2 * 6 * 4] * 4
    assert describe(t[::2]).spans[:, 1].tolist() == [5 * 6 * 4] * 2
    assert len(describe(t[:, :, ::2]).spans) == 4 * 5 * 3


def test_the_arrays_are_new_ones_of_uint64_in_c_order():
    d = dt.describe(dt.zeros((4, 5, 6))[:, 1:3])
    for make in (lambda: d.spans, lambda: d.strided, lambda: d.iovec, d.nixl_transfer):
        array = make()
        assert array.dtype == np.uint64 and array.flags.c_contiguous and array.flags.writeable
        assert array is not make()


def test_the_innermost_loop_is_in_the_stride_and_the_count():
    t = dt.zeros((4, 5, 6))
    at = t.data_ptr()
    assert describe(t).strided.tolist() == [[at, 480, 0, 480, 1]]
    assert describe(t[:, :, 1:3]).strided.tolist() == [[at + 4, 8, 0, 24, 20]]
    assert describe(t[::2, :, :3]).strided.tolist() == [
        [at, 12, 0, 24, 5],
        [at + 240, 12, 0, 24, 5],
    ]
    assert describe(dt.zeros(())).strided[:, 1:].tolist() == [[4, 0, 4, 1]]


def test_a_negative_stride_is_modulo_2_to_the_64():
    t = dt.zeros((4, 6))
    assert describe(t[::-1]).strided.tolist() == [[t.data_ptr() + 72, 24, 0, 2**64 - 24, 4]]


def test_runs_that_overlap_have_rows_of_their_own_in_the_strided_form():
    a = np.broadcast_to(np.float32(1), 3)
    at = a.__array_interface__["data"][0]
    assert describe(a).strided.tolist() == [[at, 4, 0, 4, 1]] * 3
    a = np.lib.stride_tricks.sliding_window_view(np.zeros(6, np.int8), 4)
    assert describe(a).strided[:, 1:].tolist() == [[4, 0, 4, 1]] * 3


def test_a_million_runs_are_each_in_place():
    d = describe(dt.empty((1 << 20, 4), dtype="int8")[:, :2])
    spans = d.spans
    assert spans.shape == (1 << 20, 3)
    assert (np.diff(spans[:, 0]) == 4).all() and (spans[:, 1] == 2).all()
    assert len(d.strided) == 1


def test_numpy_is_imported_on_use_and_its_absence_is_explained():
    program = """
import sys
import dovetail as dt, dovetail.distributed
assert "numpy" not in sys.modules
sys.modules["numpy"] = None
d = dt.describe(dt.zeros((4, 4))[:, ::2])
assert d.nixl_registration()[0][1] == 60
try:
    d.spans
except ImportError as e:
    print(e)
"""
    result = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "NumPy can't be imported; install it" in result.stdout, result.stderr


def test_the_facts_are_the_tensors():
    a = np.zeros((3, 4), np.int16)
    a.flags.writeable = False
    d = describe(a[:, ::2])
    assert (d.address, d.nbytes, d.device_type, d.device_id) == (a.ctypes.data, 12, "cpu", 0)
    assert (d.dtype, d.shape, d.strides, d.readonly) == (dt.int16, (3, 2), (4, 2), True)
    assert d.tensor.data_ptr() == a.ctypes.data
    assert repr(d) == (
        f"Description(12 bytes at {a.ctypes.data:#x} on cpu, runs of 2 bytes, int16 (3, 2))"
    )


def test_a_description_keeps_the_memory():
    a = np.zeros(3)
    before = sys.getrefcount(a)
    d = describe(a)
    gc.collect()
    assert sys.getrefcount(a) == before + 1
    del d
    assert sys.getrefcount(a) == before


def test_the_host_has_nothing_to_wait_for_on_the_cpu():
    assert describe(dt.zeros(3)).synchronize() is None


def test_an_empty_tensor_has_no_spans():
    d = describe(dt.zeros((0, 3))[:, ::2])
    assert (d.contiguous, d.nbytes, d.nixl_transfer().shape) == (True, 0, (0, 3))
    assert (d.spans.shape, d.strided.shape, d.iovec.shape) == ((0, 3), (0, 5), (0, 2))
    assert d.buffer().shape == (0,)


def test_nixl_gets_the_region_and_its_spans():
    a = np.zeros((2, 3), np.int32)
    d = describe(a[:, ::-2])
    assert d.nixl_memory == "DRAM"
    assert d.nixl_registration() == [(a.ctypes.data, 24, 0, "")]
    addresses = [a.ctypes.data + offset for offset in (8, 0, 20, 12)]
    assert d.nixl_transfer().tolist() == [[address, 4, 0] for address in addresses]
    assert d.nixl_transfer(strided=True).tolist() == [
        [a.ctypes.data + offset, 4, 0, 2**64 - 8, 2] for offset in (8, 20)
    ]


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "complex32", "int4"])
def test_a_buffer_has_the_bytes_of_every_type(name):
    t = dt.tensor([[1, 2], [3, 4]], dtype="float32").to(name)
    b = describe(t).buffer()
    assert (b.dtype, b.shape, b.data_ptr()) == (dt.uint8, (t.nbytes,), t.data_ptr())
    assert memoryview(b).nbytes == t.nbytes and not b.readonly


def test_a_buffer_of_read_only_memory_is_read_only():
    assert describe(dt.frombuffer(b"abcd", dtype="int8")).buffer().readonly


def test_packed_elements_have_spans_of_whole_bytes():
    t = dt.tensor([[1, 2, 3, 4], [5, 6, 7, -8]], dtype="int4")
    pointer = t.data_ptr()
    assert describe(t).spans.tolist() == [[pointer, 4, 0]]
    assert describe(t[:, 2:]).spans.tolist() == [[pointer + 1, 1, 0], [pointer + 3, 1, 0]]
    assert describe(t[::-1]).spans.tolist() == [[pointer + 2, 2, 0], [pointer, 2, 0]]
    assert describe(t[:1, :3]).spans.tolist() == [[pointer, 2, 0]]
    for view in (t.T, t[:, :3], t[:, ::2]):
        with pytest.raises(dt.ExchangeError, match=r"int4 elements share bytes.*copy the tensor"):
            describe(view)


def test_padded_elements_are_bytes():
    a = np.arange(6).reshape(2, 3).astype(ml_dtypes.int4)
    d = describe(a)
    assert d.spans.tolist() == [[d.address, 6, 0]]
    assert describe(a[:, :2]).strided.tolist() == [[d.address, 2, 0, 3, 2]]


def test_what_has_no_single_span_or_no_gpu_is_refused_with_the_remedy():
    strided = describe(dt.zeros((4, 4))[:, ::2])
    with pytest.raises(dt.ExchangeError, match=r"strides \(4, 2\) is not; copy it first"):
        strided.buffer()
    with pytest.raises(dt.ExchangeError, match=r'NCCL needs memory of a GPU.*t\.to\("cuda:0"\)'):
        describe(dt.zeros(3)).nccl()


def test_read_only_memory_is_refused_for_receiving():
    t = dt.frombuffer(b"abcd", dtype="int8")
    with pytest.raises(dt.ExchangeError, match="read-only; nothing can be received"):
        describe(t, writable=True)
    assert not describe(dt.zeros(3), writable=True).readonly


def test_what_cannot_be_exchanged_is_refused():
    t = dt.zeros(3)
    t.requires_grad = True
    with pytest.raises(dt.ExchangeError, match="detach"):
        describe(t)
    with pytest.raises(AttributeError, match="__dlpack__"):
        describe([1, 2])
