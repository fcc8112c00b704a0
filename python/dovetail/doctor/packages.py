"""Libraries that are installed twice, and builds of different versions in one folder."""

import importlib.metadata
import sys

from .finding import FAULT, Finding

NAME = "packages"


def check(modules, answers, path=None):
    """`modules` are names of libraries, `answers` those of probe_peer.py by name."""
    owners = _owners(set(modules), sys.path if path is None else path)
    found = []
    for module in modules:
        distributions = sorted(owners.get(module, ()))
        if len(distributions) > 1:
            text = ", ".join(
                f"{name} {version} in {place}" for name, version, place in distributions
            )
            names = " ".join(dict.fromkeys(name for name, _, _ in distributions))
            remedy = f"{sys.executable} -m pip uninstall {names}, until none is left; install one"
            found.append(Finding(FAULT, NAME, f"{module} is installed twice: {text}", remedy))
        elif distributions and (answer := answers.get(module)) and answer.values:
            found += _versions(module, distributions[0], answer.values)
    return found + [
        finding for module, answer in answers.items() for finding in _numpy_1(module, answer)
    ]


def _owners(modules, path):
    """{module: {(distribution, version, folder)}} of the distributions that have the module."""
    owners = {}
    for one in importlib.metadata.distributions(path=[entry or "." for entry in path]):
        for module in _top_levels(one) & modules:
            folder = str(one.locate_file("").resolve())
            owners.setdefault(module, set()).add((one.metadata["Name"], one.version, folder))
    return owners


def _top_levels(distribution):
    if text := distribution.read_text("top_level.txt"):
        return set(text.split())
    return {file.parts[0] for file in distribution.files or [] if file.name == "__init__.py"}


def _versions(module, distribution, values):
    name, version, _ = distribution
    if not values["version"] or _release(values["version"]) == _release(version):
        return []
    text = f"{values['file']} is {module} {values['version']}, and {name} {version} is installed"
    remedy = f"{sys.executable} -m pip install --force-reinstall {name}=={version}"
    return [Finding(FAULT, NAME, text, remedy)]


def _release(version):
    """The version without what a build added: 2.13.0+cpu is 2.13.0."""
    return version.partition("+")[0].partition(".post")[0].partition(".dev")[0]


def _numpy_1(module, answer):
    if "compiled using NumPy 1.x" not in answer.warnings:
        return []
    text = f"{module} was compiled for NumPy 1, and NumPy 2 is installed"
    remedy = f"{sys.executable} -m pip install --upgrade {module}, or install 'numpy<2'"
    return [Finding(FAULT, NAME, text, remedy)]
