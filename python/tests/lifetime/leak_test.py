"""Many exchanges through each protocol leak nothing, and neither do refusals.

testing/leaks.py says how that is proved.
"""

import array
import collections
import ctypes
import itertools
import queue
import threading

import jax
import numpy as np
import paddle
import pyarrow as pa
import pytest
import torch
import tvm_ffi
from leaks import MANY, SLOWER, leaves_nothing
from managed import Lent, take_over
from peers import JAX, PADDLE, PYARROW, TORCH, TVM_FFI

import dovetail as dt

OF_REFUSALS = MANY // 4


class With:
    """An object with only one attribute."""

    def __init__(self, **attributes):
        self.__dict__ = attributes


class Old:
    """A producer of legacy capsules that knows no keywords."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class Says:
    """A producer that returns the same object for every request."""

    def __init__(self, says):
        self.says = says

    def __dlpack__(self, **_):
        return self.says

    def __dlpack_device__(self):
        return (1, 0)


class Raises(Says):
    def __dlpack__(self, **_):
        raise self.says("no")


def from_peer(peer):
    return lambda: peer.make("float32", [1, 2, 4])


def numpy_array():
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def ours():
    return dt.from_dlpack(numpy_array())


def read_only():
    return dt.frombuffer(b"abcdefgh", dtype=dt.float32)


def torch_tensor():
    return torch.arange(6.0).reshape(2, 3)


def used_capsule():
    capsule = numpy_array().__dlpack__()
    dt.from_dlpack(capsule)
    return capsule


through_ffi = tvm_ffi.convert(lambda x: x)
CUDA_FIELDS = {"shape": (2,), "typestr": "<f4", "data": (64, False), "version": 3, "stream": None}


# The exchanged object, the exchange, and its number of repetitions if many would take minutes
# because of the other library.
IN = {
    "NumPy array": (numpy_array, dt.from_dlpack),
    "NumPy array, copied": (numpy_array, lambda x: dt.from_dlpack(x, copy=True)),
    "NumPy array through its __dlpack__": (lambda: Old(numpy_array()), dt.from_dlpack),
    "PyTorch tensor": (from_peer(TORCH), dt.from_dlpack),
    "PyTorch tensor through its __dlpack__": (
        lambda: torch.zeros(2).as_subclass(type("Sub", (torch.Tensor,), {})),
        dt.from_dlpack,
        MANY // 4,
    ),
    "JAX array": (from_peer(JAX), dt.from_dlpack, MANY // 4),
    "Paddle tensor": (from_peer(PADDLE), dt.from_dlpack, MANY // 4),
    "tvm-ffi tensor": (from_peer(TVM_FFI), dt.from_dlpack),
    "Arrow array": (from_peer(PYARROW), dt.from_dlpack, MANY // 4),
    "Dovetail tensor": (ours, dt.from_dlpack),
    "legacy capsule": (numpy_array, lambda x: dt.from_dlpack(x.__dlpack__())),
    "versioned capsule": (
        numpy_array,
        lambda x: dt.from_dlpack(x.__dlpack__(max_version=(1, 0))),
    ),
    "frombuffer": (lambda: bytearray(64), lambda x: dt.frombuffer(x, dtype=dt.float32)),
    "buffer": (lambda: array.array("f", [1, 2]), lambda x: dt.convert(x, dt.Tensor)),
    "array interface": (
        lambda: With(__array_interface__=numpy_array().__array_interface__),
        dt.from_array_interface,
    ),
    "CUDA array interface": (
        lambda: With(__cuda_array_interface__=CUDA_FIELDS),
        dt.from_cuda_array_interface,
    ),
    "Arrow's interface": (from_peer(PYARROW), dt.from_arrow, MANY // 4),
    "type": (
        lambda: type("Type", (), {"__dlpack_data_type__": lambda _: (2, 32, 1)})(),
        lambda x: (dt.dtype(x), dt.float16.__dlpack_data_type__(), np.dtype(dt.float16)),
    ),
    "device": (
        lambda: type("At", (), {"__dlpack_device__": lambda _: (2, 0)})(),
        lambda x: (dt.Device(x), dt.Device("cuda").__dlpack_device__()),
    ),
    "convert": (from_peer(TORCH), lambda x: dt.convert(x, dt.Tensor)),
    "tensor": (numpy_array, dt.tensor),
    "nested lists": (lambda: [[1.5, 2.5], [3.5, 4.5]], dt.tensor, MANY // 4),
    "explain": (numpy_array, dt.explain, MANY // 10),
}
OUT = {
    "capsule that nobody takes": (ours, dt.Tensor.__dlpack__),
    "versioned capsule that nobody takes": (ours, lambda t: t.__dlpack__(max_version=(1, 0))),
    "capsule of a copy": (ours, lambda t: t.__dlpack__(copy=True)),
    "np.from_dlpack": (ours, np.from_dlpack),
    "torch.from_dlpack": (ours, torch.from_dlpack),
    "jax.dlpack.from_dlpack": (ours, JAX.take, MANY // 20),
    "tvm_ffi.from_dlpack": (ours, tvm_ffi.from_dlpack),
    "exchange API, both ways": (ours, through_ffi),
    "numpy": (ours, dt.Tensor.numpy),
    "np.asarray": (ours, np.asarray),
    "buffer": (ours, memoryview),
    "buffer of bytes": (read_only, bytes),
    "array interface": (ours, lambda t: t.__array_interface__),
    "CUDA array interface": (
        lambda: dt.from_dlpack(Lent(device=(2, 0)).capsule()),
        lambda t: t.__cuda_array_interface__,
    ),
    "Arrow array": (lambda: ours()[0], dt.Tensor.__arrow_c_array__),
    "Arrow device array": (lambda: ours()[0], dt.Tensor.__arrow_c_device_array__),
    "pa.array": (lambda: ours()[0], pa.array, MANY // 4),
    "NumPy to PyTorch": (numpy_array, lambda x: dt.convert(x, torch.Tensor)),
    "NumPy to PyTorch, copied": (
        numpy_array,
        lambda x: dt.convert(x, torch.Tensor, copy=True),
        MANY // 4,
    ),
    "read-only to PyTorch": (read_only, lambda t: dt.convert(t, torch.Tensor), MANY // 4),
    "PyTorch to NumPy": (torch_tensor, lambda x: dt.convert(x, np.ndarray)),
    "PyTorch to tvm-ffi": (torch_tensor, lambda x: dt.convert(x, tvm_ffi.Tensor)),
    # Through Paddle's table, because paddle.from_dlpack (3.3.1) leaks two objects in every call.
    "PyTorch to Paddle": (torch_tensor, lambda x: dt.convert(x, paddle.Tensor), MANY // 4),
    "NumPy to JAX": (numpy_array, lambda x: dt.convert(x, jax.Array), MANY // 20),
    "NumPy to Arrow": (lambda: np.arange(3), lambda x: dt.convert(x, pa.Array), MANY // 4),
    "views": (ours, lambda t: (t[1:, ::2], t.T, t.reshape(3, 2), t[0, 1], t.detach()), MANY // 2),
    "copies": (ours, lambda t: (t.copy(), t.T.contiguous(), t.T.reshape(6)), MANY // 2),
    "values": (ours, lambda t: (t.tolist(), t[0, 0].item(), float(t[0, 0])), MANY // 2),
}
REFUSED = {
    "requires a gradient": (lambda: torch.zeros(2, requires_grad=True), dt.from_dlpack),
    "ours requires a gradient": (lambda: ours().requires_grad_(), np.from_dlpack),
    "device that nobody serves": (numpy_array, lambda x: dt.from_dlpack(x, device="hexagon")),
    "needs a copy": (numpy_array, lambda x: dt.from_dlpack(x, device="cuda", copy=False)),
    "used capsule": (used_capsule, dt.from_dlpack),
    "capsule of another name": (lambda: dt.Tensor.__dlpack_c_exchange_api__, dt.from_dlpack),
    "not for an immutable capsule": (read_only, dt.Tensor.__dlpack__),
    "stream on the CPU": (ours, lambda t: t.__dlpack__(stream=3)),
    "wrong keyword": (ours, lambda t: t.__dlpack__(colour=3)),
    "no such argument": (ours, lambda t: dt.from_dlpack(t, t)),
    "no protocol": (object, dt.from_dlpack),
    "nothing in the place of a capsule": (lambda: Says(None), dt.from_dlpack),
    "producer that raises": (lambda: Raises(BufferError), dt.from_dlpack),
    "producer that knows nothing": (lambda: Raises(TypeError), dt.from_dlpack),
    "offset outside the buffer": (
        lambda: bytearray(8),
        lambda x: dt.frombuffer(x, dtype=dt.int8, offset=9),
    ),
    "nothing to convert": (list, lambda x: dt.convert(x, np.ndarray)),
    "array interface without a shape": (
        lambda: With(__array_interface__={"typestr": "<f4", "version": 3}),
        dt.from_array_interface,
    ),
    "CUDA array interface with a mask": (
        lambda: With(__cuda_array_interface__={**CUDA_FIELDS, "mask": 1}),
        dt.from_cuda_array_interface,
    ),
    "Arrow array with nulls": (lambda: pa.array([1, None]), dt.from_arrow),
    "Arrow array with gaps": (lambda: dt.zeros(2, 3).T, dt.Tensor.__arrow_c_array__),
    "class that nobody registered": (numpy_array, lambda x: dt.convert(x, int)),
    "read-only, not to be copied": (read_only, lambda t: dt.convert(t, torch.Tensor, copy=False)),
    "buffer that may be written": (read_only, (ctypes.c_char * 8).from_buffer),
    "type that answers badly": (
        lambda: type("Type", (), {"__dlpack_data_type__": lambda _: (2, 33, 1)})(),
        dt.dtype,
    ),
    "type that raises": (
        lambda: type("Type", (), {"__dlpack_data_type__": lambda _: 1 // []})(),
        dt.dtype,
    ),
    "device that answers badly": (lambda: type("At", (), {"__dlpack_device__": id})(), dt.Device),
    "tensor as a device": (ours, dt.Device),
    "type that NumPy lacks": (lambda: dt.handle, np.dtype),
    "index outside": (ours, lambda t: t[7]),
    "shape that does not fit": (ours, lambda t: t.reshape(5)),
}


REFUSALS = (BufferError, ValueError, TypeError, AttributeError, IndexError)


def check(make, exchange, times=MANY):
    x = make()
    leaves_nothing(lambda: exchange(x), [x], times)


@pytest.mark.parametrize("door", IN)
def test_nothing_is_left_of_what_came_in(door):
    check(*IN[door])


@pytest.mark.parametrize("door", OUT)
def test_nothing_is_left_of_what_went_out(door):
    check(*OUT[door])


# Rule 30.
@pytest.mark.parametrize("reason", REFUSED)
def test_nothing_is_left_of_what_was_refused(reason):
    make, exchange = REFUSED[reason]

    def attempt(x):
        try:
            exchange(x)
        except REFUSALS:
            return
        pytest.fail("It was not refused.")

    check(make, attempt, OF_REFUSALS)


# Rules 27, 30.
@pytest.mark.parametrize(
    "fields",
    [{}, {"version": None}, {"ndim": -1}, {"version": (2, 0)}, {"flags": 8}, {"data": None}],
    ids=str,
)
def test_every_capsule_has_its_deleter_called_once(fields):
    lent, times = Lent(**fields), 0
    lent.threads = collections.deque(maxlen=1)

    def exchange():
        nonlocal times
        times += 1
        capsule = lent.capsule()  # outlives the error: while it is set, the deleter can't count
        try:
            dt.from_dlpack(capsule)
        except dt.ExchangeError:
            assert fields

    leaves_nothing(exchange, [lent], MANY // 4)
    assert lent.deletions == times


# Rules 28, 30.
@pytest.mark.parametrize("hold_gil", [True, False])
def test_nothing_is_left_of_what_a_consumer_in_c_deletes(hold_gil):
    buffer = bytearray(8)
    t = dt.frombuffer(buffer, dtype=dt.int8)
    prototype = (ctypes.PYFUNCTYPE if hold_gil else ctypes.CFUNCTYPE)(None, ctypes.c_void_p)

    def exchange():
        managed = take_over(t.__dlpack__(max_version=(1, 0)))
        prototype(managed.deleter)(ctypes.addressof(managed))

    leaves_nothing(exchange, [buffer, t], MANY // 10)


# Rules 28, 30.
def test_nothing_is_left_of_what_another_thread_drops():
    x, shared = numpy_array(), []

    def drop():
        while (batch := batches.get()) is not None:
            del batch
            done.release()

    def exchange():
        shared.append(dt.from_dlpack(x))
        if len(shared) == 100:
            batches.put(shared.copy())
            shared.clear()
            done.acquire()

    batches, done = queue.SimpleQueue(), threading.Semaphore(0)
    thread = threading.Thread(target=drop)
    thread.start()
    try:
        leaves_nothing(exchange, [x])
    finally:
        batches.put(None)
        thread.join()


def test_a_block_lost_in_every_thousandth_exchange_would_show():
    lost, count = [], itertools.count()

    def exchange():
        if next(count) % 1000 == 0:
            lost.append(object())

    with pytest.raises(AssertionError):
        leaves_nothing(exchange, times=MANY * SLOWER)
