"""Results of C++ functions go back as what the caller passed."""

import gc
import sys

import nanobind_extension
import numpy as np
import peers
import pybind11_extension
import pytest
import torch
from bindings import EXTENSIONS
from process import run_python

import dovetail as dt

pytest_plugins = ["bindings"]


@pytest.mark.parametrize("peer", (*peers.EXPORTERS, peers.DOVETAIL))
def test_a_result_is_a_tensor_of_the_arguments_library(ext, peer):
    x = peer.make("float32", [1, 2, 4])
    y = ext.doubled(x)
    assert type(y) is type(x)
    assert peer.values(y) == [2, 4, 8]
    assert peer.pointer(y) != peer.pointer(x)
    del x
    gc.collect()
    assert peer.values(y) == [2, 4, 8]


@pytest.mark.parametrize("peer", (*peers.EXPORTERS, peers.DOVETAIL))
def test_a_result_has_the_type_that_the_function_gave_it(ext, peer):
    for name in peer.dtypes:
        y = ext.like(peer.make(name, [1, 0, 1]))
        assert dt.from_dlpack(y).dtype == name if peer is not peers.NUMPY else y.dtype == name


def test_other_arguments_give_a_tensor_of_dovetail(ext):
    assert type(ext.doubled(memoryview(np.float32([1])))) is dt.Tensor
    assert type(ext.wrapped()) is dt.Tensor
    assert ext.wrapped().tolist() == [[1, 2], [3, 4]]


def test_the_first_tensor_argument_decides(ext):
    x, y = torch.tensor([3.0]), np.float32([1])
    assert type(ext.scaled(1.0, x, y)) is torch.Tensor
    assert type(ext.scaled(1.0, y, x)) is np.ndarray


def test_a_subclass_gives_the_class_that_is_known(ext):
    class Mine(np.ndarray):
        pass

    x = np.float32([1, 2]).view(Mine)
    assert type(ext.doubled(x)) is np.ndarray
    parameter = torch.nn.Parameter(torch.tensor([1.0]), requires_grad=False)
    assert type(ext.doubled(parameter)) is torch.Tensor


def test_a_nested_call_does_not_change_what_a_result_is(ext):
    class Nested:
        def __dlpack__(self, **kwargs):
            assert type(ext.doubled(torch.tensor([1.0]))) is torch.Tensor
            return np.float32([2]).__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return (1, 0)

    assert type(ext.doubled(Nested())) is dt.Tensor
    result = ext.scaled(1.0, np.float32([1]), Nested())
    assert type(result) is np.ndarray


def test_what_is_shared_lives_as_long_as_the_result(ext):
    x = np.float32([1, 2])
    before = sys.getrefcount(x)
    y = ext.shared(x)
    assert y.__array_interface__["data"] == x.__array_interface__["data"]
    assert sys.getrefcount(x) == before + 1
    del y
    assert sys.getrefcount(x) == before
    assert ext.shared(torch.tensor([5.0])).tolist() == [5]


@pytest.mark.parametrize("ext", [nanobind_extension, pybind11_extension])
def test_a_linked_extension_takes_and_returns_tensors_of_the_core(ext):
    x = torch.arange(3)
    assert ext.linked(x).data_ptr() == x.data_ptr()
    assert type(ext.linked(np.zeros(1))) is np.ndarray


WITHOUT_PACKAGE = """
import sys
sys.modules["dovetail"] = None  # an import of it fails
import {extension} as ext
import array, jax.numpy as jnp, numpy as np, torch
x = np.float32([1, 2])
assert ext.address(x) == x.__array_interface__["data"][0]
assert type(ext.doubled(x)) is np.ndarray
assert type(ext.doubled(torch.tensor([1.0]))) is torch.Tensor
assert type(ext.doubled(jnp.ones(2, "float32"))) is type(jnp.ones(2))
assert type(ext.doubled(array.array("f", [1]))) is np.ndarray
assert ext.wrapped().tolist() == [[1, 2], [3, 4]]
try:
    ext.add(x, x, torch.ones(2, requires_grad=True))
except BufferError as e:
    assert "argument 3" in str(e)
print("done")
"""


# The import of the package fails once, as Ctrl-C or a broken installation makes it fail.
INTERRUPTED_IMPORT = """
import sys
import numpy as np
import {extension} as ext

class Failing:
    error = {error}

    def find_spec(self, name, path=None, target=None):
        if name == "dovetail":
            raise self.error

finder = Failing()
sys.meta_path.insert(0, finder)
for _ in range(2):
    try:
        ext.wrapped()
    except BaseException as error:
        assert error is finder.error
    else:
        raise AssertionError("no error")
sys.meta_path.remove(finder)
print(type(ext.wrapped()).__module__)
"""


@pytest.mark.parametrize("name", ["nanobind_extension", "pybind11_extension"])
@pytest.mark.parametrize("error", ["KeyboardInterrupt()", "MemoryError()", "ImportError('broken')",
                                   "ModuleNotFoundError('a part', name='absent')"])  # fmt: skip
def test_a_failed_import_of_the_package_is_an_error_and_not_remembered(name, error):
    code = INTERRUPTED_IMPORT.format(extension=name, error=error)
    assert run_python(code).strip() == "dovetail"


@pytest.mark.parametrize("name", ["nanobind_extension", "pybind11_extension"])
def test_a_linked_extension_needs_no_package(name):
    assert run_python(WITHOUT_PACKAGE.format(extension=name)).strip().endswith("done")


def test_extensions_and_the_package_pass_tensors_of_each_other():
    x = np.float32([1, 2])
    for first in EXTENSIONS:
        for second in EXTENSIONS:
            made = second.doubled(first.wrapped())
            assert type(made) is dt.Tensor
            assert dt.from_dlpack(made).tolist() == [[2, 4], [6, 8]]
            assert second.shared(first.shared(x)) is not x
    assert nanobind_extension.wrapped().data_ptr() != pybind11_extension.wrapped().data_ptr()
