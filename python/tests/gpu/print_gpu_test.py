"""Tensors on an emulated GPU as text and as pictures: only what is shown leaves the GPU."""

import emulated_gpu
import numpy as np
import pytest

import dovetail as dt

GPU = emulated_gpu.Gpu("cuda")
dt.register_backend(GPU.backend())


def counting(shape):
    return dt.arange(int(np.prod(shape)), dtype=dt.int32).reshape(shape)


def bytes_to_the_host(log):
    return sum(one.nbytes for one in log.copies() if one.to_device == "cpu")


@pytest.mark.parametrize("shape", [(1 << 20,), (1024, 1024), (3, 7, 100), (6, 200), (2, 9, 8, 9)])
def test_a_large_tensor_prints_as_on_the_cpu_and_only_what_is_shown_is_copied(shape):
    on_host = counting(shape)
    t = on_host.to("cuda")
    with dt.trace() as log:
        text = repr(t)
    assert [word for word in text.split() if "device=" not in word] == repr(on_host).split()
    assert 0 < bytes_to_the_host(log) < 4 * 6 ** len(shape) + 1


def test_parts_of_packed_elements_print_as_on_the_cpu():
    on_host = counting((2, 1001)).to("int4")  # the second row begins within a byte
    text = repr(on_host.to("cuda"))
    assert [word for word in text.split() if "device=" not in word] == repr(on_host).split()


def test_a_notebook_shows_a_picture_of_a_gpu_s_tensor_and_copies_what_it_shows():
    t = counting((1024, 1024)).to("cuda")
    with dt.trace() as log:
        text = t._repr_html_()
    assert "1024 × 1024 on cuda:0, 0 to " in text and "every 4th row" in text
    assert 0 < bytes_to_the_host(log) < t.nbytes // 2
