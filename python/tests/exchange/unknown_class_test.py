"""convert() to a class that is in no table, by a from_dlpack() of its library."""

import sys
import types

import array_api_strict as xp
import numpy as np
import pytest
import torch

import dovetail as dt

Strict = type(xp.zeros(1))
ROOT = "library_of_this_test"


class Base:
    """An array class: what a library does with a tensor, its from_dlpack() decides."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture
def library(monkeypatch):
    """A library of a package and a private module in it; returns its class and its package."""
    array_class = type("Array", (Base,), {"__module__": f"{ROOT}._private.arrays"})
    package = types.ModuleType(ROOT)
    for name, module in (
        (ROOT, package),
        (f"{ROOT}._private", types.ModuleType(f"{ROOT}._private")),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    package.from_dlpack = lambda x: array_class(np.from_dlpack(x))
    return array_class, package


def outcome(x, target, copy):
    try:
        made = dt.convert(x, target, copy=copy)
    except dt.ExchangeError:
        return "refused"
    assert isinstance(made, target)
    source, result = dt.from_dlpack(x), dt.from_dlpack(made)
    assert result.tolist() == source.tolist()
    return "shared" if result.data_ptr() == source.data_ptr() else "copied"


def read_only(x):
    x.flags.writeable = False
    return x


@pytest.mark.parametrize(
    ("x", "if_need_be", "never"),
    [
        (np.arange(6.0), "shared", "shared"),
        (np.arange(6.0).reshape(2, 3).T, "shared", "shared"),
        (np.arange(6.0)[::-1], "copied", "refused"),
        (read_only(np.arange(6.0)), "copied", "refused"),
    ],
    ids=["dense", "strided", "negative strides", "read-only"],
)
def test_the_memory_is_shared_unless_the_library_might_harm_it(x, if_need_be, never):
    assert outcome(x, Strict, None) == if_need_be
    assert outcome(x, Strict, False) == never
    assert outcome(x, Strict, True) == "copied"
    aliases = {"shared": True, "copied": False, "refused": None}
    assert dt.explain(x, Strict).aliases is aliases[if_need_be]
    assert dt.explain(x, Strict, copy=False).aliases is aliases[never]
    assert dt.explain(x, Strict, copy=True).aliases is False


def test_its_objects_come_in_and_are_given_back_as_they_are():
    x = xp.asarray([1.0, 2.0])
    assert dt.convert(x, Strict) is x
    assert dt.convert(x, torch.Tensor).tolist() == [1, 2]


def test_the_function_is_found_in_a_package_around_the_module(library):
    array_class, _ = library
    assert type(dt.convert(torch.arange(3), array_class, copy=False)) is array_class


def test_the_innermost_function_is_called(library):
    array_class, package = library
    inner = sys.modules[f"{ROOT}._private"]
    inner.from_dlpack = "not a function"
    assert isinstance(dt.convert(np.zeros(1), array_class), array_class)
    inner.from_dlpack = package.from_dlpack
    del package.from_dlpack
    assert isinstance(dt.convert(np.zeros(1), array_class), array_class)


def test_a_function_of_the_class_itself_comes_first(library):
    array_class, package = library
    del package.from_dlpack
    array_class.from_dlpack = classmethod(lambda cls, x: cls(np.from_dlpack(x)))
    assert isinstance(dt.convert(np.zeros(1), array_class), array_class)


def test_nothing_is_imported_in_search_of_it():
    before = set(sys.modules)
    array_class = type("Array", (), {"__module__": "xml.dom.minicompat"})
    with pytest.raises(TypeError, match="no from_dlpack"):
        dt.convert(np.zeros(1), array_class)
    assert "xml.dom.minicompat" not in set(sys.modules) - before


@pytest.mark.parametrize("module", [None, 3, "", "..", "no.such.module"])
def test_a_class_without_a_module_has_no_function(module):
    array_class = type("Array", (), {"__module__": module})
    with pytest.raises(TypeError, match="register_converter"):
        dt.convert(np.zeros(1), array_class)


def test_a_library_that_copies_is_found_out(library):
    array_class, package = library
    package.from_dlpack = lambda x: array_class(np.from_dlpack(x).copy())
    x = np.arange(3.0)
    assert outcome(x, array_class, None) == "copied"
    assert outcome(x, array_class, False) == "refused"
    report = dt.explain(x, array_class)
    assert report.aliases is False and "made a copy" in report.reason
    report = dt.explain(x, array_class, copy=False)
    assert report.aliases is None and "its library copied it" in report.reason
    assert dt.explain(np.zeros(0), array_class, copy=False).aliases  # there is nothing to copy


def test_a_result_that_hides_its_memory_cannot_be_asked_not_to_copy(library):
    _, package = library
    hidden = type("Hidden", (), {"__module__": ROOT})
    package.from_dlpack = lambda x: hidden()
    assert isinstance(dt.convert(np.zeros(2), hidden), hidden)
    with pytest.raises(dt.ExchangeError, match="does not show where it is"):
        dt.convert(np.zeros(2), hidden, copy=False)
    assert dt.explain(np.zeros(2), hidden).aliases is False


def test_a_result_of_another_class_is_a_type_error(library):
    array_class, package = library
    package.from_dlpack = np.from_dlpack
    with pytest.raises(TypeError, match=r"made a numpy\.ndarray, not a .*register_converter"):
        dt.convert(dt.zeros(1), array_class)


def test_a_library_that_refuses_strides_gets_a_copy_without_them(library):
    array_class, package = library

    def from_dlpack(x):
        array = np.from_dlpack(x)
        if not array.flags.c_contiguous:
            raise NotImplementedError("strides")
        return array_class(array)

    package.from_dlpack = from_dlpack
    x = np.arange(6.0).reshape(2, 3)
    assert outcome(x, array_class, False) == "shared"
    assert outcome(x.T, array_class, None) == "copied"
    assert "not contiguous" in dt.explain(x.T, array_class).reason
    with pytest.raises(NotImplementedError, match="strides"):
        dt.convert(x.T, array_class, copy=False)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_of_the_library_is_passed_on(library, error):
    array_class, package = library

    def from_dlpack(x):
        raise error("its own")

    package.from_dlpack = from_dlpack
    with pytest.raises(error, match="its own"):
        dt.convert(np.zeros((2, 3)).T, array_class)


def test_an_interrupt_of_the_check_is_passed_on(library):
    array_class, _ = library

    def interrupt(self, **keywords):
        raise KeyboardInterrupt

    array_class.__dlpack__ = interrupt
    with pytest.raises(KeyboardInterrupt):
        dt.convert(np.zeros(2), array_class, copy=False)


def test_a_registered_converter_takes_precedence(library):
    array_class, _ = library
    dt.register_converter(array_class, lambda tensor: "registered")
    assert dt.convert(np.zeros(1), array_class) == "registered"


@pytest.mark.parametrize("target", [torch.nn.Parameter, np.matrix, np.ma.MaskedArray])
def test_a_library_makes_none_of_a_subclass_of_its_class(target):
    with pytest.raises(TypeError, match="which is a subclass; register_converter"):
        dt.convert(np.zeros((1, 1)), target)


def test_the_source_is_let_go_with_the_result(library):
    array_class, _ = library
    x = np.arange(3.0)
    before = sys.getrefcount(x)
    for copy in (None, False, True):
        made = dt.convert(x, array_class, copy=copy)
        del made
        assert sys.getrefcount(x) == before
