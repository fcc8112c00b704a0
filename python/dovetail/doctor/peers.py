"""Libraries that Dovetail exchanges tensors with: whether they import, and what they speak."""

import concurrent.futures
import importlib.machinery
import importlib.util
import os
import re

from .child import TIMEOUT, ask
from .finding import FACT, FAULT, HINT, Finding

NAME = "libraries"

# The oldest version of each that is supported: docs/support.md, docs/libraries.md.
SUPPORTED = {
    "numpy": "2.2",
    "torch": "2.13.0",
    "jax": "0.10.2",
    "paddle": "3.3.1",
    "tvm_ffi": "0.1.15",
    "pyarrow": "26.0.1",
    "onnxruntime": "1.32.0",
    "cupy": "14.2.0",
    "tensorflow": "2.21.0",
    "dpnp": "0.20.0",
}

# What follows where the library's structs have no version.
_LACKING = {
    "exports": "its tensors don't say whether they may be written",
    "imports": "it can't be told that memory is read-only",
}


def probe(modules, timeout=TIMEOUT):
    """Return {module: Answer} of those that are installed. Each is imported in its own process."""
    installed = [module for module in modules if _is_installed(module)]
    with concurrent.futures.ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        answers = pool.map(lambda module: ask("probe_peer.py", module, timeout=timeout), installed)
        return dict(zip(installed, answers, strict=True))


def _is_installed(module):
    top, _, rest = module.partition(".")
    try:
        spec = importlib.util.find_spec(top)
        for name in rest.split(".") if rest else ():
            if spec is None or spec.origin is not None:
                break  # a package, which knows where its modules are
            folders = spec.submodule_search_locations  # (find_spec would import the package)
            spec = importlib.machinery.PathFinder.find_spec(f"{spec.name}.{name}", folders)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None  # None: a folder of that name, no package


def _numbers(version):
    return [int(number) for number in re.match(r"[\d.]*", version)[0].split(".") if number]


def check(answers):
    if not answers:
        return [Finding(FACT, NAME, "none is installed")]
    return [finding for module, answer in answers.items() for finding in _one(module, answer)]


def _one(module, answer):
    values = answer.values
    if values is None:
        text = f"import {module}: {answer.problem}"
        remedy = f"try python -c 'import {module}'; install {module} again"
        return [Finding(FAULT, NAME, text, remedy)]
    name = f"{module} {values['version']}".strip()
    if values["untried"]:
        text = f"{name} takes no tensor: {values['untried']}"
        return [Finding(FAULT, NAME, text, f"update {module}")]
    if values["needs"]:
        text = f"{name} takes memory of a {values['needs']} device alone, and none is here"
        return [Finding(FACT, NAME, text)]
    oldest = SUPPORTED.get(module)
    if oldest is not None and _numbers(values["version"]) < _numbers(oldest):
        text = f"{name} is older than {oldest}, the oldest that is tried"
        return [Finding(HINT, NAME, text, f"update {module}")]
    lacking = [text for key, text in _LACKING.items() if values[key] == "unversioned"]
    if not lacking:
        way = f", comes in by {values['way']}" if values["way"] else ""
        return [Finding(FACT, NAME, f"{name}, {values['file']}{way}")]
    text = f"{name} speaks DLPack before 1.0: {'; '.join(lacking)}"
    return [Finding(HINT, NAME, text, f"a newer {module} may speak DLPack 1.0")]
