"""`import dovetail` in a fresh process: the modules it loads, and its state before any tensor."""

import pytest
from process import run_python

import dovetail as dt

FRAMEWORKS = (
    "numpy",
    "torch",
    "jax",
    "jaxlib",
    "paddle",
    "tvm_ffi",
    "pyarrow",
    "ml_dtypes",
    "mpi4py",
    "cupy",
    "onnxruntime",
    "ray",
    "tensorflow",
)
SLOW = ("typing", "inspect", "dataclasses", "importlib.metadata", "ctypes", "re", "enum", "pickle")


@pytest.mark.parametrize("option", ["-S", "-I"])
def test_no_framework_and_no_slow_module_of_python_is_loaded(option):
    code = f"""
        import sys
        sys.path[:] = {__import__("sys").path!r}
        before = set(sys.modules)
        import dovetail
        print(*sorted(set(sys.modules) - before))
    """
    loaded = set(run_python(code, option).split())
    assert loaded.isdisjoint({*FRAMEWORKS, *SLOW})
    assert "dovetail._core" in loaded
    assert len(loaded) < 12


def test_tensors_are_made_and_passed_on_without_any_framework():
    printed = run_python("""
        import sys
        import dovetail as dt
        t = dt.arange(6).reshape(2, 3)
        u = dt.from_dlpack(t.__dlpack__(max_version=(1, 0)))
        u[0] = dt.frombuffer(bytearray(24), dtype=dt.int64)
        assert memoryview(t).tolist() == t.tolist() == [[0, 0, 0], [3, 4, 5]]
        print(sorted(set(sys.modules) & {"numpy", "torch", "jax", "paddle", "tvm_ffi", "pyarrow"}))
    """)
    assert printed == "[]\n"


def test_frameworks_may_be_imported_before_and_after():
    printed = run_python("""
        import numpy as np
        import dovetail as dt
        first = dt.from_dlpack(np.arange(3))
        import torch
        second = dt.from_dlpack(torch.arange(3))
        print(first.tolist() == second.tolist() == torch.from_dlpack(first).tolist())
    """)
    assert printed == "True\n"


def test_garbage_may_be_collected_at_any_point_of_the_import():
    printed = run_python("""
        import gc
        gc.set_threshold(1)
        import dovetail
        print(dovetail.zeros(1).tolist())
    """)
    assert printed == "[0.0]\n"


def test_a_forked_process_has_tensors_of_its_own():
    printed = run_python("""
        import os
        import dovetail as dt
        t = dt.arange(3)
        child = os.fork()
        if child == 0:
            t[0] = 9
            u = dt.from_dlpack(t.__dlpack__())
            os._exit(0 if u.tolist() == [9, 1, 2] else 1)
        print(os.waitpid(child, 0)[1], t.tolist())
    """)
    assert printed == "0 [0, 1, 2]\n"


def test_the_names_of_the_package_are_looked_up_fast():
    # If a module has a __getattr__, CPython 3.11 does not cache lookups of its names: each
    # `dt.name` takes 20 ns longer.
    assert not hasattr(dt, "__getattr__")


def test_the_version_is_one_of_three_numbers():
    assert [part.isdigit() for part in dt.__version__.split(".")] == [True, True, True]
    assert dt.dlpack_version >= (1, 3)


def test_backends_say_their_devices_or_why_they_have_none():
    backends = dt.backends()
    assert list(backends) == ["cpu", "cuda", "rocm", "oneapi"]
    assert backends["cpu"] == 1
    for name, needed in (
        ("cuda", "NVIDIA driver"),
        ("rocm", "ROCm runtime"),
        ("oneapi", "SYCL runtime"),
    ):
        devices = backends[name]
        assert isinstance(devices, int) or needed in devices, devices


def test_the_environment_chooses_among_the_backends_that_come_with_the_package():
    code = "import dovetail as dt; print(*dt.backends())"
    prefix = "import os; os.environ['DOVETAIL_BACKENDS'] = "
    assert run_python(prefix + "'cpu,rocm'; " + code) == "cpu rocm\n"
    with pytest.raises(AssertionError, match=r"no backend .*tpu.*there are cpu, .* and oneapi"):
        run_python(prefix + "'tpu'; " + code)


@pytest.mark.parametrize("names", ["cpu, rocm", " cpu\t,rocm "])
def test_blanks_around_the_names_of_backends_mean_nothing(names):
    code = "import dovetail as dt; print(*dt.backends())"
    assert run_python(code, DOVETAIL_BACKENDS=names) == "cpu rocm\n"


@pytest.mark.parametrize("names", ["", "  "])
def test_an_empty_choice_of_backends_is_none_that_was_made(names):
    code = "import dovetail as dt; print(*dt.backends())"
    assert run_python(code, DOVETAIL_BACKENDS=names) == "cpu cuda rocm oneapi\n"


def test_no_driver_is_opened_by_an_import():
    printed = run_python("""
        import dovetail as dt
        t = dt.zeros(3)
        t[0] = 1
        maps = open("/proc/self/maps").read()
        print([name for name in ("libcuda", "libamdhip64") if name in maps], t.tolist())
    """)
    assert printed == "[] [1.0, 0.0, 0.0]\n"


def test_all_that_is_public_has_a_docstring():
    for name in dt.__all__:
        if isinstance(getattr(dt, name), dt.DType):
            continue
        if name not in ("dlpack_version",):
            assert getattr(dt, name).__doc__, name
