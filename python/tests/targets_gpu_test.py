"""convert() from read-only memory of an emulated GPU: who shares it, and who would get a copy."""

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


# JAX may reuse donated memory; that it leaves alone what it shares is known of the CPU only.
@pytest.mark.parametrize(
    ("target", "shares"),
    [(dt.Tensor, True), (pa.Array, True), (jax.Array, False), (torch.Tensor, False)],
)
def test_read_only_memory_of_a_gpu_is_shared_with_those_that_never_write(target, shares):
    t = dt.from_cuda_array_interface(ReadOnly(dt.zeros(4, device="cuda:0")))
    assert t.readonly and str(t.device) == "cuda:0"
    assert dt.explain(t, target).aliases is shares
