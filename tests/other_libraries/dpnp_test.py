"""dpnp.ndarray and dpnp.tensor.usm_ndarray: USM memory of a oneAPI device (here the CPU's)."""

import gc
import os
import sys

os.environ.setdefault("OCL_ICD_FILENAMES", os.path.join(sys.prefix, "lib", "libintelocl.so"))

import dpnp
import dpnp.tensor
import numpy as np
import pytest

import dovetail as dt

CLASSES = {"dpnp": dpnp.ndarray, "usm": dpnp.tensor.usm_ndarray}
MODULES = {"dpnp": dpnp, "usm": dpnp.tensor}


def pointer(x):
    return dt.from_dlpack(x).data_ptr()


@pytest.mark.parametrize("name", CLASSES)
def test_an_array_comes_in_on_its_device(name):
    x = MODULES[name].arange(6, dtype="f4")
    t = dt.from_dlpack(x)
    assert (str(t.device), t.shape, t.dtype, t.readonly) == ("oneapi:0", (6,), dt.float32, False)
    usm = x.get_array() if name == "dpnp" else x
    assert t.data_ptr() == usm.usm_data._pointer
    on_cpu = dt.from_dlpack(x, device="cpu")
    del x, usm, t
    gc.collect()
    assert on_cpu.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("source", CLASSES)
@pytest.mark.parametrize("target", CLASSES)
def test_the_memory_goes_back_without_a_copy(source, target):
    x = MODULES[source].arange(6, dtype="f4")
    y = dt.convert(dt.from_dlpack(x), CLASSES[target], copy=False)
    assert isinstance(y, CLASSES[target]) and pointer(y) == pointer(x)
    x[0] = 9
    assert y[0] == 9
    assert dt.explain(x, CLASSES[target]).aliases


@pytest.mark.parametrize("target", CLASSES)
def test_a_strided_array_is_shared(target):
    x = dpnp.arange(12, dtype="f4").reshape(3, 4)[:, ::2]
    y = dt.convert(x, CLASSES["usm" if target == "dpnp" else "dpnp"], copy=False)
    assert pointer(y) == pointer(x) and dt.from_dlpack(y).strides == (4, 2)


def test_read_only_memory_is_copied():
    x = dpnp.arange(4, dtype="f4")
    x.flags.writable = False
    assert dt.from_dlpack(x).readonly
    with pytest.raises(dt.ExchangeError, match="read-only"):
        dt.convert(x, dpnp.tensor.usm_ndarray, copy=False)
    y = dt.convert(x, dpnp.tensor.usm_ndarray)
    assert pointer(y) != pointer(x) and dpnp.asnumpy(y).tolist() == [0, 1, 2, 3]


def test_negative_strides_are_copied():
    x = dpnp.arange(4, dtype="f4")[::-1]
    y = dt.convert(x, dpnp.tensor.usm_ndarray)
    assert dpnp.asnumpy(y).tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("name", CLASSES)
def test_memory_of_the_host_is_taken_once_it_is_on_the_device(name):
    y = dt.convert(dt.from_dlpack(np.arange(3, dtype="f4")).to("oneapi:0"), CLASSES[name])
    assert dpnp.asnumpy(y + 1).tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", CLASSES)
def test_host_memory_is_refused_because_dpnp_makes_a_numpy_array_of_it(name):
    with pytest.raises(TypeError, match=r"made a numpy\.ndarray, not a .*register_converter"):
        dt.convert(np.ones(3), CLASSES[name])
