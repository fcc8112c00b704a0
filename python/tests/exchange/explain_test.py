"""explain() and `python -m dovetail` report what actually happens."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from managed import Lent, Producer
from process import run_python

import dovetail as dt


def test_an_array_is_said_to_share_and_its_layout_is_told():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    report = dt.explain(a.T)
    assert (report.aliases, report.door) == (True, "NumPy array")
    assert (report.dtype, report.shape, report.strides) == (dt.float32, (3, 2), (1, 3))
    assert report.refused is None and not report.readonly


def test_the_door_is_the_one_that_is_taken():
    assert dt.explain(torch.ones(2)).door == "DLPack C exchange API"
    assert dt.explain(torch.nn.Parameter(torch.ones(2), requires_grad=False)).door == "__dlpack__"
    assert dt.explain(dt.zeros(2)).door == "dovetail.Tensor"
    assert dt.explain([1, 2]).door is None


def test_version_and_flags_are_what_the_producer_declares():
    report = dt.explain(jnp.ones(3))
    legacy, versioned = ((0, 0), []), ((1, 3), ["READ_ONLY"])  # JAX 0.10 and 0.12
    assert (report.version, report.flags) in (legacy, versioned) and report.readonly
    report = dt.explain(torch.nn.Parameter(torch.ones(2), requires_grad=False))
    assert report.version[0] == 1 and report.flags == []


def test_a_copy_is_told_with_its_reason():
    report = dt.explain(np.zeros(2), copy=True)
    assert report.aliases is False and "copy=True" in report.reason
    report = dt.explain(torch.ones(2), copy=True)
    assert report.aliases is False


def test_a_refusal_is_told_with_the_remedy():
    report = dt.explain(torch.ones(2, requires_grad=True))
    assert report.aliases is None and "detach" in report.reason
    assert isinstance(report.refused, BufferError)
    assert "refused" in repr(report)


def test_a_target_is_judged_as_convert_does_it():
    a = np.arange(4, dtype=np.float32)[::-1]
    assert dt.explain(a, np.ndarray).aliases
    report = dt.explain(a, torch.Tensor)
    assert report.aliases is False and "negative strides" in report.reason
    report = dt.explain(a, torch.Tensor, copy=False)
    assert report.aliases is None and isinstance(report.refused, dt.ExchangeError)
    assert dt.explain(a, dict).aliases is None


def test_a_capsule_is_not_used_up():
    capsule = dt.to_dlpack(dt.zeros(2))
    with pytest.raises(TypeError, match="consume the capsule"):
        dt.explain(capsule)
    assert '"dltensor"' in repr(capsule)


def test_the_module_run_as_a_program_tells_versions_backends_and_protocols():
    text = run_python("import runpy; runpy.run_module('dovetail', run_name='__main__')")
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert lines["dovetail"].endswith(dt.__version__)
    assert "1 device" in lines["cpu"]
    for name in ("cuda", "rocm"):  # without devices the line says why
        assert re.search(r"[1-9] device|0 devices: .{20}", lines[name]), lines[name]
    assert np.__version__ in lines["numpy.ndarray"] and "buffer" in lines["numpy.ndarray"]
    assert "C exchange API" in lines["torch.Tensor"]
    assert "Arrow C data" in lines["pyarrow.Array"]


BROKEN = {
    "import sys; sys.exit('no licence')": "can't be imported: no licence",
    "import sys; sys.exit()": "can't be imported: ended with status 0, without an answer",
    "import os; os._exit(3)": "can't be imported: ended with status 3",
    "import os; os.abort()": "can't be imported: ended by SIGABRT",
    "__version__ = '7'\nclass Tensor: pass": "7: takes no tensor: ",
}


@pytest.fixture
def lines(tmp_path, monkeypatch):
    """The program's line about each library, with modules that are planted."""
    monkeypatch.syspath_prepend(tmp_path)

    def lines(**modules):
        left_out = dict.fromkeys(("torch", "paddle", "jax"), "raise ImportError('left out')")
        for name, source in {**left_out, **modules}.items():
            (tmp_path / f"{name}.py").write_text(source)
        printed = run_python("import runpy; runpy.run_module('dovetail', run_name='__main__')")
        return {line.split()[0]: line for line in printed.splitlines()}

    return lines


@pytest.mark.parametrize("source", BROKEN)
def test_a_library_that_breaks_has_its_line_and_the_rest_goes_on(source, lines):
    told = lines(tvm_ffi=source)
    assert BROKEN[source] in told["tvm_ffi.Tensor"]
    assert "left out" in told["torch.Tensor"] and np.__version__ in told["numpy.ndarray"]


def test_a_folder_that_has_the_name_of_a_library_is_no_library(lines, tmp_path):
    (tmp_path / "cupy").mkdir()  # Python imports it, as a namespace package
    assert lines()["cupy.ndarray"].endswith(" not installed")


def test_a_target_that_cannot_reach_the_memory_is_refused_as_convert_refuses_it():
    device = (42, 0)
    on_device = Producer(lambda **keywords: Lent(device=device, data=1 << 20).capsule(), device)
    for target in (np.ndarray, torch.Tensor, jax.Array):
        with pytest.raises(Exception) as raised:
            dt.convert(on_device, target)
        report = dt.explain(on_device, target)
        assert report.aliases is None
        assert (type(report.refused), str(report.refused)) == (raised.type, str(raised.value))
        assert report.device == dt.Device(device)  # the import succeeded


def test_what_convert_takes_is_explained_by_the_door_that_convert_takes():
    report = dt.explain(memoryview(bytearray(4)), np.ndarray)
    assert (report.aliases, report.door, report.shape) == (True, "buffer", (4,))
    report = dt.explain(bytes(4), torch.Tensor)  # read-only
    assert (report.aliases, report.door) == (False, "buffer") and "read-only" in report.reason


def test_one_of_the_class_is_the_result_itself():
    a = np.array(["x"])  # not a tensor
    assert dt.convert(a, np.ndarray) is a
    report = dt.explain(a, np.ndarray)
    assert report.aliases is True and report.refused is None
    assert dt.explain(np.ones(2), np.ndarray).door == "NumPy array"


def test_a_registered_class_is_judged_as_convert_does_it():
    class Mine:
        def __init__(self, tensor):
            if tensor.dtype == dt.int8:
                raise OverflowError("too narrow")

    dt.register_converter(Mine, Mine)
    assert dt.explain(np.ones(2), Mine).aliases
    assert isinstance(dt.explain(np.ones(2, np.int8), Mine).refused, OverflowError)


def test_a_device_has_no_place_beside_a_target():
    with pytest.raises(TypeError, match="not both"):
        dt.explain(np.ones(2), torch.Tensor, device="cpu")
