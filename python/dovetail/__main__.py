"""`python -m dovetail` describes this installation and the libraries it can exchange tensors with.

It prints the version, the build, the backends with their devices (or why they have none), and the
libraries that convert() knows, with their versions and the protocols of their tensors. It imports
those libraries.
"""

import importlib
import importlib.metadata
import os
import platform
import sys

import dovetail
from dovetail import _core

# Maps an attribute of a tensor class to the protocol that it implements.
_PROTOCOLS = {
    "__dlpack__": "DLPack",
    "__dlpack_c_exchange_api__": "DLPack's C exchange API",
    "__array_interface__": "array interface",
    "__cuda_array_interface__": "CUDA array interface",
    "__arrow_c_array__": "Arrow C data",
}


def main():
    print(f"dovetail {dovetail.__version__}")
    print(f"  DLPack      {'.'.join(map(str, dovetail.dlpack_version))}")
    print(f"  Python      {platform.python_implementation()} {platform.python_version()}")
    print(f"  platform    {platform.platform()}")
    print(f"  extension   {_core.__file__}")
    print("backends")
    for name, devices in dovetail.backends().items():
        print(f"  {name:<11} {_devices_text(devices)}")
    print("libraries")
    for name in _core._convert_targets.split(", "):
        module, _, class_name = name.rpartition(".")
        if module != "dovetail":
            print(f"  {name:<15} {_library_text(module, class_name)}")


def _devices_text(devices):
    if isinstance(devices, str):
        return f"0 devices: {devices}"
    return f"{devices} device" + ("" if devices == 1 else "s")


def _library_text(module, class_name):
    try:
        library = importlib.import_module(module)
    except ModuleNotFoundError:
        return "not installed"
    except Exception as error:  # report a broken installation in one line, without a traceback
        return f"can't be imported: {error}"
    example = dovetail.convert(dovetail.zeros(1), getattr(library, class_name))
    spoken = [text for name, text in _PROTOCOLS.items() if hasattr(type(example), name)]
    if _has_buffer(example):
        spoken.insert(0, "buffer")
    return f"{_version(library, module)}: {', '.join(spoken) or 'no known protocol'}"


def _has_buffer(example):
    try:
        memoryview(example).release()
    except (TypeError, BufferError):
        return False
    return True


def _version(library, module):
    return getattr(library, "__version__", None) or importlib.metadata.version(module)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # skips exit handlers: Paddle 3.3.1 frees statics twice and can abort
