"""The DLPack C exchange API: Dovetail's table, called as its users call it."""

import ctypes
import gc
import sys

import numpy as np
import pytest
import tvm_ffi
from exchange_table import SetError, table_of, take_object
from managed import CPU, IS_COPIED, READ_ONLY, DLTensor, Lent, Versioned, call_deleter

import dovetail as dt

OURS = table_of(dt.Tensor)


def export(t):
    out = ctypes.c_void_p()
    assert OURS.managed_from(t, out) == 0
    return Versioned.from_address(out.value)


def borrow(t):
    out = DLTensor()
    assert OURS.borrow(t, out) == 0
    return out


def take_in(lent):
    out = ctypes.c_void_p()
    assert OURS.managed_to(ctypes.addressof(lent.managed), out) == 0
    return take_object(out.value)


def read_only():
    return dt.frombuffer(b"abcd", dtype=dt.uint8)


# Our table


# Rules 51, 52.
def test_the_class_has_one_table_of_our_version_that_stays_where_it_is():
    assert '"dlpack_exchange_api"' in repr(dt.Tensor.__dlpack_c_exchange_api__)
    assert (OURS.major, OURS.minor) == dt.dlpack_version
    assert OURS.prev_api is None
    gc.collect()
    assert ctypes.addressof(table_of(type(dt.zeros(2)))) == ctypes.addressof(OURS)


# Rule 53.
def test_no_function_of_the_table_is_missing():
    for name in ("allocate", "managed_from", "managed_to", "borrow", "stream"):
        assert ctypes.cast(getattr(OURS, name), ctypes.c_void_p).value, name


# Rules 1, 4.
def test_a_managed_tensor_holds_the_memory_until_its_deleter_runs():
    lent = Lent((2, 3))
    managed = export(dt.from_dlpack(lent.capsule())[:, 1:])
    assert (managed.major, managed.minor, managed.flags) == (*dt.dlpack_version, 0)
    assert managed.dl_tensor.data == lent.address + 4
    assert lent.deletions == 0
    call_deleter(managed)
    assert lent.deletions == 1


# Rules 5, 43.
def test_a_managed_tensor_says_that_it_is_read_only():
    managed = export(read_only())
    assert managed.flags == READ_ONLY
    call_deleter(managed)


# Rules 44, 55.
@pytest.mark.parametrize("function", [export, borrow])
def test_what_may_not_be_exported_is_refused_with_the_error_set(function):
    with pytest.raises(dt.ExchangeError, match=r"detach\(\)"):
        function(dt.zeros(2).requires_grad_())
    for other in (np.zeros(2), None, dt.float32):
        with pytest.raises(TypeError, match=type(other).__name__):
            function(other)


# Rule 56.
def test_a_borrowed_tensor_lies_where_ours_does_and_holds_nothing():
    t = dt.arange(6, dtype=dt.int16).reshape(2, 3)[:, 1:]
    before = sys.getrefcount(t)
    d = borrow(t)
    assert sys.getrefcount(t) == before
    assert (d.data, d.byte_offset, d.ndim) == (t.data_ptr(), 0, 2)
    assert (d.code, d.bits, d.lanes, d.device_type, d.device_id) == (0, 16, 1, *CPU)
    assert (d.shape[:2], d.strides[:2]) == ([2, 2], [3, 1])


# Rules 43, 56.
def test_what_a_borrowed_tensor_cannot_say_is_refused():
    with pytest.raises(dt.ExchangeError, match="read-only"):
        borrow(read_only())
    padded = Lent((2,), code=17, bits=4, flags=4)
    with pytest.raises(dt.ExchangeError, match="padded"):
        borrow(dt.from_dlpack(padded.capsule()))


# Rule 57.
@pytest.mark.parametrize("flags", [0, READ_ONLY, IS_COPIED])
def test_a_managed_tensor_becomes_ours_and_is_deleted_once(flags):
    lent = Lent(flags=flags).fill([1, 2, 4])
    t = take_in(lent)
    assert type(t) is dt.Tensor
    assert (t.data_ptr(), t.tolist()) == (lent.address, [1, 2, 4])
    assert t.readonly is (flags == READ_ONLY)
    alone = object()  # CPython 3.14 counts one reference less
    assert sys.getrefcount(t) == sys.getrefcount(alone)
    assert lent.deletions == 0
    del t
    assert lent.deletions == 1


