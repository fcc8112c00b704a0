"""NCCL's Python bindings and dovetail.distributed, as far as there is no need of a GPU."""

import numpy as np
import pytest
from nccl.core.buffer import NcclBuffer
from nccl.core.typing import NcclDataType

import dovetail as dt
import dovetail.distributed
from dovetail.distributed import describe


class OnGpu:
    """Memory of the host that says it is a GPU's."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, "stream": None}


def on_gpu(dtype, shape=(2, 3)):
    return dt.from_cuda_array_interface(OnGpu(np.zeros(shape, dtype)))


@pytest.mark.parametrize(
    "name",
    ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"],
)
def test_the_number_of_a_type_is_that_of_the_bindings(name):
    t = on_gpu(name)
    assert describe(t).nccl() == (t.data_ptr(), 6, NcclDataType[name.upper()])


# NumPy has none of these types.
def test_the_numbers_of_the_other_types_are_those_of_the_bindings():
    types = dovetail.distributed._NCCL_TYPES
    assert types["bfloat16"] == NcclDataType.BFLOAT16
    assert types["float8_e4m3fn"] == NcclDataType.FLOAT8E4M3
    assert types["float8_e5m2"] == NcclDataType.FLOAT8E5M2
    assert set(types.values()) == set(NcclDataType)


def test_the_bindings_take_a_tensor_and_its_bytes():
    t = on_gpu("float32")
    whole, bytes_ = NcclBuffer(t), NcclBuffer(describe(t).buffer())
    assert (whole.ptr, whole.count, whole.dtype) == describe(t).nccl()
    assert (bytes_.ptr, bytes_.count, bytes_.dtype) == describe(t).nccl(as_bytes=True)


# The bindings themselves ignore strides.
def test_strided_memory_is_refused():
    with pytest.raises(dt.ExchangeError, match="NCCL's buffers are contiguous"):
        describe(on_gpu("float32")[:, ::2]).nccl()
