"""Imports a library and tries what its tensors can do: probe_peer.py LIBRARY

Prints the version, the file, "exports" and "imports": "versioned" or "unversioned" as the library
hands out or asks for DLPack's structs, "" where it has neither; or "untried" with the reason;
or "needs": the backend of the GPUs that the library can't do without, where there are none.
"library_files": for each backend, the files of its driver that are loaded, the one in use first.
"protocols": the protocols by which the library's tensors are exchanged, by name.
"""

import importlib
import importlib.metadata
import json
import os
import sys

import dovetail
from dovetail import _core, _targets

VERSION = (1, 0)

# Maps an attribute of a tensor class to the protocol that it implements.
PROTOCOLS = {
    "__dlpack__": "DLPack",
    "__dlpack_c_exchange_api__": "DLPack's C exchange API",
    "__array_interface__": "array interface",
    "__cuda_array_interface__": "CUDA array interface",
    "__sycl_usm_array_interface__": "USM array interface",
    "__arrow_c_array__": "Arrow C data",
}


class RecorderType(type):
    @property
    def __dlpack_c_exchange_api__(cls):
        cls.asked_versioned = True  # the structs of the C exchange API are versioned
        raise AttributeError


class Recorder(metaclass=RecorderType):
    """A producer that records whether the consumer asks for a versioned struct."""

    asked_versioned = False
    tensor = None  # the one that it hands out

    def __dlpack__(self, **request):
        if request.get("max_version") is not None:
            Recorder.asked_versioned = True
        return self.tensor.__dlpack__(**request)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def exports(tensor):
    if not hasattr(tensor, "__dlpack__"):
        return ""
    try:
        capsule = tensor.__dlpack__(max_version=VERSION)
    except TypeError:  # no such argument
        return "unversioned"
    return "versioned" if '"dltensor_versioned"' in repr(capsule) else "unversioned"


def imports(owners):
    for owner in owners:
        if hasattr(owner, "from_dlpack"):
            try:
                owner.from_dlpack(Recorder())
            except BufferError:
                owner.from_dlpack(Recorder(), -1)  # cuda.core asks for a stream, -1: none
            return "versioned" if Recorder.asked_versioned else "unversioned"
    return ""


def attribute(owner, path):
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner


def cuda(library):
    """What PyTorch was built for, and whether it can use a GPU."""
    version = attribute(library, "version.cuda")
    return version and {"built": version, "available": library.cuda.is_available()}


def protocols(tensor):
    spoken = [text for name, text in PROTOCOLS.items() if hasattr(type(tensor), name)]
    try:
        memoryview(tensor).release()
    except (TypeError, BufferError):
        return spoken
    return ["buffer", *spoken]


def version(library, name):
    found = getattr(library, "__version__", "")
    while not found and name:
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            name = name.rpartition(".")[0]  # cuda.core of cuda.core.utils
    return str(found)


def class_of(library, name):
    """Return the library's class that convert() knows, or else the library's name."""
    for target in _core._convert_targets.split(", "):
        module, _, tensor = target.rpartition(".")
        if module == name:
            return getattr(library, tensor)
    return name


def try_both_ways(library, name, device, values):
    Recorder.tensor = dovetail.ones(16, device=device)
    tensor = dovetail.convert(Recorder.tensor, class_of(library, name))
    values["way"] = _core._trace_import(tensor, None, None)["door"] or ""
    values["protocols"] = protocols(tensor)
    values["exports"] = exports(tensor)
    owners = (library, attribute(library, "dlpack"), attribute(library, "utils.dlpack"))
    values["imports"] = imports([*owners, type(tensor)])


def main():
    name = sys.argv[1]
    library = importlib.import_module(name)
    values = {
        "version": version(library, name),
        "file": getattr(library, "__file__", None) or "",
        "protocols": [],
        "exports": "",
        "imports": "",
        "way": "",  # by which its tensor comes in
        "untried": "",
        "needs": "",
        "cuda": cuda(library) if name == "torch" else None,
    }
    device = _targets.device_for(name)
    if device is None:
        # (DOVETAIL_BACKENDS may leave the CPU's backend out.)
        values["needs"] = _targets.GPU_BACKENDS.get(name, "cpu")
    else:
        try:
            try_both_ways(library, name, device, values)
        except Exception as error:
            values["untried"] = f"{type(error).__name__}: {error}"
    values["library_files"] = _core._library_files()
    print(f"\nanswer: {json.dumps(values)}")
    sys.stdout.flush()
    os._exit(0)  # skips exit handlers, which are not what was asked for


if __name__ == "__main__":
    main()
