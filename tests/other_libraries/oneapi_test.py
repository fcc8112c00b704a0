"""dpctl's arrays, queues and memory kinds, on SYCL's device of the CPU."""

import gc
import itertools
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from oneapi_runtime import dpctl, dpt  # before Dovetail: it names the CPU's driver

import dovetail as dt

USM = dpt.usm_ndarray


@pytest.fixture(scope="session")
def emulated():
    """Emulated GPUs of CUDA and ROCm by name, which oneapi_runtime left room for."""
    import emulated_gpu

    gpus = {vendor: emulated_gpu.Gpu(vendor, devices=2) for vendor in ("cuda", "rocm")}
    for gpu in gpus.values():
        dt.register_backend(gpu.backend())
    return gpus


def test_the_conformance_suite_of_backends_passes():
    program = os.environ.get("DOVETAIL_ONEAPI_CONFORMANCE")
    if program is None:
        pytest.skip("run.sh names the program")
    library = pathlib.Path(dpctl.__file__).with_name("libDPCTLSyclInterface.so")
    environment = {**os.environ, "DOVETAIL_ONEAPI_LIBRARY": str(library)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-5000:]
    passed = re.search(r"PASSED  \] (\d+) tests", done.stdout)
    assert passed is not None and int(passed[1]) > 20, done.stdout[-5000:]


def test_the_library_is_found_without_an_import_of_dpctl():
    code = "import dovetail as dt, sys; print(dt.ones(3, device='oneapi:0').tolist())"
    code += "; assert 'dpctl' not in sys.modules; import dpctl.tensor as dpt"
    code += "; print(dpt.from_dlpack(dt.ones(3, device='oneapi:0')) + 1)"
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout.split("\n")[:2] == ["[1.0, 1.0, 1.0]", "[2. 2. 2.]"], done


def test_importing_dovetail_loads_no_runtime():
    code = "import dovetail; print('sycl' in open('/proc/self/maps').read())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


def values(array):
    return dpt.asnumpy(array).tolist()


# ---- Coming in ----


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_an_array_is_shared_on_its_device(kind):
    x = dpt.arange(6, dtype="f4", usm_type=kind)
    t = dt.from_dlpack(x)
    assert (str(t.device), t.shape, t.dtype, t.readonly) == ("oneapi:0", (6,), dt.float32, False)
    assert t.data_ptr() == x.usm_data._pointer
    t[0] = 9
    dt.current_stream("oneapi:0").synchronize()  # dpctl reads on a queue of its own
    assert values(x) == [9, 1, 2, 3, 4, 5]
    assert t.to("cpu").tolist() == [9, 1, 2, 3, 4, 5]


def test_the_elements_of_a_view_are_found():
    x = dpt.reshape(dpt.arange(24, dtype="i2"), (4, 6))[1:, ::-2]
    t = dt.from_dlpack(x)
    assert t.strides == (6, -2)
    assert t.to("cpu").tolist() == values(x)
    assert t.T.copy().to("cpu").tolist() == values(x.T)


def test_devices_are_numbered_as_sycls_root_devices_are():
    assert dt.backends()["oneapi"] == len(dpctl.get_devices())
    for device in dpctl.get_devices():
        x = dpt.zeros(1, device=device)
        assert str(dt.from_dlpack(x).device) == f"oneapi:{device.get_device_id()}"


def test_a_read_only_array_stays_read_only():
    x = dpt.arange(3)
    x.flags.writable = False
    assert dt.from_dlpack(x).readonly


def test_an_array_can_be_asked_for_on_the_cpu_and_as_a_copy():
    x = dpt.arange(3)
    assert dt.from_dlpack(x, device="cpu").tolist() == [0, 1, 2]
    copy = dt.from_dlpack(x, copy=True)
    assert str(copy.device) == "oneapi:0" and copy.data_ptr() != x.usm_data._pointer
    assert copy.to("cpu").tolist() == [0, 1, 2]
    with pytest.raises(dt.ExchangeError):
        dt.from_dlpack(x, device="cpu", copy=False)


# ---- Going out ----


@pytest.mark.parametrize("shape", [(), (5,), (2, 3)])  # dpctl takes no capsule without elements
def test_a_tensor_is_shared_with_dpctl(shape):
    t = dt.full(shape, 7, dtype=dt.int32, device="oneapi:0")
    y = dpt.from_dlpack(t)
    assert y.shape == shape and y.usm_type == "device"
    assert values(y) == np.full(shape, 7).tolist()
    if t.nbytes:
        assert y.usm_data._pointer == t.data_ptr()


