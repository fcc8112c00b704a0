"""convert_tree(): the tensors in nested containers."""

import dataclasses
import sys
from copy import copy as shallow_copy

from dovetail import _core
from dovetail._targets import class_named

_WAYS = ("__dlpack__", "__array__", "__arrow_c_array__", "__array_interface__",
         "__cuda_array_interface__", "__sycl_usm_array_interface__")  # fmt: skip
_PLAIN = (str, int, float, bool, type(None))
_MISSING = object()


def convert_tree(tree, target, *, copy=None):
    """Return a copy of the containers in which every tensor is converted. See dovetail."""
    target = class_named(target) if isinstance(target, str) else target
    return _walk(tree, target, copy)


def _walk(tree, target, copy):
    kind = type(tree)
    if kind is dict:
        return {key: _walk(value, target, copy) for key, value in tree.items()}
    if kind is list:
        return [_walk(item, target, copy) for item in tree]
    if kind is tuple:
        return tuple([_walk(item, target, copy) for item in tree])
    if kind in _PLAIN:
        return tree
    if isinstance(tree, dict):
        return _copy_with(tree, _changes(tree.items(), target, copy), _set_item)
    if isinstance(tree, list):
        return _copy_with(tree, _changes(enumerate(tree), target, copy), _set_item)
    if isinstance(tree, tuple):
        return _tuple_with(tree, dict(_changes(enumerate(tree), target, copy)))
    if hasattr(kind, "__dataclass_params__"):
        fields = [(f.name, getattr(tree, f.name, _MISSING)) for f in dataclasses.fields(tree)]
        put = object.__setattr__ if kind.__dataclass_params__.frozen else setattr
        return _copy_with(tree, _changes(fields, target, copy), put)
    return _core.convert(tree, target, copy=copy) if _is_tensor(tree) else tree


def _changes(parts, target, copy):
    """Return the parts that become other objects, with their keys."""
    walked = [(key, part, _walk(part, target, copy)) for key, part in parts]
    return [(key, made) for key, part, made in walked if made is not part]


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


def _is_tensor(leaf):
    if isinstance(leaf, type) or all(getattr(leaf, way, None) is None for way in _WAYS):
        return False
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(leaf, numpy.generic):
        return True
    return leaf.dtype.kind not in "SUMm" and not isinstance(leaf, numpy.void)
