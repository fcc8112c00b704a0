"""convert_tree(): the tensors in nested containers."""

import dataclasses

from dovetail import _core
from dovetail._targets import class_named

_WAYS = ("__dlpack__", "__array__", "__arrow_c_array__", "__array_interface__",
         "__cuda_array_interface__", "__sycl_usm_array_interface__")  # fmt: skip


def convert_tree(tree, target, *, copy=None):
    """Return a copy of the containers in which every tensor is converted. See dovetail."""
    target = class_named(target) if isinstance(target, str) else target
    return _walk(tree, target, copy)


def _walk(tree, target, copy):
    def walk(part):
        return _walk(part, target, copy)

    if isinstance(tree, dict):
        items = {key: walk(value) for key, value in tree.items()}
        return items if type(tree) is dict else _like(tree, items)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):  # a named tuple
        return type(tree)(*map(walk, tree))
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(walk, tree))
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        values = {f.name: walk(getattr(tree, f.name)) for f in dataclasses.fields(tree) if f.init}
        return dataclasses.replace(tree, **values)
    return _leaf(tree, target, copy)


def _like(mapping, items):
    """Return a mapping of the class of `mapping`: OrderedDict, defaultdict, a subclass of dict."""
    made = mapping.copy()
    made.update(items)
    return made


def _leaf(leaf, target, copy):
    is_tensor = not isinstance(leaf, type) and any(hasattr(leaf, way) for way in _WAYS)
    return _core.convert(leaf, target, copy=copy) if is_tensor else leaf
