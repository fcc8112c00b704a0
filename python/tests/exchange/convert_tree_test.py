"""convert() to a library that is named, and convert_tree()."""

import collections
import dataclasses
import sys
import types
import typing

import jax
import numpy as np
import pytest
import torch

import dovetail as dt


class Point(typing.NamedTuple):
    x: object
    y: object


@dataclasses.dataclass(frozen=True)
class Batch:
    images: object
    labels: object
    size: int = 2


@pytest.mark.parametrize(
    ("name", "target"),
    [("torch", torch.Tensor), ("torch.Tensor", torch.Tensor), ("numpy", np.ndarray),
     ("jax", jax.Array), ("dovetail", dt.Tensor)],
)  # fmt: skip
def test_a_name_stands_for_the_librarys_class(name, target):
    array = np.arange(3, dtype=np.float32)
    made = dt.convert(array, name)
    assert isinstance(made, target) and dt.from_dlpack(made).tolist() == [0, 1, 2]
    assert dt.explain(array, name).target == dt.explain(array, target).target


def test_unknown_names_are_refused():
    for name in ("troch", "", "os", "numpy.nothing", "..", ".numpy"):
        with pytest.raises((ValueError, AttributeError), match=r"knows no library|no attribute"):
            dt.convert(np.zeros(1), name)
    with pytest.raises(TypeError, match="is no class"):
        dt.convert(np.zeros(1), "numpy.zeros")
    with pytest.raises(TypeError, match="a class to convert to, or a library's name"):
        dt.convert(np.zeros(1), 3)


def test_every_tensor_of_a_tree_is_converted_without_a_copy():
    array = np.arange(4.0)
    tree = {
        "list": [array, {"deep": (array[1:], 3)}],
        "named": Point(array[::2], "text"),
        "batch": Batch(array, None),
        "ordered": collections.OrderedDict(a=array),
        "default": collections.defaultdict(list, b=array),
        "number": 1.5,
    }
    made = dt.convert_tree(tree, torch.Tensor)
    assert made["list"][0].data_ptr() == array.ctypes.data
    assert made["list"][1]["deep"][0].tolist() == [1, 2, 3] and made["list"][1]["deep"][1] == 3
    assert type(made["named"]) is Point and made["named"].x.tolist() == [0, 2]
    assert made["batch"].images.data_ptr() == array.ctypes.data and made["batch"].size == 2
    assert type(made["ordered"]) is collections.OrderedDict
    assert made["default"].default_factory is list and made["number"] == 1.5
    assert type(tree["list"][0]) is np.ndarray  # the tree itself stays as it was


def test_a_state_dict():
    state = torch.nn.Linear(3, 2).state_dict()
    arrays = dt.convert_tree(state, "numpy")
    assert list(arrays) == ["weight", "bias"]
    assert arrays["weight"].ctypes.data == state["weight"].data_ptr()


def test_a_tensor_alone_and_copies():
    array = np.zeros(2)
    assert dt.convert_tree(array, "torch", copy=True).data_ptr() != array.ctypes.data
    with jax.enable_x64(False), pytest.raises(dt.ExchangeError):
        dt.convert_tree([np.zeros(2, np.int64)], jax.Array)
    assert dt.convert_tree(np.ndarray, "torch") is np.ndarray


def planted(monkeypatch, size):
    """A library of the name dpnp, whose class is made of a tensor and `size`."""
    module = types.ModuleType("dpnp")
    module.ndarray = type("ndarray", (), {"__module__": "dpnp"})
    monkeypatch.setitem(sys.modules, "dpnp", module)
    dt.register_converter(module.ndarray, lambda t: (size, t))


def test_a_name_means_the_module_that_is_imported_now(monkeypatch):
    array = np.arange(3)
    for size in (1, 2):
        planted(monkeypatch, size)
        for _ in range(2):
            assert dt.convert(array, "dpnp")[0] == size


def test_a_name_means_the_class_that_the_module_has_now(monkeypatch):
    module = types.ModuleType("planted")
    monkeypatch.setitem(sys.modules, "planted", module)
    for size in (1, 2):
        module.Array = type("Array", (), {})
        dt.register_converter(module.Array, lambda t, size=size: (size, t))
        for _ in range(2):
            assert dt.convert(np.arange(3), "planted.Array")[0] == size


def test_a_dict_that_is_reordered_meanwhile_keeps_its_pairs():
    tree = {name: np.full(1, float(i)) for i, name in enumerate("abcd")}

    class Reorders:
        @property
        def __array__(self):
            tree["a"] = tree.pop("a")

    tree["t"] = Reorders()
    try:
        made = dt.convert_tree(tree, "torch")
    except RuntimeError:  # as of any loop over a dict that changes
        return
    assert all(made[name].item() == "abcd".index(name) for name in "abcd" if name in made)


def test_names_that_are_no_literals_do_as_well():
    for _ in range(100):
        assert type(dt.convert(np.zeros(1), "".join(["tor", "ch"]))) is torch.Tensor


def test_some_objects_of_a_class_may_be_no_tensors():
    class Maybe:
        """Its attribute is None for some objects."""

        def __init__(self, array):
            self._array = array

        @property
        def __array_interface__(self):
            return None if self._array is None else self._array.__array_interface__

    array, nothing = np.arange(3), Maybe(None)
    made = dt.convert_tree([Maybe(array), nothing, np.float32(1), np.str_("cat")], np.ndarray)
    assert made[0].ctypes.data == array.ctypes.data and made[1] is nothing
    assert made[2].tolist() == 1 and made[3] == "cat"
