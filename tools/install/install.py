#!/usr/bin/env python3
"""Installs Dovetail for programs that Bazel does not build: ./bazelw run //:install -- PREFIX

    PREFIX/include/dovetail                 headers that the public ones need
    PREFIX/lib/libdovetail*.a               a static library for each component that has code
    PREFIX/lib/dovetail/absl, …/dlpack      abseil's headers and dlpack.h, which they include
    PREFIX/lib/cmake/dovetail               find_package(dovetail)
    PREFIX/lib/pkgconfig/dovetail*.pc       pkg-config dovetail dovetail-copy

Files of an earlier installation are removed. files.json describes the components (install.bzl).
"""

import json
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterable

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
OURS = "dovetail/"
# Lists the installed files. The next installation removes them.
LIST = "lib/cmake/dovetail/installed.txt"


def needed_headers(public: list[str], headers: dict[str, str]) -> list[str]:
    """The names of these headers and of all that they include, of those that the build has."""
    needed: set[str] = set()
    left = list(public)
    while left:
        name = left.pop()
        if name in needed:
            continue
        needed.add(name)
        text = pathlib.Path(headers[name]).read_text(encoding="utf-8")
        for included in INCLUDE.findall(text):
            beside = f"{name.rpartition('/')[0]}/{included}"
            if included in headers or beside in headers:
                left.append(included if included in headers else beside)
            elif included.startswith((OURS + "core/", "absl/", "dlpack/")):
                sys.exit(f"install: {name} includes {included}, which none of its libraries has")
    return sorted(needed)


def library_of(component: dict) -> str:
    """The name of the component's static library without lib and .a, or an empty string."""
    return pathlib.PurePath(component["archive"]).stem.removeprefix("lib")


def processor_of(archive: str) -> str:
    """Linux's name of the processor of a static library's first object, or an empty string."""
    header = re.search(rb"\x7fELF.{14}(..)", pathlib.Path(archive).read_bytes(), re.DOTALL)
    machine = int.from_bytes(header[1], "little") if header else 0
    return {62: "x86_64", 183: "aarch64"}.get(machine, "")


def always_linked(component: dict) -> list[str]:
    """Flags of the linker that take the objects that nothing refers to."""
    if not component["always"]:
        return []
    names = pathlib.Path(component["always"]).read_text(encoding="utf-8").split()
    return [f"-Wl,--undefined={name}" for name in names]


def folder_of(header: str) -> str:
    """The include directory that a header is in. abseil and DLPack have one each."""
    return "include" if header.startswith(OURS) else f"lib/dovetail/{header.partition('/')[0]}"


def include_folders(component: dict) -> list[str]:
    if component["name"] == "abseil":
        return [folder_of("absl/")]
    return [folder_of(OURS), folder_of("dlpack/")]


def cmake_target(component: dict, abseil: list[str]) -> str:
    name = f"dovetail::{component['name']}"
    links = [f"dovetail::{needed}" for needed in component["components"]]
    links += always_linked(component) + component["flags"]
    kind = "STATIC" if component["archive"] else "INTERFACE"
    is_abseil = component["name"] == "abseil"
    folders = [f"${{_dovetail_prefix}}/{folder}" for folder in include_folders(component)]
    properties = [
        f'INTERFACE_INCLUDE_DIRECTORIES "{";".join(folders)}"',
        "INTERFACE_COMPILE_FEATURES cxx_std_20",
        f'INTERFACE_LINK_LIBRARIES "{";".join(links)}"',
    ]
    if component["archive"]:
        location = f"${{_dovetail_prefix}}/lib/lib{library_of(component)}.a"
        properties.append(f'IMPORTED_LOCATION "{location}"')
        properties.append("IMPORTED_LINK_INTERFACE_LANGUAGES CXX")
    if component["defines"]:
        properties.append(f'INTERFACE_COMPILE_DEFINITIONS "{";".join(component["defines"])}"')
    target = [
        f"add_library({name} {kind} IMPORTED)",
        f"set_target_properties({name} PROPERTIES",
        *[f"  {line}" for line in properties[:-1]],
        f"  {properties[-1]})",
    ]
    if is_abseil:
        # (Names of parts of abseil that its own package has, too.)
        known = " ".join(f"absl::{library}" for library in abseil)
        target = [
            "if(DOVETAIL_FIND_ABSEIL)",
            f"  add_library({name} INTERFACE IMPORTED)",
            f"  foreach(_dovetail_library {known})",
            "    if(TARGET ${_dovetail_library})",
            f"      set_property(TARGET {name} APPEND PROPERTY",
            "        INTERFACE_LINK_LIBRARIES ${_dovetail_library})",
            "    endif()",
            "  endforeach()",
            "else()",
            *[f"  {line}" for line in target],
            "endif()",
        ]
    return "\n".join([f"if(NOT TARGET {name})", *[f"  {line}" for line in target], "endif()", ""])


def package_of(name: str) -> str:
    """The name of a component's package for pkg-config."""
    return "dovetail" if name == "dovetail" else "dovetail-" + name.replace("_", "-")


