"""The kernels called by tvm-ffi, over PyTorch's tensors, NumPy's and its own."""

import os

import numpy as np
import pytest
import torch
import tvm_ffi

import kernels

m = tvm_ffi.load_module(os.path.join(os.path.dirname(__file__), "library.so"))


def random(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


PACKED = torch.arange(24, dtype=torch.uint8).reshape(2, 12)
ANGLES = torch.arange(5)[:, None] / 10 ** torch.arange(4)
# By kernel: its arguments, and tensors for it to write.
CALLS = {
    "scale": ((random(9), 3.0), [torch.empty(9)]),
    "rms_norm": ((random(3, 8), random(8, seed=2), 1e-6), [torch.empty(3, 8)]),
    "gather_pages": (
        (random(6, 2, 3), torch.tensor([[5, 0, 2], [1, 1, 4]])),
        [torch.empty(2, 3, 2, 3)],
    ),
    "max_of_rows": (
        (random(2, 3, 40),),
        [torch.empty(2, 3), torch.empty(2, 3, dtype=torch.int64)],
    ),
    "dequantize_int4": ((PACKED, random(2)), [torch.empty(2, 24)]),
}
MAKERS = {
    "PyTorch": lambda x: x.clone(),
    "NumPy": lambda x: x.numpy().copy(),
    "tvm-ffi": lambda x: tvm_ffi.from_dlpack(x.clone()),
}


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("name", CALLS)
def test_each_gives_what_the_plain_call_gives(name, library):
    def make(x):
        return MAKERS[library](x) if torch.is_tensor(x) else x

    arguments, written = CALLS[name]
    written = [make(x) for x in written]
    getattr(m, name)(*map(make, arguments), *written)
    wanted = getattr(kernels, name)(*arguments)
    for got, expected in zip(written, wanted if len(written) > 1 else [wanted], strict=True):
        np.testing.assert_array_equal(np.from_dlpack(got), expected)


@pytest.mark.parametrize("library", MAKERS)
def test_what_is_changed_is_changed_in_place(library):
    x = random(2, 3, 5, 8)
    wanted = kernels.rotate(x.clone(), ANGLES.cos(), ANGLES.sin())
    changed = MAKERS[library](x)
    m.rotate(changed, ANGLES.cos(), ANGLES.sin())
    np.testing.assert_array_equal(np.from_dlpack(changed), wanted)


def test_a_result_whose_size_depends_on_the_list_is_tvm_ffis_tensor():
    made = m.flatten([random(2, 2), random(3)], 2.0)
    wanted = kernels.flatten([random(2, 2), random(3)], scale=2.0)
    np.testing.assert_array_equal(np.from_dlpack(made), wanted)


def test_a_bad_page_is_an_index_error():
    with pytest.raises(IndexError, match=r"gather_pages.*: table: no such page"):
        m.gather_pages(random(1, 2, 3), torch.tensor([[1]]), torch.empty(1, 1, 2, 3))
