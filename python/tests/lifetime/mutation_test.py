"""Shared memory survives changes of its first owner, wherever the owner's own library manages
that."""

import functools

import pytest
from mutations import play
from process import run_python

TORCH = """
import torch
import dovetail as dt
def make():
    return torch.arange(float(COUNT))
"""
# Resizing the storage is not among them: it frees the memory under all tensors over it, as after
# PyTorch's own __dlpack__.
TORCH_MUTATIONS = {
    "data": "x.data = torch.zeros(1)",
    "set_": "x.set_()",
    "set_ to another": "x.set_(torch.zeros(1).untyped_storage())",
    "swap": "other = torch.zeros(1); torch.utils.swap_tensors(x, other); del other",
}
TORCH_PEERS = {
    "numpy()": "x.numpy()",
    "np.asarray": "np.asarray(x)",
    "np.from_dlpack": "np.from_dlpack(x)",
    "torch.from_dlpack": "torch.from_dlpack(x.__dlpack__(max_version=(1, 0))).numpy()",
}
TORCH_DOORS = {
    "convert to NumPy": "dt.convert(x, np.ndarray)",
    "convert a view": "dt.convert(x.view(-1), np.ndarray)",
    "from_dlpack": "dt.from_dlpack(x).numpy()",
    "from_dlpack, on its own device": "dt.from_dlpack(x, device='cpu', copy=False).numpy()",
    "view": "dt.from_dlpack(x)[:].reshape(-1).numpy()",
    "on by DLPack": "np.from_dlpack(dt.from_dlpack(x))",
    "on to PyTorch": "torch.from_dlpack(dt.from_dlpack(x)).numpy()",
    "on by buffer": "np.frombuffer(dt.from_dlpack(x), np.float32)",
}
# A PyTorch that violates the assumptions of torch_private.h.
OTHER_TORCH = TORCH + "torch.Tensor._cdata = 0"
OTHER_TORCH_MUTATIONS, OTHER_TORCH_PEERS, OTHER_TORCH_DOORS = (
    TORCH_MUTATIONS,
    TORCH_PEERS,
    TORCH_DOORS,
)
# What PyTorch lends by __dlpack__ alone.
PARAMETER = """
import torch
import dovetail as dt
def make():
    return torch.nn.Parameter(torch.arange(float(COUNT)), requires_grad=False)
"""
INSIDE_MODE = TORCH + "torch.set_default_device('cpu')"
PARAMETER_MUTATIONS = INSIDE_MODE_MUTATIONS = TORCH_MUTATIONS
PARAMETER_PEERS = INSIDE_MODE_PEERS = {}
PARAMETER_DOORS = INSIDE_MODE_DOORS = TORCH_DOORS

PADDLE = """
import paddle
import dovetail as dt
paddle.set_device("cpu")
def make():
    return paddle.arange(COUNT, dtype="float32")
"""
PADDLE_MUTATIONS = {
    "data": "x.data = paddle.zeros([1])",
    "set_": "x.set_(paddle.zeros([1]))",
    "clear": "x._clear()",
    "clear data": "x._clear_data()",
    "clear to zero": "x._clear_to_zero_allocation()",
    "inner tensor": "x.get_tensor().set(np.zeros(16 * COUNT, np.float32), paddle.CPUPlace())",
    "assign": "paddle.assign(paddle.zeros([16 * COUNT]), output=x)",
    "share": "paddle.zeros([1])._share_buffer_to(x)",
    "cast": "x.cast_('float64')",
    "resize": "x.resize_([16 * COUNT])",
}
PADDLE_PEERS = {"numpy()": "x.numpy()", "np.from_dlpack": "np.from_dlpack(x)"}
PADDLE_DOORS = {
    "convert to NumPy": "dt.convert(x, np.ndarray)",
    "from_dlpack": "dt.from_dlpack(x).numpy()",
    "view": "dt.from_dlpack(x)[:].numpy()",
    "on by DLPack": "np.from_dlpack(dt.from_dlpack(x))",
}

