#!/usr/bin/env python3
"""Writes a software bill of materials (CycloneDX 1.6) of the libraries that a program contains.

    make_sbom.py --name=dovetail-dlpack --version=0.1.0 --output=dovetail-dlpack.cdx.json \\
        dlpack/dlpack.h …

The build calls it (bazel/sbom.bzl). Each file is the header of a library that defines its version,
so that the list names the versions that were compiled. The same input gives the same bytes. It
needs only Python.
"""

import argparse
import json
import re
from typing import NamedTuple


class Library(NamedTuple):
    header: str  # the end of the path of the header that has the version
    macros: list[str]  # of the version's parts, or one with two digits for each (220108: 22.1.8)
    license: str  # its SPDX identifier, or an expression of several
    purl: str
    part: str = ""  # subpath of the purl


LIBRARIES = [
    Library(
        "absl/base/config.h",
        ["ABSL_LTS_RELEASE_VERSION", "ABSL_LTS_RELEASE_PATCH_LEVEL"],
        "Apache-2.0",
        "pkg:github/abseil/abseil-cpp",
    ),
    Library(
        "dlpack/dlpack.h",
        ["DLPACK_MAJOR_VERSION", "DLPACK_MINOR_VERSION"],
        "Apache-2.0",
        "pkg:github/dmlc/dlpack",
    ),
    Library(
        "libcxx/include/__config",
        ["_LIBCPP_VERSION"],
        "Apache-2.0 WITH LLVM-exception",
        "pkg:github/llvm/llvm-project",
        "#libcxx",
    ),
    Library(
        "nanobind/nanobind.h",
        ["NB_VERSION_MAJOR", "NB_VERSION_MINOR", "NB_VERSION_PATCH"],
        "BSD-3-Clause",
        "pkg:pypi/nanobind",
    ),
    Library(
        "nlohmann/detail/abi_macros.hpp",
        [f"NLOHMANN_JSON_VERSION_{part}" for part in ["MAJOR", "MINOR", "PATCH"]],
        "MIT",
        "pkg:github/nlohmann/json",
    ),
    Library(
        "tsl/robin_growth_policy.h",
        [f"TSL_RH_VERSION_{part}" for part in ["MAJOR", "MINOR", "PATCH"]],
        "MIT",
        "pkg:github/Tessil/robin-map",
    ),
]


def component(path: str) -> dict:
    library = next((known for known in LIBRARIES if path.endswith(known.header)), None)
    if not library:
        raise SystemExit(f"make_sbom: {path} is the header of no library that it knows")
    with open(path, encoding="utf-8") as file:
        macros = dict(re.findall(r"^# *define (\w+) +(\d+)", file.read(), re.MULTILINE))
    missing = [name for name in library.macros if name not in macros]
    if missing:
        raise SystemExit(f"make_sbom: {path} does not define {', '.join(missing)}")
    parts = [macros[name] for name in library.macros]
    if len(parts) == 1:
        parts = [str(int(two)) for two in re.findall("..", parts[0])]
    version = ".".join(parts)
    purl = f"{library.purl}@{version}{library.part}"
    is_expression = " " in library.license
    return {
        "bom-ref": purl,
        "type": "library",
        "name": library.part.lstrip("#") or library.purl.rpartition("/")[2],
        "version": version,
        "purl": purl,
        "licenses": [
            {"expression": library.license}
            if is_expression
            else {"license": {"id": library.license}}
        ],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes a software bill of materials.")
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("headers", nargs="+")
    options = parser.parse_args()
    components = sorted(map(component, options.headers), key=lambda one: one["name"])
    product = f"pkg:pypi/{options.name}@{options.version}"
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "bom-ref": product,
                "type": "library",
                "name": options.name,
                "version": options.version,
                "purl": product,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
        "dependencies": [{"ref": product, "dependsOn": [one["bom-ref"] for one in components]}],
    }
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(bill, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
