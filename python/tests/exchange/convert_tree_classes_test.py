"""convert_tree() makes containers of the same classes, as copy.copy does."""

import collections
import dataclasses
import typing

import numpy as np
import pytest
import torch

import dovetail as dt


class Nothing:
    """It says that it has none of the methods."""

    __array__ = None
    __dlpack__ = None


def test_a_method_that_is_none_is_not_there():
    nothing = Nothing()
    assert dt.convert_tree([nothing], "numpy")[0] is nothing
    assert (dt.zeros(1) == nothing) is False


def same_memory(tensor, array):
    """Whether a torch.Tensor is over the memory of an array."""
    return type(tensor) is torch.Tensor and tensor.data_ptr() == array.ctypes.data


class Bag(dict):
    """A dict with an attribute, which __init__ sets from an argument of its own."""

    def __init__(self, name, **items):
        super().__init__(items)
        self.name = name


class Mirrored(dict):
    """A dict that keeps its items as attributes, too."""

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        setattr(self, key, value)


class Row(list):
    pass


class Pair(tuple):
    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))


class Scaled(typing.NamedTuple):
    value: object
    scale: float = 1.0


def test_a_counter_keeps_its_counts():
    counts = collections.Counter("aab")
    made = dt.convert_tree({"counts": counts}, torch.Tensor)["counts"]
    assert type(made) is collections.Counter and made == {"a": 2, "b": 1} and made is not counts


def test_subclasses_of_dict_keep_their_class_and_their_attributes():
    array = np.arange(3.0)
    made = dt.convert_tree(Bag("a bag", x=array, n=3), torch.Tensor)
    assert type(made) is Bag and made.name == "a bag" and made["n"] == 3
    assert same_memory(made["x"], array)

    mirrored = Mirrored()
    mirrored["x"] = array
    made = dt.convert_tree(mirrored, torch.Tensor)
    assert same_memory(made["x"], array) and made.x is made["x"]
    assert mirrored["x"] is array and mirrored.x is array


def test_ordered_and_default_dicts_keep_order_factory_and_attributes():
    array = np.arange(3.0)
    ordered = collections.OrderedDict(b=array, a=1)
    ordered.move_to_end("b")
    ordered._metadata = {"version": 1}  # as PyTorch's state dicts have
    made = dt.convert_tree(ordered, torch.Tensor)
    assert type(made) is collections.OrderedDict and list(made) == ["a", "b"]
    assert made._metadata == {"version": 1} and same_memory(made["b"], array)

    made = dt.convert_tree(collections.defaultdict(list, x=array), torch.Tensor)
    assert made.default_factory is list and same_memory(made["x"], array) and made["new"] == []


def test_subclasses_of_list_and_tuple_keep_their_class_and_their_attributes():
    array = np.arange(3.0)
    row = Row([array, "text"])
    row.name = "a row"
    made = dt.convert_tree(row, torch.Tensor)
    assert type(made) is Row and made.name == "a row" and made[1] == "text"
    assert same_memory(made[0], array) and row[0] is array

    pair = Pair(array, 2)
    pair.name = "a pair"
    made = dt.convert_tree(pair, torch.Tensor)
    assert type(made) is Pair and made.name == "a pair" and made[1] == 2
    assert same_memory(made[0], array)

    made = dt.convert_tree(Scaled(array, 0.5), torch.Tensor)
    assert type(made) is Scaled and made.scale == 0.5 and same_memory(made.value, array)

    size = torch.zeros(2, 3).shape
    assert type(dt.convert_tree([size], np.ndarray)[0]) is torch.Size

    found = torch.tensor([[1.0, 3.0, 2.0]]).max(dim=1)  # a sequence with names, made in C
    made = dt.convert_tree(found, np.ndarray)
    assert type(made) is type(found)
    assert made.values.tolist() == [3] and made.indices.tolist() == [1]
    assert type(made.values) is np.ndarray


@dataclasses.dataclass
class Batch:
    images: object
    seed: dataclasses.InitVar[int] = None
    count: int = dataclasses.field(init=False, default=0)

    def __post_init__(self, seed):
        self.count = 7 if seed is None else seed


def test_a_dataclass_keeps_fields_that_its_constructor_does_not_take():
    array = np.arange(3.0)
    batch = Batch(array, seed=1)
    batch.count = 5
    batch.note = "no field"
    made = dt.convert_tree(batch, torch.Tensor)
    assert type(made) is Batch and made.count == 5 and made.note == "no field"
    assert same_memory(made.images, array) and batch.images is array


@dataclasses.dataclass
class Unset:
    images: object
    later: object = dataclasses.field(init=False)


def test_a_field_that_was_never_set_stays_so():
    made = dt.convert_tree(Unset(np.arange(3.0)), torch.Tensor)
    assert type(made.images) is torch.Tensor and not hasattr(made, "later")


@dataclasses.dataclass(frozen=True)
class Frozen:
    images: object
    double: object = dataclasses.field(init=False, default=None)


@dataclasses.dataclass
class Required:
    images: object
    seed: dataclasses.InitVar[int]


def test_dataclasses_that_are_frozen_or_need_init_variables():
    array = np.arange(3.0)
    frozen = Frozen(array)
    object.__setattr__(frozen, "double", array[1:])
    made = dt.convert_tree(frozen, torch.Tensor)
    assert same_memory(made.images, array) and made.double.tolist() == [1, 2]

    made = dt.convert_tree(Required(array, 3), torch.Tensor)
    assert same_memory(made.images, array)


@pytest.mark.parametrize("frozen", [False, True])
def test_dataclasses_with_slots(frozen):
    kept = dataclasses.make_dataclass("Kept", ["images", "label"], frozen=frozen, slots=True)
    array = np.arange(3.0)
    made = dt.convert_tree(kept(array, "cat"), torch.Tensor)
    assert type(made) is kept and same_memory(made.images, array) and made.label == "cat"


@dataclasses.dataclass
class Watched:
    images: object

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        super().__setattr__("last_set", name)


def test_a_dataclass_sets_its_fields_in_its_own_way():
    watched = Watched(np.arange(3.0))
    watched.other = 1
    assert dt.convert_tree(watched, torch.Tensor).last_set == "images"


class Unique(dict):
    """Says that it is its own copy, as containers that never change do."""

    def __copy__(self):
        return self


def test_a_container_that_is_its_own_copy_is_not_written():
    array = np.arange(3.0)
    tree = Unique(x=array)
    with pytest.raises(TypeError, match=r"copy\.copy\(\) of a Unique gives the same object"):
        dt.convert_tree(tree, torch.Tensor)
    assert tree["x"] is array
    without = Unique(n=1)
    assert dt.convert_tree(without, torch.Tensor) is without


def test_text_bytes_and_dates_of_numpy_stay():
    words = [np.str_("cat"), np.bytes_(b"cat"), np.datetime64("2020-01-02"), np.timedelta64(3, "s"),
             np.void(b"cat"), np.array((1, 2.0), dtype="i4,f8")[()]]  # fmt: skip
    made = dt.convert_tree(words, torch.Tensor)
    assert all(a is b for a, b in zip(made, words, strict=True))
    assert dt.convert_tree([np.float32(1.5)], torch.Tensor)[0].item() == 1.5
