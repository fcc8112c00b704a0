"""convert() between all libraries: the memory is shared if both sides allow it."""

import gc
import sys

import jax
import numpy as np
import onnxruntime
import paddle
import pyarrow as pa
import pytest
import torch
import tvm_ffi
from peers import EXPORTERS

import dovetail as dt

TARGETS = {
    "numpy": np.ndarray,
    "torch": torch.Tensor,
    "paddle": paddle.Tensor,
    "jax": jax.Array,
    "tvm-ffi": tvm_ffi.Tensor,
    "onnxruntime": onnxruntime.OrtValue,
    "dovetail": dt.Tensor,
}
# Libraries that would write to read-only memory: they get a copy.
WRITERS = ("torch", "paddle", "tvm-ffi", "onnxruntime")


def pointer(x):
    """The address of element 0, as Dovetail reads it from any library's tensor."""
    return dt.convert(x, dt.Tensor).data_ptr()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("peer", EXPORTERS, ids=repr)
def test_a_writable_tensor_is_shared_and_an_immutable_one_only_with_readers(peer, target):
    x = peer.make("float32", [1, 2, 4])
    source = dt.convert(x, dt.Tensor)
    y = dt.convert(x, TARGETS[target])
    assert isinstance(y, TARGETS[target])
    assert dt.convert(y, dt.Tensor).tolist() == source.tolist()
    shared = pointer(y) == source.data_ptr()
    takes_access = not (source.readonly and target in WRITERS)
    takes_place = target != "jax" or source.data_ptr() % 64 == 0
    assert shared == (takes_access and takes_place)


def test_jax_is_given_a_copy_of_what_is_not_aligned_as_it_asks():
    t = dt.zeros(8)[1:]  # dovetail's memory is aligned to 256 bytes
    assert dt.convert(t, jax.Array).unsafe_buffer_pointer() != t.data_ptr()
    with pytest.raises(dt.ExchangeError, match="aligned"):
        dt.convert(t, jax.Array, copy=False)


def test_an_object_of_the_class_itself_is_given_back():
    x = torch.arange(3)
    assert dt.convert(x, torch.Tensor) is x
    assert dt.convert(x, torch.Tensor, copy=True).data_ptr() != x.data_ptr()


def test_an_object_of_an_abstract_class_is_given_back_and_its_own_class_is_known():
    x = jax.numpy.arange(3)
    assert dt.convert(x, jax.Array) is x
    y = dt.convert(np.ones(3), type(x))
    assert type(y) is type(x) and y.tolist() == [1, 1, 1]


@pytest.mark.parametrize("target", TARGETS)
def test_copy_true_shares_nothing(target):
    a = np.arange(4, dtype=np.float32)
    y = dt.convert(a, TARGETS[target], copy=True)
    assert pointer(y) != a.ctypes.data
    a[0] = 9
    assert dt.convert(y, dt.Tensor).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("target", ["torch", "paddle"])
def test_negative_strides_are_copied_for_libraries_without_them(target):
    a = np.arange(6, dtype=np.float32)[::-2]
    y = dt.convert(a, TARGETS[target])
    assert dt.convert(y, dt.Tensor).tolist() == [5, 3, 1]
    with pytest.raises(dt.ExchangeError, match="negative strides"):
        dt.convert(a, TARGETS[target], copy=False)


@pytest.mark.parametrize("target", WRITERS)
def test_read_only_memory_never_reaches_a_library_that_would_write_to_it(target):
    a = np.arange(4, dtype=np.float32)
    a.flags.writeable = False
    y = dt.convert(a, TARGETS[target])
    assert pointer(y) != a.ctypes.data
    with pytest.raises(dt.ExchangeError, match="read-only"):
        dt.convert(a, TARGETS[target], copy=False)


def test_jax_shares_read_only_memory_since_it_never_writes():
    a = dt.tensor([1.0, 2.0]).numpy()  # aligned as JAX requires
    a.flags.writeable = False
    assert dt.convert(a, jax.Array).unsafe_buffer_pointer() == a.ctypes.data


def test_what_jax_would_narrow_is_an_error_unless_it_has_types_of_64_bits():
    a = dt.zeros((2,), dtype=dt.int64)
    with jax.enable_x64(False):
        for copy in (None, False, True):
            with pytest.raises(dt.ExchangeError, match=r"int64 to int32.*jax_enable_x64"):
                dt.convert(a, jax.Array, copy=copy)
        assert dt.convert(a.to(dt.int32), jax.Array).dtype == "int32"
    with jax.enable_x64(True):
        assert dt.convert(a, jax.Array).dtype == "int64"


def test_an_arrow_array_shares_one_dimension():
    a = np.arange(4, dtype=np.int32)
    y = dt.convert(a, pa.Array)
    assert isinstance(y, pa.Array) and y.type == pa.int32()
    assert y.buffers()[1].address == a.ctypes.data


def test_arrays_without_dlpack_come_in_by_their_buffer():
    y = dt.convert(bytearray(b"\x01\x02"), np.ndarray)
    assert y.dtype == np.uint8 and y.tolist() == [1, 2]


def test_the_owner_is_let_go_with_the_result():
    a = np.arange(4, dtype=np.float32)
    before = sys.getrefcount(a)
    for target in TARGETS.values():
        y = dt.convert(a, target)
        del y
        gc.collect()
        assert sys.getrefcount(a) == before, target


def test_an_unknown_class_is_named_with_the_remedy():
    with pytest.raises(TypeError, match="register_converter"):
        dt.convert(np.zeros(2), dict)
    with pytest.raises(TypeError, match="a class"):
        dt.convert(np.zeros(2), 3)


def test_one_call_teaches_another_class():
    class Mine:
        def __init__(self, tensor):
            self.tensor = tensor

    a = np.arange(3, dtype=np.int64)
    dt.register_converter(Mine, Mine)
    assert dt.convert(a, Mine).tensor.data_ptr() == a.ctypes.data
    assert dt.convert(a, Mine, copy=True).tensor.data_ptr() != a.ctypes.data
    with pytest.raises(ValueError, match="itself"):
        dt.register_converter(torch.Tensor, Mine)
