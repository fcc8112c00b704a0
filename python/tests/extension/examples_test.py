"""The examples of extension modules that need no Bazel: they are built against the installed wheel
and called with the tensors of every library."""

import gc
import importlib
import pathlib
import shutil
import sys

import numpy as np
import peers
import pytest
import torch
from installation import WHEEL, Environment, run

ALL = (*peers.EXPORTERS, peers.DOVETAIL)
WRITERS = (*peers.WRITERS, peers.DOVETAIL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder from which this process imports what pip and the examples' builds have made."""
    folder = tmp_path_factory.mktemp("projects")
    environment = Environment(folder / "an environment")
    environment.pip("install", WHEEL)
    for name in ("extension_c", "extension_cmake"):
        shutil.copytree(pathlib.Path("examples") / name, folder / name)
    run("sh", folder / "extension_c" / "build.sh", environment.python)
    environment.pip("install", folder / "extension_cmake")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder / "extension_c")
        patch.syspath_prepend(environment.site_packages)
        yield environment.site_packages


@pytest.fixture(params=["extension_c", "extension_cmake"])
def kernels(request, installed):
    return importlib.import_module(request.param)


def same(a, b):
    return np.allclose(a, b, rtol=1e-6, atol=0)


def test_the_dovetail_in_use_is_the_installed_one(kernels, installed):
    folder = pathlib.Path(sys.modules["dovetail"].__file__).parent
    assert folder == installed / "dovetail"


@pytest.mark.parametrize("peer", ALL)
@pytest.mark.parametrize("writer", WRITERS)
def test_add_writes_into_the_memory_of_its_argument(kernels, peer, writer):
    x, y = peer.make("float32", [1, 2, 4]), peer.make("float32", [10, 20, 40])
    out = writer.make("float32", [0, 0, 0])
    pointer = writer.pointer(out)
    assert kernels.add(x, y, out) is None
    assert writer.pointer(out) == pointer
    assert writer.values(out) == [11, 22, 44]
    assert peer.values(x) == [1, 2, 4]


@pytest.mark.parametrize("writer", WRITERS)
def test_add_may_write_over_what_it_reads(kernels, writer):
    x = writer.make("float32", [1, 2, 4])
    kernels.add(x, x, x)
    assert writer.values(x) == [2, 4, 8]


@pytest.mark.parametrize("peer", ALL)
def test_normalize_gives_a_new_tensor_of_the_library_of_its_argument(kernels, peer):
    x = peer.make("float32", [2, 3, 6])
    result = kernels.normalize(x)
    assert type(result) is type(x)
    assert same(peer.values(result), [2 / 7, 3 / 7, 6 / 7])
    assert peer.pointer(result) != peer.pointer(x)
    assert peer.values(x) == [2, 3, 6]
    del x
    gc.collect()
    assert same(peer.values(result), [2 / 7, 3 / 7, 6 / 7])


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 1, 2, 2), (0, 3)])
def test_normalize_takes_any_shape(kernels, shape):
    x = np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    for given in (x, torch.from_numpy(x)):
        result = kernels.normalize(given)
        assert result.shape == given.shape
        assert same(result, x / np.linalg.norm(x))


def test_normalize_takes_any_strides(kernels):
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (x.T, x[::-1, ::2], x[1:3], np.broadcast_to(x[0], (3, 6))):
        assert same(kernels.normalize(view), view / np.linalg.norm(view))


READ_ONLY = np.zeros(3, dtype=np.float32)
READ_ONLY.flags.writeable = False

# The error, the position of the argument that is refused, what the error says, and the arguments.
THREE, FOUR = np.zeros(3, dtype=np.float32), np.zeros(4, dtype=np.float32)
REFUSED = {
    "dtype": (TypeError, 2, "float32, and is float64", (THREE, np.zeros(3), THREE)),
    "rank": (TypeError, 1, "1 dimension", (THREE.reshape(3, 1), THREE, THREE)),
    "size": (ValueError, 3, "has size n = 4 .* argument 1 has n = 3", (THREE, THREE, FOUR)),
    "strides": (ValueError, 1, "C-contiguous", (np.zeros(6, np.float32)[::2], THREE, THREE)),
    "read-only": (BufferError, 3, "read-only", (THREE, THREE, READ_ONLY)),
    "jax": (BufferError, 3, "read-only", (THREE, THREE, peers.JAX.make("float32", [0, 0, 0]))),
    "number": (TypeError, 2, "'int' object is no tensor", (THREE, 3, THREE)),
    "list": (TypeError, 1, "'list' object is no tensor", ([1.0], THREE, THREE)),
    "grad": (BufferError, 1, "detach", (torch.zeros(3, requires_grad=True), THREE, THREE)),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_does_not_fit_is_refused_and_let_go(kernels, reason):
    error, position, message, arguments = REFUSED[reason]
    counts = [sys.getrefcount(x) for x in arguments]
    for _ in range(100):
        with pytest.raises(error, match=message) as caught:
            kernels.add(*arguments)
    name = ("x", "y", "out")[position - 1]
    assert f"argument {position}" in str(caught.value) or f"'{name}'" in str(caught.value)
    del caught
    gc.collect()
    assert [sys.getrefcount(x) for x in arguments] == counts


def test_none_and_a_missing_argument_are_type_errors(kernels):
    with pytest.raises(TypeError):
        kernels.add(THREE, THREE, None)
    with pytest.raises(TypeError):
        kernels.add(THREE, THREE)
    with pytest.raises(TypeError):
        kernels.normalize(None)


def test_the_functions_say_what_they_take(kernels):
    assert "float32" in kernels.add.__doc__
    assert "library of x" in kernels.normalize.__doc__
