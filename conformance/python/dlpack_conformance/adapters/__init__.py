"""The libraries that the kit knows, a file each, and how those of others are found."""

import importlib
import importlib.metadata
import importlib.util
import pathlib
import pkgutil

from ..script import describe

# What an adapter looks like, where a library has NumPy's names for its functions.
_STARTER = """\
from dlpack_conformance import Adapter
ADAPTER = Adapter(
    name="mylib",
    setup="import mylib",
    version="mylib.__version__",
    dtype="mylib.{name}", dtypes="int32 float32 float64",
    array="mylib.array({values}, dtype={dtype})",
    take="mylib.from_dlpack({x})",
    values="{y}.tolist()",
)

and check it by: dlpack-conformance --adapter mylib.py"""
GROUP = "dlpack_conformance"  # of entry points: name = module that has an ADAPTER


def names():
    """The libraries that there are adapters for, installed or not."""
    own = [module.name for module in pkgutil.iter_modules(__path__)]
    return sorted({*own, *(point.name for point in _entry_points())})


def load(reference):
    """The Adapter of a library's name, or of a path of a file that has an ADAPTER.

    Raises LookupError if there is none.
    """
    modules = {point.name: point.value for point in _entry_points()}
    if not reference.endswith(".py") and reference not in names():
        text = _STARTER.replace("mylib", reference)
        raise LookupError(f"there is no adapter for {reference}; write {reference}.py:\n\n{text}")
    try:
        if reference.endswith(".py"):
            adapter = _load_file(reference).ADAPTER
        else:
            name = modules.get(reference, f".{reference}")
            adapter = importlib.import_module(name, __name__).ADAPTER
        adapter.check()
    except Exception as error:
        raise LookupError(f"{reference}: {describe(error)}") from error
    return adapter


def is_installed(adapter):
    try:
        return importlib.util.find_spec(adapter.module or adapter.name) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def installed(device="cpu"):
    """The names of the libraries that are installed, and have arrays on a device."""
    known = {name: load(name) for name in names()}
    return [name for name in known if is_installed(known[name]) and known[name].on(device)]


def _entry_points():
    return importlib.metadata.entry_points(group=GROUP)


def _load_file(path):
    name = pathlib.Path(path).stem
    spec = importlib.util.spec_from_file_location(f"conformance_adapter_{name}", path)
    if spec is None or not pathlib.Path(path).is_file():
        raise FileNotFoundError("no such file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
