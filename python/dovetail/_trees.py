"""convert_tree(): the tensors in nested containers."""

import dataclasses
import sys
from copy import copy as shallow_copy
from functools import partial

from dovetail import _core
from dovetail._targets import class_named

_WAYS = ("__dlpack__", "__array__", "__arrow_c_array__", "__array_interface__",
         "__cuda_array_interface__", "__sycl_usm_array_interface__")  # fmt: skip
_PLAIN = (str, int, float, bool, type(None))
_MISSING = object()


def convert_tree(tree, target, *, copy=None):
    """Return a copy of the containers in which every tensor is converted. See dovetail."""
    target = class_named(target) if isinstance(target, str) else target
    return _Walk(target, copy).node(tree)


class _Walk:
    """One walk over a tree."""

    def __init__(self, target, copy):
        self._target = target
        self._convert = _core.convert if copy is None else partial(_core.convert, copy=copy)
        self._tensors = set()  # the classes whose objects are all tensors, as far as they were met

    def node(self, tree):
        kind = type(tree)
        if kind in self._tensors:
            return self._convert(tree, self._target)
        if kind is dict:
            tensors, convert, target, node = self._tensors, self._convert, self._target, self.node
            return {
                key: convert(x, target) if type(x) in tensors else node(x)
                for key, x in tree.items()
            }
        if kind is list:
            return self._parts(tree)
        if kind is tuple:
            return tuple(self._parts(tree))
        if kind in _PLAIN:
            return tree
        if isinstance(tree, dict):
            return _copy_with(tree, self._changes(tree.items()), _set_item)
        if isinstance(tree, list):
            return _copy_with(tree, self._changes(enumerate(tree)), _set_item)
        if isinstance(tree, tuple):
            return _tuple_with(tree, dict(self._changes(enumerate(tree))))
        if hasattr(kind, "__dataclass_params__"):
            fields = [(f.name, getattr(tree, f.name, _MISSING)) for f in dataclasses.fields(tree)]
            put = object.__setattr__ if kind.__dataclass_params__.frozen else setattr
            return _copy_with(tree, self._changes(fields), put)
        return self._convert(tree, self._target) if self._is_tensor(tree) else tree

    def _parts(self, parts):
        # (Without a call for each tensor: a list of them takes little longer than a loop.)
        tensors, convert, target, node = self._tensors, self._convert, self._target, self.node
        return [convert(x, target) if type(x) in tensors else node(x) for x in parts]

    def _changes(self, parts):
        """Return the parts that become other objects, with their keys."""
        walked = [(key, part, self.node(part)) for key, part in parts]
        return [(key, made) for key, part, made in walked if made is not part]

    def _is_tensor(self, leaf):
        if isinstance(leaf, type) or all(getattr(leaf, way, None) is None for way in _WAYS):
            return False
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(leaf, numpy.generic):
            return leaf.dtype.kind not in "SUMm" and not isinstance(leaf, numpy.void)
        if any(callable(getattr(type(leaf), way, None)) for way in _WAYS):
            self._tensors.add(type(leaf))
        return True


def _copy_with(tree, changes, put):
    """Return a copy as copy.copy() makes it, which keeps attributes and runs no __init__."""
    made = shallow_copy(tree)
    if changes and made is tree:
        name = type(tree).__name__
        raise TypeError(f"copy.copy() of a {name} gives the same object, so no tensor in it can be "
                        "converted; give the parts of it")  # fmt: skip
    for key, value in changes:
        put(made, key, value)
    return made


def _set_item(container, key, value):
    container[key] = value


def _tuple_with(tree, changes):
    """Return the tuple with other items. Without a change it is the same, as a copy would be."""
    if not changes:
        return tree
    items = [changes.get(i, item) for i, item in enumerate(tree)]
    try:
        made = tuple.__new__(type(tree), items)  # its own __new__ may take other arguments
    except TypeError:  # a sequence with names that is made in C, such as torch.return_types.max
        return type(tree)(items)
    if hasattr(tree, "__dict__"):
        made.__dict__.update(tree.__dict__)
    return made
