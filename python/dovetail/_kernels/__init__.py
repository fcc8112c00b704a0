"""load_kernels(): the functions of a kernel library, for every framework."""

import os
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

from dovetail import _core
from dovetail._kernels.after_import import after_import

_lock = threading.RLock()
_loaded: dict = {}  # by file and namespace
_owners: dict = {}  # the path of the library that has a name in a namespace
_files: dict = {}  # the file that was loaded from a path

# PyTorch's own, and ours.
_RESERVED = frozenset({"aten", "c10d", "dovetail", "prim", "prims", "quantized", "torch"})
# Names of torch.ops itself.
_RESERVED |= {"higher_order", "import_module", "load_library", "loaded_libraries"}


class KernelLibrary:
    """The functions of a kernel library, as attributes.

    Each is a builtin function over any library's tensors. Within torch.compile and torch.export it
    is the operator torch.ops.<namespace>.<name>, whose overload `functional` returns what the
    function writes: that one has gradients, once torch.library.register_autograd() was told of a
    formula for "<namespace>::<name>.functional".
    """

    def __init__(self, path: str, namespace: str, functions: list[Callable[..., Any]]) -> None:
        for function in functions:
            setattr(self, function.__name__, function)
        self.__path = path
        self.__namespace = namespace

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        """Iterate over the functions."""
        return (value for name, value in vars(self).items() if not name.startswith("_"))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Refuse a name that is no function's."""
        raise AttributeError(f"the kernel library has no {name!r}")

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        """Load the file again, in another process too."""
        return _load, (self.__path, self.__namespace)

    def __repr__(self) -> str:
        names = ", ".join(function.__name__ for function in self)
        return f"<kernels of {self.__path!r} as {self.__namespace!r}: {names}>"


def load_kernels(path: str | os.PathLike[str], *, namespace: str | None = None) -> KernelLibrary:
    """Load a kernel library. See dovetail.load_kernels()."""
    return _load(os.path.realpath(os.fspath(path)), namespace)


def _load(path, namespace):
    """Load the file of a real path, for pickle and copy, too."""
    if namespace is None:
        namespace = os.path.basename(path).split(".")[0]
    _check_namespace(namespace)
    stat = os.stat(path)  # FileNotFoundError for a file that is not there
    file = (stat.st_dev, stat.st_ino, stat.st_mtime_ns)
    key = (*file, namespace)
    with _lock:
        if _files.setdefault(path, file) != file:
            raise ImportError(
                f"{path!r} has changed since it was loaded, and the loader has its old code. "
                "Start a new process, or build to another name."
            )
        if key not in _loaded:
            functions = _core._load_kernels(path, namespace)
            _claim(path, namespace, functions)
            _loaded[key] = KernelLibrary(path, namespace, functions)
            _offer_to_torch(functions)
            _offer_to_jax(functions)
        return _loaded[key]


def _check_namespace(namespace):
    if not isinstance(namespace, str):
        raise TypeError(f"namespace must be a str, and is a {type(namespace).__name__}")
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", namespace):
        raise ValueError(f"namespace must be a Python name such as 'mylib', and is {namespace!r}")
    if namespace in _RESERVED:
        raise ValueError(f"the namespace {namespace!r} is taken: choose another one")


def _claim(path, namespace, functions):
    names = [f"{namespace}::{function.__name__}" for function in functions]
    for name in names:
        if names.count(name) > 1:
            raise ImportError(f"{path!r} has two kernels called {name.split('::')[1]!r}")
        if name in _owners:
            raise ValueError(
                f"{name} is a kernel of {_owners[name]!r}. Load this library with another "
                "namespace."
            )
    _owners.update(dict.fromkeys(names, path))


def _offer_to_torch(functions):
    def register(_):
        from dovetail._kernels.operators import register_all

        register_all(functions)

    def substitute(_):
        from dovetail._kernels.operators import substitute

        for function in functions:
            substitute(function)

    after_import("torch", register)
    after_import("torch._dynamo", substitute)


def _offer_to_jax(functions):
    def register(_):
        from dovetail._kernels.jax_calls import register_all

        register_all(functions)

    after_import("jax", register)