def pkgconfig(component: dict, version: str) -> str:
    folders = [f"-I${{prefix}}/{folder}" for folder in include_folders(component)]
    archive = [f"-l{library_of(component)}"] if component["archive"] else []
    needed = [package_of(name) for name in component["components"]]
    defines = [f"-D{define}" for define in component["defines"]]
    libraries = ["-L${prefix}/lib", *always_linked(component), *archive, *component["flags"]]
    lines = [
        "prefix=${pcfiledir}/../..",
        "",
        f"Name: {package_of(component['name'])}",
        f"Description: Tensors of every library, the component {component['name']}",
        f"Version: {version}",
        *([f"Requires: {' '.join(needed)}"] if needed else []),
        " ".join(["Cflags:", *folders, *defines]),
        " ".join(["Libs:", *libraries]),
        "",
    ]
    return "\n".join(lines)


def notices() -> str:
    """What the licenses of abseil and DLPack ask for: their paragraphs of third_party/NOTICE."""
    paragraphs = pathlib.Path("third_party/NOTICE").read_text(encoding="utf-8").split("\n\n")
    return "\n\n".join(p for p in paragraphs if p.startswith(("abseil-cpp ", "dlpack.h"))) + "\n"


class Prefix:
    """The directory that is installed to. Nothing in it changes before replace()."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.files: dict[str, bytes] = {}

    def add_text(self, name: str, text: str) -> None:
        self.files[name] = text.encode()

    def add_copy(self, name: str, source: str) -> None:
        self.files[name] = pathlib.Path(source).read_bytes()

    def replace(self) -> None:
        """Writes the files, then removes those of an earlier installation that this one lacks.

        If it fails midway, the list has the old and the new names: the next call completes it.
        """
        names = [*self.files, LIST]
        for name in names:
            self._check(name)
        earlier = self._earlier()
        self._write(LIST, _lines(dict.fromkeys([*names, *earlier])))
        for name, data in self.files.items():
            self._write(name, data)
        for name in {*earlier} - {*names}:
            (self.path / name).unlink(missing_ok=True)
        self._write(LIST, _lines(names))

    def _earlier(self) -> list[str]:
        path = self.path / LIST
        try:
            names = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")[:-1]
        except FileNotFoundError:
            return []
        for name in names:
            # (A second spelling of a name would be taken for another file, and removed.)
            if not name.isprintable() or os.path.normpath(name) != name or name[0] in "./":
                sys.exit(f"install: {path} is no list of installed files: it has {name!r}")
            self._check(name)
        return names

    def _check(self, name: str) -> None:
        """Exits if the file would be outside the prefix, or if its name is a directory's."""
        path = self.path / name
        for folder in [self.path / above for above in pathlib.PurePosixPath(name).parents]:
            if folder.is_symlink() and folder != self.path:
                sys.exit(f"install: {folder} is a symbolic link, which may lead out of the prefix")
            if os.path.lexists(folder) and not folder.is_dir():
                sys.exit(f"install: {folder} is no directory")
        if path.is_dir() and not path.is_symlink():
            sys.exit(f"install: {path} is a directory")

    def _write(self, name: str, data: bytes) -> None:
        """Replaces a file. One that is a link does not change what it leads to."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, new = tempfile.mkstemp(dir=path.parent)
        try:
            with open(handle, "wb") as file:
                os.fchmod(handle, 0o644)
                file.write(data)
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def add_files(prefix: Prefix, files: dict) -> None:
    components = files["components"]
    headers = files["headers"]
    version = files["version"]
    public = [name for component in components for name in component["headers"]]
    for name in needed_headers(public, headers):
        prefix.add_copy(f"{folder_of(name)}/{name}", headers[name])

    targets = [
        "# The targets of dovetailConfig.cmake, which includes this file. //:install wrote it.\n"
    ]
    archives = [component["archive"] for component in components if component["archive"]]
    for component in components:
        if component["archive"]:
            prefix.add_copy(f"lib/lib{library_of(component)}.a", component["archive"])
        targets.append(cmake_target(component, files["abseil"]))
        package = package_of(component["name"])
        prefix.add_text(f"lib/pkgconfig/{package}.pc", pkgconfig(component, version))

    prefix.add_text("lib/cmake/dovetail/dovetailTargets.cmake", "\n".join(targets))
    options = pathlib.Path(headers["absl/base/options.h"]).read_text(encoding="utf-8")
    namespace = re.search(r"#define ABSL_OPTION_INLINE_NAMESPACE_NAME (\w+)", options)
    values = {
        "ABSEIL": namespace[1] if namespace else "",
        "COMPONENTS": ";".join(component["name"] for component in components),
        "PROCESSOR": processor_of(archives[0]),
        "VERSION": version,
    }
    for name in ("dovetailConfig.cmake", "dovetailConfigVersion.cmake"):
        text = pathlib.Path(f"tools/install/{name}.in").read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        prefix.add_text(f"lib/cmake/dovetail/{name}", text)
    prefix.add_copy("share/doc/dovetail/LICENSE", "LICENSE")
    prefix.add_text("share/doc/dovetail/NOTICE", notices())


def main() -> None:
    if len(sys.argv) != 2 or not sys.argv[1] or sys.argv[1].startswith("-"):
        sys.exit("usage: ./bazelw run //:install -- PREFIX")
    # (Relative to the directory that Bazel was called in.)
    prefix = Prefix(pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), sys.argv[1]))
    add_files(prefix, json.loads(pathlib.Path("tools/install/files.json").read_text()))
    os.umask(0o022)  # an installation is for all users
    try:
        prefix.replace()
    except OSError as error:
        sys.exit(f"install: {error.filename or prefix.path}: {error.strerror}")
    print(f"install: {len(prefix.files) + 1} files in {prefix.path}")


if __name__ == "__main__":
    main()
