"""Dovetail's own files: whether it can be imported, and is the one that is meant."""

import base64
import hashlib
import importlib.machinery
import importlib.metadata
import pathlib
import sys

from .finding import FACT, FAULT, HINT, Finding

NAME = "installation"
_DISTRIBUTION = "dovetail-dlpack"
_WHEEL = "dovetail_dlpack-….whl"
_AGAIN = f"{sys.executable} -m pip install --force-reinstall {_WHEEL}"
_OTHER_FOLDER = "run Python from another folder, or take this one out of PYTHONPATH"


def check(about, path=None):
    """`about` is the answer of probe_dovetail.py, `path` is sys.path."""
    path = sys.path if path is None else path
    found = []
    if about.values:
        text = f"dovetail {about.values['version']} in {about.values['package']}"
        found.append(Finding(FACT, NAME, text))
    packages = list(_packages(path))
    if about.values is None and not any(_extensions(package)[1] for package in packages):
        found += _without_extension(packages)
    elif about.values is None:
        found.append(Finding(FAULT, NAME, f"import dovetail: {about.problem}", _remedy(about)))
    found += _copies(packages)
    for package in packages[:1]:
        found += _several_extensions(package)
    for stranger in _distributions(path, "dovetail"):
        text = f"dovetail {stranger.version} is not {_DISTRIBUTION}: the name is another project's"
        remedy = f"{sys.executable} -m pip uninstall dovetail; {_AGAIN}"
        found.append(Finding(FAULT, NAME, text, remedy))
    distributions = _distributions(path, _DISTRIBUTION)
    if len(distributions) > 1:
        text = ", ".join(f"{one.version} in {one.locate_file('')}" for one in distributions)
        remedy = (
            f"{sys.executable} -m pip uninstall {_DISTRIBUTION}, until none is left; install one"
        )
        found.append(Finding(FAULT, NAME, f"there are two installations: {text}", remedy))
    elif distributions:
        found += _against_record(distributions[0], about)
    return found


def _packages(path):
    """The folders named dovetail on sys.path, in the order in which Python looks."""
    seen = set()
    for entry in path:
        package = pathlib.Path(entry or ".").absolute() / "dovetail"
        key = (package / "__init__.py").resolve()
        if (package / "__init__.py").is_file() and key not in seen:
            seen.add(key)
            yield package


def _extensions(package):
    """The extension modules of a package: all of them, and those of this Python."""
    every = sorted(package.glob("_core*.so"))
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    return every, [file for file in every if file.name.removeprefix("_core") in suffixes]


def _without_extension(packages):
    for package in packages[:1]:
        every = _extensions(package)[0]
        if every:
            names = ", ".join(file.name for file in every)
            text = f"{package} has {names}, and this Python takes {_suffix()}"
            return [Finding(FAULT, NAME, text, _AGAIN)]
        text = f"{package} has no extension module: it is a source tree, or half an installation"
        return [Finding(FAULT, NAME, text, f"{_OTHER_FOLDER}; or {_AGAIN}")]
    return [Finding(FAULT, NAME, "dovetail is not on sys.path", _AGAIN)]


def _suffix():
    return f"_core{importlib.machinery.EXTENSION_SUFFIXES[0]}"


def _remedy(about):
    if "GLIBC" in about.problem:  # "version `GLIBC_2.38' not found (required by …)"
        return "this build is for a newer system: install a wheel for this one, or build it here"
    if "undefined symbol" in about.problem:
        return f"the extension is for another Python: {_AGAIN}"
    if "DOVETAIL_BACKENDS" in about.problem:  # "DOVETAIL_BACKENDS: There is no backend …"
        return "name backends that there are in DOVETAIL_BACKENDS, or unset it, for all of them"
    return _AGAIN


def _copies(packages):
    if len(packages) < 2:
        return []
    first, *others = packages
    text = f"{first} hides {', '.join(map(str, others))}"
    return [Finding(FAULT, NAME, text, f"{_OTHER_FOLDER}: keep one of them")]


def _several_extensions(package):
    fitting = _extensions(package)[1]
    if len(fitting) < 2:
        return []
    names = ", ".join(file.name for file in fitting)
    text = f"{package} has {names}, all for this Python: one is of an earlier installation"
    return [Finding(FAULT, NAME, text, f"rm -r {package}; {_AGAIN}")]


def _distributions(path, name):
    found = {}
    for one in importlib.metadata.distributions(name=name, path=[p or "." for p in path]):
        found.setdefault((one.locate_file("").resolve(), one.version), one)
    return list(found.values())


def _against_record(distribution, about):
    """Compares the files with the list of them that the wheel brought."""
    found = []
    if about.values and about.values["version"] != distribution.version:
        text = (
            f"the extension module is of {about.values['version']}, "
            f"and the installation is {distribution.version}"
        )
        found.append(Finding(FAULT, NAME, text, _AGAIN))
    listed, changed = set(), []
    for file in distribution.files or []:
        place = pathlib.Path(file.locate())
        listed.add(place.resolve())
        if not place.is_file():
            changed.append(f"{file} is missing")
        elif file.hash and file.hash.value != _digest(place, file.hash.mode):
            changed.append(f"{file} was changed")
    if changed:
        rest = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        text = f"{', '.join(changed[:3])}{rest}"
        found.append(Finding(FAULT, NAME, text, _AGAIN))
    package = pathlib.Path(distribution.locate_file("dovetail"))
    strange = [
        str(file.relative_to(package))
        for pattern in ("**/*.py", "**/*.so")
        for file in package.glob(pattern)
        if listed and file.resolve() not in listed
    ]
    if strange:
        text = f"{package} has files of no installation: {', '.join(sorted(strange)[:5])}"
        found.append(Finding(HINT, NAME, text, f"rm -r {package}; {_AGAIN}"))
    return found


def _digest(file, mode):
    digest = hashlib.new(mode, file.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
