"""What the doors make of producers that lack methods or refuse: one rule for all."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from managed import Lent, Producer
from peers import paddle

import dovetail as dt

DOORS = {
    "from_dlpack": dt.from_dlpack,
    "asarray": dt.asarray,
    "tensor": dt.tensor,
    "convert to ours": lambda x: dt.convert(x, dt.Tensor),
    "convert": lambda x: dt.convert(x, np.ndarray),
    "assignment": lambda x: dt.zeros(3).__setitem__(..., x),
}
WIDER = {name: door for name, door in DOORS.items() if name != "from_dlpack"}


class Bare:
    """Has __dlpack__ alone."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, **request):
        return self.source.__dlpack__(**request)


class BareByNone(Bare):
    __dlpack_device__ = None


@pytest.mark.parametrize("cls", [Bare, BareByNone])
def test_a_producer_without_a_device_is_on_the_cpu_as_for_numpy(cls):
    array = np.arange(3, dtype=np.float32)
    assert np.from_dlpack(cls(array)).ctypes.data == array.ctypes.data
    assert dt.from_dlpack(cls(array)).data_ptr() == array.ctypes.data
    assert dt.asarray(cls(array)).data_ptr() == array.ctypes.data
    assert dt.convert(cls(array), np.ndarray).ctypes.data == array.ctypes.data
    assert dt.tensor(cls(array)).tolist() == [0, 1, 2]
    assert dt.from_dlpack(cls(array), copy=True).data_ptr() != array.ctypes.data
    report = dt.explain(cls(array))
    assert report.aliases and report.door == "__dlpack__" and report.device == "cpu"


def test_memory_with_streams_is_refused_from_a_producer_without_a_device():
    deleted = []
    lent = Lent(device=(2, 0), data=1 << 20, on_delete=lambda: deleted.append(1))
    with pytest.raises(dt.ExchangeError, match="cuda:0 and no __dlpack_device__"):
        dt.from_dlpack(Bare(Producer(lambda **request: lent.capsule(), (2, 0))))
    assert len(deleted) == 1


class NoDLPack:
    __dlpack__ = None  # as __hash__ = None says that there is none


class ArrayWithoutDLPack(NoDLPack):
    array = np.arange(3, dtype=np.float32)

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_a_method_that_is_none_is_not_there():
    with pytest.raises(AttributeError, match="no attribute '__dlpack__'"):
        dt.from_dlpack(ArrayWithoutDLPack())
    for name, door in WIDER.items():
        with pytest.raises(TypeError):
            door(NoDLPack())
        door(ArrayWithoutDLPack())
        assert name
    assert dt.asarray(ArrayWithoutDLPack()).data_ptr() == ArrayWithoutDLPack.array.ctypes.data


class RefusesBuffer:
    """As Paddle's DenseTensor: its buffer raises, and its __array__() gives an array."""

    def __init__(self):
        self.dense = paddle.base.core.DenseTensor()
        self.dense.set(np.arange(3, dtype=np.float32), paddle.base.core.CPUPlace())


@pytest.mark.parametrize("door", WIDER.values(), ids=WIDER)
def test_what_refuses_its_buffer_is_asked_for_an_array_as_numpy_does(door):
    dense = RefusesBuffer().dense
    with pytest.raises(BufferError):
        memoryview(dense)
    assert np.asarray(dense).tolist() == [0, 1, 2]
    made = door(dense)
    assert made is None or made.tolist() == [0, 1, 2]
    assert dt.explain(dense, dt.Tensor).door == "__array__"


def test_a_buffer_that_is_refused_is_an_exchange_error_by_all_doors():
    testbuffer = pytest.importorskip("_testbuffer")  # CPython's own
    pointers = testbuffer.ndarray(list(range(6)), shape=[2, 3], flags=testbuffer.ND_PIL)
    for door in (*WIDER.values(), lambda x: dt.frombuffer(x, dtype="uint8")):
        with pytest.raises(dt.ExchangeError, match="suboffsets"):
            door(pointers)
    dense = RefusesBuffer().dense
    with pytest.raises(dt.ExchangeError, match="BufferError: ") as raised:
        dt.frombuffer(dense, dtype="uint8")
    assert type(raised.value.__cause__) is BufferError


UNKNOWN = {
    "jax": (jax.Array, "int2"),
    "torch": (torch.Tensor, "float6_e2m3fn"),
    "paddle": (paddle.Tensor, "int2"),
}


@pytest.mark.parametrize("library", UNKNOWN)
def test_what_a_library_does_not_take_is_an_exchange_error_with_its_own_as_the_cause(library):
    target, dtype = UNKNOWN[library]
    tensor = dt.zeros(4, dtype=dtype)
    with pytest.raises(dt.ExchangeError, match=r"does not take the tensor: .*Error: ") as raised:
        dt.convert(tensor, target)
    assert isinstance(raised.value.__cause__, RuntimeError)
    report = dt.explain(tensor, target)
    assert (report.aliases, type(report.refused)) == (None, dt.ExchangeError)


def test_a_jax_array_that_was_deleted_is_an_exchange_error():
    array = jnp.ones(3)
    array.delete()
    for door in DOORS.values():
        with pytest.raises(dt.ExchangeError, match="The producer's"):
            door(array)
