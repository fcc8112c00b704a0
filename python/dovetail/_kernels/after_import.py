"""Calls a function when a module is imported, without importing it."""

import importlib.abc
import sys
import threading
import warnings
from collections.abc import Callable

_lock = threading.RLock()
_waiting: dict[str, list[Callable]] = {}  # by the module's name


def after_import(name, function):
    """Call function(module) now if the module was imported, else when it is."""
    with _lock:
        module = sys.modules.get(name)
        # (A module that is still importing has no spec of a finished one.)
        is_importing = module is not None and getattr(module.__spec__, "_initializing", False)
        if module is None or (is_importing and name not in _waiting):
            if _finder not in sys.meta_path:
                sys.meta_path.insert(0, _finder)
            _waiting.setdefault(name, []).append(function)
            return
    function(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that are waited for, by the other finders."""

    def find_spec(self, name, path=None, target=None):
        if name not in _waiting:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else _spec_of(finder, name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


def _spec_of(finder, name, path, target):
    find = getattr(finder, "find_spec", None)
    return None if find is None else find(name, path, target)


class _Loader(importlib.abc.Loader):
    """The module's own loader, and what follows it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        with _lock:
            functions = _waiting.pop(module.__name__, [])
            if not _waiting and _finder in sys.meta_path:
                sys.meta_path.remove(_finder)
        for function in functions:
            try:
                function(module)
            except Exception as error:
                warnings.warn(f"after the import of {module.__name__}: {error}", stacklevel=2)


_finder = _Finder()
