#!/usr/bin/env python3
"""Writes a wheel (PEP 427) from the given files. The build calls it (bazel/wheel.bzl).

    make_wheel.py --output=dovetail_dlpack-0.1.0-cp311-cp311-linux_x86_64.whl \\
        --tag=cp311-cp311-linux_x86_64 --distribution=dovetail-dlpack --version=0.1.0 \\
        --package=python --extension=…/python/dovetail/_core.so \\
        --extension-suffix=.cpython-311-….so --metadata=METADATA python/dovetail/__init__.py …

A package without an extension module has neither of the two options about it, and the tag
py3-none-any.
The same input gives the same bytes: times are fixed and names sorted. It needs only Python.
"""

import argparse
import base64
import hashlib
import os
import zipfile

WHEEL = """Wheel-Version: 1.0
Generator: dovetail
Root-Is-Purelib: {pure}
Tag: {tag}
"""


class Wheel:
    """A zip archive that records its contents in RECORD."""

    def __init__(self, path, dist_info):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record_name = dist_info + "/RECORD"
        self.record = []

    def add(self, name, data, mode=0o644):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        self.record.append(f"{name},sha256={digest},{len(data)}")
        self._write(name, data, mode)

    def close(self):
        lines = [*self.record, f"{self.record_name},,"]
        self._write(self.record_name, ("\n".join(lines) + "\n").encode(), 0o644)
        self.archive.close()

    def _write(self, name, data, mode):
        entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        self.archive.writestr(entry, data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def path_in_package(path, package):
    """The path in the wheel: python/dovetail/x.py and bazel-out/…/bin/python/dovetail/x.py are both
    dovetail/x.py."""
    _, found, after = ("/" + path).partition(f"/{package}/") if package else ("", "/", path)
    if not found:
        raise SystemExit(f"make_wheel: {path} is not in the package {package}")
    return after


def entry_points(definitions):
    """The text of entry_points.txt. A definition is "group:name=object"."""
    groups = {}
    for definition in sorted(definitions):
        group, _, line = definition.partition(":")
        groups.setdefault(group, []).append(line.replace("=", " = "))
    return "\n".join(f"[{group}]\n" + "\n".join(lines) + "\n" for group, lines in groups.items())


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description="Writes a wheel.")
    for name in ["distribution", "version", "tag", "metadata"]:
        parser.add_argument(f"--{name}", required=True)
    for name in ["output", "package"]:
        parser.add_argument(f"--{name}", required=True)
    for name in ["extension", "extension-suffix", "sbom"]:
        parser.add_argument(f"--{name}")
    parser.add_argument("--license", action="append", default=[])
    parser.add_argument("--entry-point", action="append", default=[])
    parser.add_argument("srcs", nargs="+")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse_arguments(arguments)
    dist_info = f"{options.distribution.replace('-', '_')}-{options.version}.dist-info"
    wheel = Wheel(options.output, dist_info)
    names = {path_in_package(path, options.package): path for path in options.srcs}
    for name in sorted(names):
        wheel.add(name, read(names[name]))
    if options.extension:
        extension = path_in_package(options.extension, options.package)
        extension = extension.removesuffix(".so") + options.extension_suffix
        wheel.add(extension, read(options.extension), mode=0o755)
    wheel.add(f"{dist_info}/METADATA", read(options.metadata))
    pure = "false" if options.extension else "true"
    wheel.add(f"{dist_info}/WHEEL", WHEEL.format(tag=options.tag, pure=pure).encode())
    if options.entry_point:
        wheel.add(f"{dist_info}/entry_points.txt", entry_points(options.entry_point).encode())
    for path in options.license:
        wheel.add(f"{dist_info}/licenses/{os.path.normpath(path)}", read(path))  # PEP 639
    if options.sbom:  # PEP 770
        wheel.add(f"{dist_info}/sboms/{os.path.basename(options.sbom)}", read(options.sbom))
    wheel.close()


if __name__ == "__main__":
    main()
