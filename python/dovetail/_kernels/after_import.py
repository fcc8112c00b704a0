"""Calls a function when a module is imported, without importing it."""

import importlib.abc
import sys
import threading
import types
from collections.abc import Callable

_lock = threading.RLock()
_waiting: dict[str, list[Callable]] = {}  # by the module's name


def after_import(name, function):
    """Call function(module) now if the module was imported, else when it is.

    A module whose import is under way has no moment after it: catch_up() calls the function then.
    """
    with _lock:
        if not _is_imported(name):
            if _finder not in sys.meta_path:
                sys.meta_path.insert(0, _finder)
            _waiting.setdefault(name, []).append(function)
            return
    function(sys.modules[name])


def catch_up():
    """Call what waits for modules that are imported by now."""
    for name in list(_waiting):
        if _is_imported(name):
            _run(name)


def _is_imported(name):
    """Whether the module is there, is no stand-in of a test or a lazy one, and is whole."""
    module = sys.modules.get(name)
    if type(module) is not types.ModuleType:
        return False
    spec = vars(module).get("__spec__")
    return spec is not None and not getattr(spec, "_initializing", False)


def _run(name):
    """Call what waits for the module. It must not fail for what we do."""
    with _lock:
        functions = _waiting.pop(name, [])
        if not _waiting and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
    for function in functions:
        try:
            function(sys.modules[name])
        except Exception as error:
            print(f"dovetail: after the import of {name}: {error}", file=sys.stderr)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that are waited for, by the other finders."""

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


class _Loader(importlib.abc.Loader):
    """The module's own loader, and what follows it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _run(module.__name__)


_finder = _Finder()