def test_convert_makes_a_usm_ndarray_and_says_that_it_shares():
    t = dt.arange(6, device="oneapi:0")
    y = dt.convert(t, USM, copy=False)
    assert isinstance(y, USM) and y.usm_data._pointer == t.data_ptr()
    assert dt.explain(t, USM).aliases
    assert dt.convert(y, dt.Tensor, copy=False).data_ptr() == t.data_ptr()


def test_a_versioned_and_a_legacy_capsule_are_taken():
    t = dt.arange(3, device="oneapi:0")
    for arguments in ({}, {"max_version": (1, 0)}, {"copy": True, "max_version": (1, 0)}):
        again = dt.from_dlpack(t.__dlpack__(**arguments))
        assert again.to("cpu").tolist() == [0, 1, 2]
        assert (again.data_ptr() == t.data_ptr()) == ("copy" not in arguments)
    to_cpu = t.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert dt.from_dlpack(to_cpu).tolist() == [0, 1, 2]
    to_device = dt.arange(3).__dlpack__(dl_device=(14, 0), max_version=(1, 0))
    assert str(dt.from_dlpack(to_device).device) == "oneapi:0"


# ---- The USM array interface ----


def test_the_usm_array_interface_is_understood():
    x = dpt.reshape(dpt.arange(24, dtype="i4"), (4, 6))[1:, 1::2]
    holder = type("Holder", (), {"__sycl_usm_array_interface__": x.__sycl_usm_array_interface__})()
    t = dt.from_usm_array_interface(holder)
    assert (str(t.device), t.strides) == ("oneapi:0", (6, 2))
    assert t.to("cpu").tolist() == values(x)
    assert dt.asarray(holder).data_ptr() == t.data_ptr()


@pytest.mark.parametrize("view", [lambda t: t, lambda t: t.T, lambda t: t[1:, ::2]])
def test_the_usm_array_interface_is_spoken(view):
    t = view(dt.arange(12, dtype=dt.int32, device="oneapi:0").reshape(3, 4))
    y = dpt.asarray(Interface(t), copy=False)
    assert y.usm_data._pointer <= t.data_ptr() and values(y) == t.to("cpu").tolist()
    y[0, 0] = 99
    assert t.to("cpu").tolist() == values(y)


class Interface:
    """An object with nothing but a tensor's USM array interface, which it keeps alive."""

    def __init__(self, tensor):
        self._tensor = tensor

    @property
    def __sycl_usm_array_interface__(self):
        return self._tensor.__sycl_usm_array_interface__


def test_a_tensor_of_the_cpu_has_no_usm_array_interface():
    assert not hasattr(dt.arange(3), "__sycl_usm_array_interface__")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 7}, "version"),
        ({"data": (0x1000, False)}, "address"),
        ({"data": "x"}, "data"),
        ({"typestr": "<M8[s]"}, "M8"),
        ({"strides": (1, 2, 3)}, "strides"),
        ({"strides": (1 << 62,), "shape": (3,)}, "stride"),
        ({"offset": 1 << 62}, "offset"),
    ],
)
def test_a_bad_usm_array_interface_is_refused(changes, message):
    interface = {**dpt.arange(6, dtype="f4").__sycl_usm_array_interface__, **changes}
    with pytest.raises((dt.ExchangeError, OverflowError), match=message):
        dt.from_usm_array_interface(
            type("Holder", (), {"__sycl_usm_array_interface__": interface})()
        )


# ---- Copies ----


@pytest.mark.parametrize("dtype", ["int4", "uint8", "bfloat16", "float32", "complex128"])
@pytest.mark.parametrize("view", [lambda t: t, lambda t: t.T, lambda t: t[::-2, 2::2]])
def test_elements_of_every_size_arrive(dtype, view):
    numbers = np.arange(32).reshape(4, 8) % 7
    host = dt.from_dlpack(numbers).to(dt.dtype(dtype))
    there = host.to("oneapi:0")
    assert view(there).copy().to("cpu").tolist() == view(host).tolist()
    assert view(host).to("oneapi:0").to("cpu").tolist() == view(host).tolist()
    there[1:3] = there[0]
    assert there.to("cpu").tolist()[2] == host.tolist()[0]


