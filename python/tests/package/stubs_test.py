"""The stubs match the module, and programs that use the module pass mypy."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import pytest
import stub_docstrings

import dovetail as dt
from dovetail import _core

# mypy does not follow imports of other libraries.
CONFIG = """
[mypy]
strict = True
[mypy-jax.*,ml_dtypes.*,mpi4py.*,numpy.*,onnxruntime.*,paddle.*,pyarrow.*,tensorflow.*,torch.*,tvm_ffi.*]
follow_imports = skip
ignore_missing_imports = True
"""

# stubtest's expected findings, and why they are correct.
ALLOWED = {
    "dovetail.__all__": "the star import in the stub says the same",
    "dovetail._core.DType": "its metaclass is nanobind's",
    "dovetail._core.DType.__init__": "it has none and says so when called",
    "dovetail._core.Device": "its metaclass is nanobind's",
    "dovetail._core.Event": "its metaclass is nanobind's",
    "dovetail._core.Event.__init__": "it has none and says so when called",
    "dovetail._core.Stream": "its metaclass is nanobind's",
    "dovetail._core.Tensor": "its metaclass leaves the names of absent methods out of dir()",
    "dovetail._core.Tensor.__buffer__": "a slot before Python 3.12",
    "dovetail._core.Tensor.to": "of its three forms, the signature is that of the last",
    "dovetail._core._StreamContext": "its metaclass is nanobind's",
    "dovetail._core._StreamContext.__init__": "it has none and says so when called",
    "dovetail._core.__nanobind_internals__": "a capsule by which nanobind knows the module",
    "dovetail._typing": "only type checkers read it",
    "dovetail.ipc.Pool": "its metaclass is nanobind's",
    "dovetail._core.arange": "one signature can't say that one number alone is the stop",
    "dovetail.ray": "it imports Ray, which is not in this environment",
    "dovetail.mpi": "it needs mpi4py, as tests/other_libraries/mpi_test.py has it",
    "dovetail.reshard._mpi_group": "it needs mpi4py, as dovetail.mpi",
}

TOOLS = ("dovetail.bench.", "dovetail.conformance", "dovetail.doctor.")

PROGRAM = """
import array
import copy
import pickle
from typing import assert_type

import dovetail as dt
import dovetail.ray
from dovetail.distributed import Description, Layout, describe
from dovetail.utils import dlpack

dovetail.ray.register()
t = dt.tensor([[1, 2], [3, 4]], dtype=dt.float32, device="cpu")
assert_type(t, dt.Tensor)
assert_type(t[0, ..., None, ::-1], dt.Tensor)
assert_type(t.shape, tuple[int, ...])
assert_type(t.dtype, dt.DType)
assert_type([row for row in t], list[dt.Tensor])
assert_type(dt.float32, dt.DType)
assert_type(t.dtype == dt.bool, bool)
assert_type(dt.float32.__dlpack_data_type__(), tuple[int, int, int])
assert_type(dt.Device("cpu").__dlpack_device__(), tuple[int, int])
class Half:
    def __dlpack_data_type__(self) -> tuple[int, int, int]:
        return (2, 16, 1)
class Host:
    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)
dt.empty(2, dtype=Half(), device=Host()).to(Host()).to(Half())
assert_type(t.readonly, bool)
t[0] = 1
t[1:] = [1.5, 2]
t[:, 0] = dt.zeros(2)
dt.frombuffer(array.array("i", [1]), dtype=int, count=-1, offset=0)
dt.frombuffer(b"abcd", dtype="int32", requires_grad=False)
dt.empty(2, 3), dt.empty((2, 3), dtype=dt.int8), dt.zeros(2, device=dt.Device("cuda:0"))
dt.full((2, 3), 1.5), dt.full(2, True, device=(1, 0)), dt.arange(3), dt.arange(0, 1, 0.5)
dt.to_tensor([1.5], None, "cpu", False)
dt.from_dlpack(t, device="cpu", copy=True)
dlpack.from_dlpack(dlpack.to_dlpack(t))
t.permute(1, 0).reshape(4).reshape((2, 2)).transpose(0, 1).T.contiguous().copy()
t.squeeze().unsqueeze(0).flatten().ravel().view(2, 2).view(dt.int32).expand(3, -1, -1).mT
t.swapaxes(0, 1).moveaxis(0, -1).broadcast_to((2, 2)).astype("int8", casting="unsafe").clone()
t.cpu().to_device("cpu").fill_(1).zero_().copy_([1, 2]), t.numel(), t.dim(), t.tobytes()
assert_type(t.stride(), tuple[int, ...])
assert_type(t.stride(0), int)
dt.empty(size=(2, 3)), dt.zeros(size=[2]), dt.zeros(shape=2), dt.zeros(range(2, 4))
dt.zeros(dt.tensor([2, 3])).reshape(range(3, 5)), dt.explain(t, "torch").door
dt.ones(2, 3), dt.zeros_like(t), dt.asarray([1, 2]), dt.convert(t, "torch")
assert_type(dt.convert(t, dt.Tensor), dt.Tensor)
assert_type(dt.convert(t, "dovetail"), dt.Tensor)
dt.convert_tree({"x": t}, dt.Tensor)
with dt.pickle_device("cpu"):
    pass
