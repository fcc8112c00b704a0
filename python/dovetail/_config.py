"""show_config(): what this installation was built with, and what it found on this machine."""

import os
import platform
import sys
import sysconfig

from dovetail import _core

# The environment variables that Dovetail reads (docs/settings.md says what they do).
SETTINGS = (
    "DOVETAIL_BACKENDS",
    "DOVETAIL_CPU_CACHE_BYTES",
    "DOVETAIL_CPU_LARGE_CACHE_BYTES",
    "DOVETAIL_CPU_HUGE_PAGES",
    "DOVETAIL_CUDA_LIBRARY",
    "DOVETAIL_ONEAPI_LIBRARY",
    "DOVETAIL_ROCM_LIBRARY",
    "DOVETAIL_TRACE",
)


def show_config(mode="stdout"):
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"mode must be 'stdout' or 'dicts', not {mode!r}")
    config = _config()
    if mode == "dicts":
        return config
    for title, facts in config.items():
        print(title)
        for name, value in facts.items():
            print(f"  {name:<30} {_text(value)}")
    return None


def _config():
    facts = _core._build_facts()
    versions = ("abi_namespace", "c_api", "backend_abi")
    return {
        "dovetail": {
            "version": _core.__version__,
            "dlpack": _core.dlpack_version,
            **{name: facts[name] for name in versions},
            "extension": _core.__file__,
        },
        "build": {name: facts[name] for name in ("compiler", "standard_library", "c_library")},
        "simd": {"compiled": facts["simd_compiled"], "in_use": facts["simd_in_use"]},
        "backends": _core.backends(),
        "python": {
            "implementation": platform.python_implementation(),
            "version": platform.python_version(),
            "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
            "gil_enabled": getattr(sys, "_is_gil_enabled", lambda: True)(),
            "platform": platform.platform(),
        },
        "settings": {
            "num_threads": _core.get_num_threads(),
            **{name: os.environ.get(name) for name in SETTINGS},
        },
    }


def _text(value):
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    if isinstance(value, list):
        return ", ".join(value)
    if value is None:
        return "not set"
    return value