NUMPY = """
import torch
import dovetail as dt
def make():
    return np.arange(COUNT, dtype=np.float32)
"""
NUMPY_MUTATIONS = {
    "resize": "x.resize(16 * COUNT)",
    "resize, unchecked": "x.resize(16 * COUNT, refcheck=False)",
    "shrink, unchecked": "x.resize(0, refcheck=False)",
    "shape": "x.shape = (2, -1)",
    "state": "x.__setstate__(np.zeros(1).__reduce__()[2])",
}
NUMPY_PEERS = {
    "np.from_dlpack": "np.from_dlpack(x)",
    "torch.from_numpy": "torch.from_numpy(x).numpy()",
    "memoryview": "np.asarray(memoryview(x))",
    "view": "x[:]",
}
NUMPY_DOORS = {
    "from_dlpack": "dt.from_dlpack(x).numpy()",
    "frombuffer": "dt.frombuffer(x, dtype=dt.float32).numpy()",
    "convert to PyTorch": "dt.convert(x, torch.Tensor).numpy()",
}


@functools.cache
def outcomes(library):
    names = globals()
    ours, peers = names[f"{library}_DOORS"], names[f"{library}_PEERS"]
    played = play(names[library], ours | peers, names[f"{library}_MUTATIONS"])
    assert set(played.values()) <= {"kept", "lost", "crashed"}, played
    return played


def cases(library):
    names = globals()
    return [
        pytest.param(door, mutation, id=f"{door}, {mutation}")
        for door in names[f"{library}_DOORS"]
        for mutation in names[f"{library}_MUTATIONS"]
    ]


# Rule 56.
@pytest.mark.parametrize("door, mutation", cases("TORCH"))
def test_what_a_tensor_of_torch_lent_is_kept_whatever_becomes_of_the_tensor(door, mutation):
    assert outcomes("TORCH")[f"{door} | {mutation}"] == "kept"


# Rule 56.
@pytest.mark.parametrize("mutation", TORCH_MUTATIONS)
def test_numpy_of_torch_keeps_it_too(mutation):
    assert outcomes("TORCH")[f"numpy() | {mutation}"] == "kept"


# Rule 56.
@pytest.mark.parametrize("door, mutation", cases("OTHER_TORCH"))
def test_the_same_is_so_where_the_insides_of_torch_are_not_known(door, mutation):
    assert outcomes("OTHER_TORCH")[f"{door} | {mutation}"] == "kept"


# Rule 56.
@pytest.mark.parametrize("door, mutation", cases("PARAMETER"))
def test_what_a_parameter_lent_is_kept_whatever_becomes_of_it(door, mutation):
    assert outcomes("PARAMETER")[f"{door} | {mutation}"] == "kept"


# Rule 56.
@pytest.mark.parametrize("door, mutation", cases("INSIDE_MODE"))
def test_what_a_tensor_lent_inside_a_mode_is_kept_whatever_becomes_of_it(door, mutation):
    assert outcomes("INSIDE_MODE")[f"{door} | {mutation}"] == "kept"


def test_memory_of_a_storage_is_freed_with_the_last_that_holds_it():
    printed = run_python("""
        import weakref
        import numpy as np
        import torch
        import dovetail as dt
        class Array(np.ndarray):  # np.ndarray has no weak references
            pass
        x = np.arange(9).view(Array)
        alive = weakref.ref(x)
        t = torch.from_numpy(x)
        a = dt.convert(t, np.ndarray)
        del x, t
        print(alive() is not None, a.tolist() == list(range(9)))
        del a
        print(alive() is None)
    """)
    assert printed.split() == ["True"] * 3


# Rule 56.
@pytest.mark.parametrize("door, mutation", cases("PADDLE"))
def test_what_a_tensor_of_paddle_lent_is_kept_whatever_becomes_of_the_tensor(door, mutation):
    assert outcomes("PADDLE")[f"{door} | {mutation}"] == "kept"


@pytest.mark.parametrize("door, mutation", cases("NUMPY"))
def test_what_an_array_of_numpy_lent_is_kept_wherever_all_peers_keep_it(door, mutation):
    played = outcomes("NUMPY")
    # (Memory that was freed may still have its content by chance, with one peer or another.)
    if all(played[f"{peer} | {mutation}"] == "kept" for peer in NUMPY_PEERS):
        assert played[f"{door} | {mutation}"] == "kept", played
