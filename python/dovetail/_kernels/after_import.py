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
        if not _is_imported(name):
            if _finder not in sys.meta_path:
                sys.meta_path.insert(0, _finder)
            _waiting.setdefault(name, []).append(function)
            return
    function(sys.modules[name])


def _is_imported(name):
    """Whether the module is there, and its import has ended."""
    module = sys.modules.get(name)
    return module is not None and not getattr(module.__spec__, "_initializing", False)


def _run(name):
    """Call what waits for the module."""
    with _lock:
        functions = _waiting.pop(name, [])
        if not _waiting and _finder in sys.meta_path:
            sys.meta_path.remove(_finder)
    for function in functions:
        try:
            function(sys.modules[name])
        except Exception as error:  # which is none of the module's
            warnings.warn(f"after the import of {name}: {error}", stacklevel=2)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that are waited for, by the other finders."""

    def find_spec(self, name, path=None, target=None):
        # (A module whose import had begun before it was waited for.)
        for ready in [waited for waited in list(_waiting) if _is_imported(waited)]:
            _run(ready)
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
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _run(module.__name__)


_finder = _Finder()