# Rules 30, 57.
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ndim": -1}, "ndim -1"),
        ({"version": (2, 0)}, r"version 2\.0"),
        ({"flags": 8}, "0x8"),
        ({"data": None}, "no data"),
    ],
    ids=str,
)
def test_what_we_refuse_to_take_stays_the_callers(fields, message):
    lent = Lent(**fields)
    with pytest.raises(dt.ExchangeError, match=message):
        take_in(lent)
    assert lent.deletions == 0


# Rule 54.
def test_there_is_no_stream_on_the_cpu():
    out = ctypes.c_void_p(1)
    assert OURS.stream(*CPU, out) == 0
    assert out.value is None


# Rules 54, 55.
def test_a_device_that_nobody_serves_has_no_stream_but_exports_without_waiting():
    with pytest.raises(dt.ExchangeError, match="cuda:1"):
        OURS.stream(2, 1, ctypes.c_void_p())
    lent = Lent(device=(2, 1))
    managed = export(dt.from_dlpack(lent.capsule()))
    assert (managed.dl_tensor.device_type, managed.dl_tensor.device_id) == (2, 1)
    call_deleter(managed)
    assert lent.deletions == 1


def allocate(**fields):
    """The result of the table's allocator for a prototype, and the error that it reports."""
    reports = []
    prototype = Lent(version=None, data=None, **fields).managed.dl_tensor
    out = ctypes.c_void_p()
    note = SetError(lambda context, kind, message: reports.append((context, kind, message)))
    result = OURS.allocate(prototype, out, 77, note)
    return result, out.value, reports


# Rule 58.
@pytest.mark.parametrize("shape", [(2, 3), (), (0, 4), (1,) * 64], ids=len)
def test_the_allocator_makes_dense_memory_of_the_prototypes_shape_and_type(shape):
    result, address, reports = allocate(shape=shape, code=5, bits=64)
    assert (result, reports) == (0, [])
    managed = Versioned.from_address(address)
    t = dt.empty(shape, dtype=dt.complex64)
    tensor = managed.dl_tensor
    assert (tensor.code, tensor.bits, tensor.ndim) == (5, 64, len(shape))
    assert tuple(tensor.shape[: len(shape)] if shape else ()) == t.shape
    assert tuple(tensor.strides[: len(shape)] if shape else ()) == t.strides
    assert (tensor.data is None) == (t.size == 0)
    if t.size:
        ctypes.memset(tensor.data, 1, t.nbytes)
    call_deleter(managed, hold_gil=False)


# Rule 58.
@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"ndim": -1}, b"ValueError", b"shape"),
        ({"null_shape": True}, b"ValueError", b"shape"),
        ({"shape": (2, -3)}, b"ValueError", b"-3"),
        ({"shape": (1 << 40, 1 << 40)}, b"ValueError", b"elements"),
        ({"shape": (1 << 50,)}, b"MemoryError", b"bytes"),
        ({"ndim": 65, "shape": (1,) * 65}, b"ValueError", b"65"),
        ({"code": 99}, b"ValueError", b"type"),
        ({"device": (2, 0)}, b"ValueError", b"cuda"),
    ],
    ids=str,
)
def test_the_allocator_reports_to_its_caller_alone(fields, kind, message):
    result, address, reports = allocate(**fields)
    assert (result, address) == (-1, None)
    ((context, reported, text),) = reports
    assert (context, reported) == (77, kind)
    assert message in text


# Rules 51, 57.
def test_tvm_ffi_takes_our_tensors_by_the_table_and_gives_them_back():
    seen = []
    same = tvm_ffi.convert(lambda x: (seen.append(x), x)[1])
    t = dt.arange(4)
    back = same(t)
    assert type(seen[0]) is tvm_ffi.Tensor
    assert type(back) is dt.Tensor  # made by the table's to_py_object
    assert seen[0].data_ptr() == back.data_ptr() == t.data_ptr()
    with pytest.raises(dt.ExchangeError, match="detach"):
        same(dt.zeros(2).requires_grad_())
