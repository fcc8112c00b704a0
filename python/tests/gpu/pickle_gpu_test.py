"""Pickles of tensors on emulated GPUs: they come back on their device, or say why not."""

import pickle

import emulated_gpu
import numpy as np
import pytest

import dovetail as dt

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


@pytest.fixture(params=["cuda:0", "rocm:0"])
def device(request):
    yield request.param
    gpu = GPUS[request.param.split(":")[0]]
    gpu.finish()
    assert gpu.complaints() == []


# Rule 65.
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_tensor_of_a_gpu_comes_back_on_it_with_its_strides(device, protocol):
    tensor = dt.arange(6, dtype="float32", device=device).reshape(2, 3).T
    back = pickle.loads(pickle.dumps(tensor, protocol=protocol))
    assert (str(back.device), back.strides) == (device, (1, 3))
    assert back.data_ptr() != tensor.data_ptr()
    assert back.to("cpu").tolist() == [[0, 3], [1, 4], [2, 5]]


def test_views_of_one_gpus_memory_share_it_again(device):
    tensor = dt.zeros(8, device=device)
    whole, part = pickle.loads(pickle.dumps((tensor, tensor[2:4])))
    assert part.data_ptr() == whole.data_ptr() + 8
    whole[2] = 5
    assert part.to("cpu").tolist() == [5, 0]


def test_out_of_band_the_buffer_is_a_copy_on_the_host(device):
    tensor = dt.arange(4, dtype="int32", device=device)
    buffers = []
    data = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    assert np.frombuffer(buffers[0], np.int32).tolist() == [0, 1, 2, 3]
    back = pickle.loads(data, buffers=buffers)
    assert str(back.device) == device and back.to("cpu").tolist() == [0, 1, 2, 3]


def test_pickle_device_loads_it_elsewhere(device):
    data = pickle.dumps(dt.arange(3, device=device).reshape(3, 1))
    other = "rocm:0" if device == "cuda:0" else "cuda:0"
    for chosen in ("cpu", other):
        with dt.pickle_device(chosen):
            back = pickle.loads(data)
        assert str(back.device) == chosen and back.to("cpu").tolist() == [[0], [1], [2]]
    assert str(pickle.loads(data).device) == device


def test_a_column_of_a_gpus_matrix_travels_without_the_rest(device):
    column = dt.arange(10_000, device=device).reshape(100, 100)[:, 7]
    data = pickle.dumps(column)
    assert len(data) < 1000 + 100 * column.itemsize
    assert pickle.loads(data).to("cpu").tolist() == list(range(7, 10_000, 100))
