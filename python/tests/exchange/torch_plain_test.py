"""PyTorch tensors that look plain and are not: what is read of them is what PyTorch says."""

import numpy as np
import pytest
import torch
from torch_without_memory import WITHOUT_MEMORY

import dovetail as dt


def address(x):
    return dt.from_dlpack(x).data_ptr()


def test_plain_tensors_come_in_as_they_are():
    base = torch.arange(120, dtype=torch.float64).reshape(2, 3, 4, 5)
    views = [base, base.mT, base[1:, ::2, 1], base.permute(3, 1, 0, 2)[2:], base[0, 0, 0, 0]]
    views += [base.expand(2, 2, 3, 4, 5), base[:, None, None, :, None], base.view(torch.int16)]
    views += [base.to(memory_format=torch.channels_last), base[:0], base.unfold(1, 2, 1)]
    for x in views:
        t = dt.from_dlpack(x)
        assert tuple(t.shape) == tuple(x.shape)
        assert tuple(t.strides) == tuple(x.stride()) or x.numel() == 0
        assert t.tolist() == x.tolist()
        if x.numel():
            assert t.data_ptr() == x.data_ptr()


def test_a_lazy_clone_is_copied_before_it_is_shared():
    x = torch.zeros(3)
    y = torch._lazy_clone(x)
    dt.from_dlpack(y)[0] = 5
    assert (x.tolist(), y.tolist()) == ([0, 0, 0], [5, 0, 0])
    z = torch._lazy_clone(x)
    dt.from_dlpack(x)[1] = 7
    assert (x.tolist(), z.tolist()) == ([0, 7, 0], [0, 0, 0])


def test_resized_and_replaced_tensors_are_read_anew():
    x = torch.arange(4.0)
    assert dt.from_dlpack(x).shape == (4,)
    x.resize_(2, 2)
    assert dt.from_dlpack(x).shape == (2, 2)
    assert address(x) == x.data_ptr()
    x.data = torch.ones(1, 1, 1, 1, 1, 1, 2)
    assert dt.from_dlpack(x).tolist() == x.tolist()
    x.set_()
    assert dt.from_dlpack(x).shape == (0,)


def test_gradients_are_refused_however_they_come():
    leaf = torch.ones(3, requires_grad=True)
    for x in (leaf, leaf * 2, leaf[1:], leaf.view(3, 1), torch.ones(3).requires_grad_()):
        with pytest.raises(BufferError, match="grad"):
            dt.from_dlpack(x)
    assert address(leaf.detach()) == leaf.data_ptr()
    toggled = torch.ones(3).requires_grad_()
    toggled.requires_grad_(False)  # has a record of gradients, and requires none
    assert address(toggled) == toggled.data_ptr()


def test_tensors_of_inference_mode_come_in():
    with torch.inference_mode():
        x = torch.arange(3.0)
    assert dt.from_dlpack(x).tolist() == [0, 1, 2]
    assert address(x) == x.data_ptr()


def test_marks_and_layouts_are_seen():
    with pytest.raises(BufferError, match="conj"):
        dt.from_dlpack(torch.ones(2, dtype=torch.complex64).conj())
    with pytest.raises(BufferError, match="negation"):
        dt.from_dlpack(torch._neg_view(torch.ones(2)))
    for x in (torch.ones(2, 2).to_sparse(), torch.ones(2, device="meta")):
        with pytest.raises((BufferError, RuntimeError)):
            dt.from_dlpack(x)
    quantized = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8)
    with pytest.raises((BufferError, RuntimeError)):
        dt.from_dlpack(quantized)


def test_tensors_inside_transforms_are_not_read():
    seen = []

    def f(x):
        with pytest.raises((BufferError, RuntimeError)):
            dt.from_dlpack(x)
        seen.append(type(x))
        return x.sum()

    torch.vmap(f)(torch.ones(2, 3))
    torch.func.grad(f)(torch.ones(3))
    assert seen == [torch.Tensor, torch.Tensor]


def test_every_type_has_its_own():
    for name in ("bool", "uint8", "uint16", "int64", "bfloat16", "float8_e4m3fn", "complex128"):
        x = torch.zeros(3, dtype=getattr(torch, name))
        t = dt.from_dlpack(x)
        assert (t.dtype, t.data_ptr()) == (name, x.data_ptr())


def test_shared_memory_of_numpy_keeps_its_offset():
    array = np.arange(10, dtype=np.int16)
    x = torch.from_numpy(array)[3:]
    assert address(x) == array.ctypes.data + 6


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
@pytest.mark.parametrize("door", [dt.from_dlpack, lambda x: dt.convert(x, np.ndarray)])
def test_tensors_with_elements_and_no_memory_are_refused(name, door, capfd):
    with pytest.raises((BufferError, RuntimeError)):
        door(WITHOUT_MEMORY[name]())
    assert capfd.readouterr().err == ""


def test_the_error_of_a_storage_that_was_resized_names_both_sizes():
    x = torch.arange(4.0)
    x.untyped_storage().resize_(8)
    with pytest.raises(dt.ExchangeError, match="takes 16 bytes of its storage, which has 8"):
        dt.from_dlpack(x)
    x.untyped_storage().resize_(16)
    assert address(x) == x.data_ptr()


def test_a_tensor_without_elements_needs_no_storage():
    x = torch.zeros(3, 0)
    x.untyped_storage().resize_(0)
    assert dt.from_dlpack(x).shape == (3, 0)
    assert dt.from_dlpack(x[1:]).shape == (2, 0)


def test_nothing_of_a_shared_storage_is_changed():
    x = torch.arange(4.0)
    t = dt.from_dlpack(x)
    assert x.untyped_storage().resizable()
    del t
    x.resize_(8)
    assert dt.from_dlpack(x).shape == (8,)


@pytest.mark.parametrize("inside", [torch.inference_mode, torch.no_grad])
def test_tensors_come_in_inside_a_mode_of_gradients(inside):
    outside = torch.arange(3.0)
    with inside():
        for x in (outside, torch.arange(3.0), torch.arange(6.0)[::2]):
            t = dt.from_dlpack(x)
            assert (t.tolist(), t.data_ptr()) == (x.tolist(), x.data_ptr())