# Tiles have 64 or 128 elements on a side. What is around the destination keeps its values.
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
def test_transposed_dimensions_of_any_size_arrive_and_nothing_else_is_touched(dtype):
    sizes = itertools.product((7, 63, 64, 65, 200), (64, 128, 129, 300), (1, 3))
    for rows, columns, batch in sizes:
        numbers = np.arange(batch * rows * columns).reshape(batch, columns, rows) % 251
        expected = np.full((batch + 1, rows + 1, columns + 2), 251).astype(dtype)
        to = dt.from_dlpack(expected).to("oneapi:0")
        expected[1:, :rows, 1:-1] = numbers.transpose(0, 2, 1)
        to[1:, :rows, 1:-1] = dt.from_dlpack(numbers.astype(dtype)).to("oneapi:0").mT
        np.testing.assert_array_equal(np.from_dlpack(to.to("cpu")), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_channels_of_images_become_planes_and_the_reverse(dtype):
    sizes = itertools.product((16, 48, 52, 77, 1000), (2, 3, 5), (1, 2))
    for pixels, channels, batch in sizes:
        numbers = np.arange(batch * pixels * channels).reshape(batch, pixels, channels) % 251
        there = dt.from_dlpack(numbers.astype(dtype)).to("oneapi:0")
        planes = there.mT.copy()
        assert planes.to("cpu").tolist() == numbers.transpose(0, 2, 1).tolist()
        assert planes.mT.copy().to("cpu").tolist() == numbers.tolist()
        assert there[:, ::-2].copy().to("cpu").tolist() == numbers[:, ::-2].tolist()


def test_casts_are_made():
    t = dt.arange(4, dtype=dt.float32, device="oneapi:0")
    assert t.to(dt.bfloat16).to("cpu").tolist() == [0, 1, 2, 3]
    assert str(t.to(dt.int64).device) == "oneapi:0"


@pytest.mark.parametrize("kind", ["device", "pinned", "managed"])
def test_each_kind_of_memory_has_allocators_of_which_a_caching_one_is_the_default(kind):
    names = dt.allocators("oneapi:0", kind=kind)
    assert len(names) == 2 and names[0] == f"caching({names[1]})"
    with pytest.raises(ValueError, match="There is no allocator"):
        dt.set_allocator("oneapi:0", "direct", kind="shared")


@pytest.mark.parametrize("name", ["direct", "caching(direct)"])
def test_memory_comes_from_the_allocator_that_is_chosen(name):
    dt.set_allocator("oneapi:0", name)
    try:
        tensors = [dt.full((1000,), i, device="oneapi:0") for i in range(10)]
        assert [int(t.to("cpu")[0]) for t in tensors] == list(range(10))
    finally:
        dt.set_allocator("oneapi:0", "caching(direct)")


def test_printing_and_pickling_know_the_device():
    t = dt.arange(3, device="oneapi:0")
    assert "oneapi:0" in repr(t) and "[0, 1, 2]" in repr(t)
    again = pickle.loads(pickle.dumps(t))
    assert again.device == t.device and again.to("cpu").tolist() == [0, 1, 2]
    with dt.pickle_device("cpu"):
        assert pickle.loads(pickle.dumps(t)).tolist() == [0, 1, 2]


def test_more_memory_than_there_is_is_said_with_the_sizes():
    with pytest.raises(MemoryError, match=r"oneapi:0.*1099511627776"):
        dt.empty((1 << 40,), dtype=dt.uint8, device="oneapi:0")
    assert dt.zeros(3, device="oneapi:0").to("cpu").tolist() == [0, 0, 0]


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(RuntimeError, match="no device oneapi:7"):
        dt.zeros(3, device="oneapi:7")


@pytest.mark.parametrize("vendor", ["cuda", "rocm"])
def test_copies_are_staged_to_and_from_emulated_gpus(emulated, vendor):
    t = dt.arange(12, dtype=dt.int16, device="oneapi:0").reshape(3, 4).T
    for device in (f"{vendor}:0", "oneapi:0", f"{vendor}:1", "cpu", "oneapi:0"):
        t = t.to(device)
        assert str(t.device) == device
    assert t.to("cpu").tolist() == np.arange(12).reshape(3, 4).T.tolist()
    target = dt.zeros((4, 4), dtype=dt.int16, device=f"{vendor}:0")
    target[:, 1:] = t
    assert target.to("cpu")[:, 1:].tolist() == t.to("cpu").tolist()
    assert emulated[vendor].complaints() == []


def test_memory_is_given_back():
    def allocated():
        return dt.allocator_stats("oneapi:0")["allocated_bytes"]

    gc.collect()
    before = allocated()
    y = dpt.from_dlpack(dt.zeros((1000,), device="oneapi:0"))
    assert allocated() == before + 4000
    del y
    gc.collect()
    assert allocated() == before
