"""The exchange library in an extension module of its own, without the dovetail package."""

import sys

import exchange_user
import numpy as np
import pytest
import torch


def test_objects_share_memory_in_both_directions():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = exchange_user.round_trip(array, torch.Tensor)
    assert type(tensor) is torch.Tensor
    assert (tensor.data_ptr(), tensor.tolist()) == (array.ctypes.data, array.tolist())
    back = exchange_user.round_trip(tensor, np.ndarray)
    assert type(back) is np.ndarray
    assert back.ctypes.data == array.ctypes.data
    del array, tensor
    assert back.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_view_is_borrowed_without_a_reference():
    array = np.arange(3)
    before = sys.getrefcount(array)
    assert exchange_user.borrowed_address(array) == array.ctypes.data
    assert sys.getrefcount(array) == before
    assert exchange_user.borrowed_address(memoryview(array)) == array.ctypes.data


def test_what_cannot_be_exchanged_raises_buffer_error():
    locked = np.zeros(2)
    locked.flags.writeable = False
    with pytest.raises(BufferError, match="read-only"):
        exchange_user.round_trip(locked, torch.Tensor)
    with pytest.raises(TypeError, match="list"):
        exchange_user.round_trip(np.zeros(2), list)
    with pytest.raises(TypeError, match="object"):
        exchange_user.round_trip(object(), np.ndarray)


def test_a_capsule_is_versioned():
    assert '"dltensor_versioned"' in repr(exchange_user.capsule(np.zeros(2)))


def test_the_package_is_not_imported():
    assert "dovetail" not in sys.modules