float(t[0, 0]), int(t[0, 0]), bool(t[0, 0]), complex(t[0, 0]), memoryview(t), bytes(t), len(t)
copy.deepcopy(t), pickle.dumps(t)
handle = dt.ipc.share(dt.ipc.empty((2, 3), dtype="int8"))
assert_type(dt.ipc.open(handle), dt.Tensor)
assert_type(dt.ipc.Handle.from_bytes(bytes(handle)).shape, tuple[int, ...])
dt.ipc.share(t, copy=True)
assert_type(t.requires_grad_(True).detach(), dt.Tensor)
assert_type(describe(t, writable=True), Description)
assert_type(dt.describe(t).extent, tuple[int, int])
assert_type(dt.describe_pair(t, Layout.of(t), granularity=4096).count, int)
assert_type(dt.describe_pair(t, t).plan().seconds["spans"], float)
try:
    memoryview(t)
except dt.ExchangeError as e:
    print(e)
"""

WRONG = [
    "dt.tensor([1], float)",
    "dt.frombuffer(b'a')",
    "dt.frombuffer([1], dtype=dt.int8)",
    "dt.zeros('a')",
    "dt.zeros(2, dtype=1.5)",
    "dt.zeros(2)['a']",
    "dt.zeros(2)[[0]]",
    "dt.zeros(2).shape[0].x",
    "dt.from_dlpack(3)",
    "dt.float32 + 1",
    "dt.Tensor.nothing",
    "dt.ipc.share([1])",
]


def run(tmp_path, *arguments):
    """The output of a Python program that can import this package and its stubs."""
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG)
    environment = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join(filter(None, sys.path)),
        MYPYPATH=str(pathlib.Path(dt.__file__).parent.parent),
        MYPY_CACHE_DIR=str(tmp_path / "cache"),
    )
    arguments = [str(config) if a == "CONFIG" else a for a in arguments]
    result = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    return result.stdout + result.stderr


def test_the_stubs_say_what_the_module_has(tmp_path):
    output = run(tmp_path, "mypy.stubtest", "dovetail", "--concise", "--mypy-config-file", "CONFIG")
    found = {line.split(" ")[0] for line in output.splitlines() if line.startswith("dovetail")}
    # The tools have no stubs: stubtest reads their source as one, without ctypes' fields.
    found = {name for name in found if not name.startswith(TOOLS)}
    # Methods that compute raise AttributeError, and are in no stub.
    missing = set(vars(dt.Tensor)) - set(dir(dt.zeros(1)))
    found -= {f"dovetail._core.Tensor.{name}" for name in missing}
    assert not found - set(ALLOWED), output
    assert "dovetail._core.DType" in found, output  # stubtest ran


def test_the_docstrings_of_the_stubs_are_those_of_the_module():
    stub = pathlib.Path(dt.__file__).with_name("_core.pyi").read_text()
    written = stub_docstrings.with_docstrings(stub)
    assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(stub)), (
        "run ./bazelw run //python/tests/package:stub_docstrings"
    )


def test_a_program_that_uses_everything_passes_strict_mypy(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    output = run(tmp_path, "mypy", "--config-file", "CONFIG", "program.py")
    assert output.startswith("Success"), output


def test_wrong_calls_are_found(tmp_path):
    lines = ["import dovetail as dt", *WRONG]
    (tmp_path / "wrong.py").write_text("\n".join(lines))
    output = run(tmp_path, "mypy", "--config-file", "CONFIG", "wrong.py")
    for number, line in enumerate(lines[1:], 2):
        assert f"wrong.py:{number}:" in output, (line, output)


def routines(owner, prefix=""):
    return {prefix + name: f for name, f in vars(owner).items() if inspect.isroutine(f)}


# inspect can't read the signatures of methods of nanobind's classes.
ROUTINES = routines(_core) | routines(dt.Tensor, "Tensor.") | routines(dt.utils.dlpack)
ROUTINES |= {f"ipc.{name}": getattr(dt.ipc, name) for name in ("empty", "open", "share")}


# stubtest checks that parameters match the stub.
@pytest.mark.parametrize("name", ROUTINES)
def test_every_function_has_a_docstring_and_a_signature_to_read(name):
    function = ROUTINES[name]
    assert function.__doc__
    assert "--" not in function.__doc__
    assert "*args" not in str(inspect.signature(function))


def test_the_package_is_marked_as_typed():
    assert (pathlib.Path(dt.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("name", dt.__all__)
def test_every_public_name_is_in_the_stubs(name):
    package = pathlib.Path(dt.__file__).parent
    stubs = (package / "_core.pyi").read_text() + (package / "__init__.pyi").read_text()
    assert (
        name in ("ipc", "utils")
        or f"{name}:" in stubs
        or f" {name}(" in stubs
        or f"class {name}:" in stubs
    )
