#!/usr/bin/env python3
"""Makes a Bazel registry in a folder, from Debian's files: bazel --registry=file://OUT …

    make_registry.py --contents=FOLDER --out=OUT MODULE.bazel…

FOLDER has one folder for each module that there is, named as the Bazel Central Registry names it.
The registry serves the versions that the given MODULE.bazel files and those of the modules in turn
ask for, so that Bazel resolves the real names and versions. Debian has one version of each module,
and its files stand for all of them.
"""

import argparse
import json
import pathlib
import re

# Modules that others name and no build of this repository opens: they are served without files.
UNUSED = (
    "apple_support",
    "buildozer",
    "libpfm",
    "protobuf",
    "re2",
    "rules_foreign_cc",
    "zlib",
)


class Extension:
    """What use_extension() returns: it has every tag."""

    def __getattr__(self, tag):
        return lambda *args, **kwargs: None


def dependencies(text: str, root: bool) -> list[tuple[str, str]]:
    """The (name, version) pairs of the bazel_dep() calls in a MODULE.bazel file.

    Such a file is Python enough to be run.
    """
    found = []

    def bazel_dep(name, version="", dev_dependency=False, **_):
        if version and (root or not dev_dependency):
            found.append((name, version))

    class Globals(dict):
        def __missing__(self, name):
            return lambda *args, **kwargs: Extension()

    exec(text, Globals(bazel_dep=bazel_dep))
    return found


def module_file(contents: pathlib.Path, name: str, version: str) -> str:
    """The MODULE.bazel file of a module, with the version that is asked for."""
    text = (contents / name / "MODULE.bazel").read_text(encoding="utf-8")
    text = re.sub(r"^module\(.*?\)$", "", text, count=1, flags=re.MULTILINE | re.DOTALL)
    return f'module(name = "{name}", version = "{version}")\n{text}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contents", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("roots", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()

    asked = [("platforms", "0.0.7")]  # of Bazel's own module local_config_platform
    for path in arguments.roots:
        asked += dependencies(path.read_text(encoding="utf-8"), root=True)
    for name in UNUSED:
        (arguments.contents / name).mkdir(exist_ok=True)
        for file in ("BUILD", "MODULE.bazel"):
            (arguments.contents / name / file).touch()
    served = set()
    while asked:
        name, version = asked.pop()
        if (name, version) in served or not (arguments.contents / name).exists():
            continue
        served.add((name, version))
        text = module_file(arguments.contents, name, version)
        folder = arguments.out / "modules" / name / version
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "MODULE.bazel").write_text(text, encoding="utf-8")
        source = {"type": "local_path", "path": name}
        (folder / "source.json").write_text(json.dumps(source), encoding="utf-8")
        asked += dependencies(text, root=False)
    registry = {"module_base_path": str(arguments.contents.resolve())}
    (arguments.out / "bazel_registry.json").write_text(json.dumps(registry), encoding="utf-8")


if __name__ == "__main__":
    main()
