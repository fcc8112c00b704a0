"""convert() from read-only memory of an emulated GPU: which libraries share, which need a copy."""

import emulated_gpu
import jax
import pyarrow as pa
import pytest
import torch

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())


class ReadOnly:
    def __init__(self, tensor):
        self.tensor = tensor
        address, _ = tensor.__cuda_array_interface__["data"]
        self.__cuda_array_interface__ = {
            **tensor.__cuda_array_interface__,
            "data": (address, True),
        }


@pytest.fixture
def tensor():
    t = dt.from_cuda_array_interface(ReadOnly(dt.zeros(4, device="cuda:0")))
    assert t.readonly and str(t.device) == "cuda:0"
    return t


# JAX may reuse donated memory. It is known not to write to shared memory on the CPU only.
@pytest.mark.parametrize("target", [jax.Array, torch.Tensor])
def test_read_only_memory_of_a_gpu_is_not_shared_with_those_that_may_write(tensor, target):
    with pytest.raises(dt.ExchangeError, match="is read-only, which it would not respect"):
        dt.convert(tensor, target, copy=False)


# (PyArrow's CPU build then reports that it has no such device.)
def test_read_only_memory_of_a_gpu_goes_to_those_that_never_write(tensor):
    assert dt.convert(tensor, dt.Tensor, copy=False) is tensor
    refused = dt.explain(tensor, pa.Array, copy=False).refused
    assert isinstance(refused, dt.ExchangeError) and "read-only" not in str(refused)
    assert isinstance(refused.__cause__, pa.ArrowException)
