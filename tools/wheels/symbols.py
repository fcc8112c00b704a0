"""What an extension module takes from other shared objects and gives to them, by readelf.

    problems(read("_core.so"), glibc=(2, 28))      # [] or what is wrong, one line each

A module may export its entry point, and may take the functions of Python and versioned symbols of
the C library. Weak symbols may be missing. Works for every processor.
"""

import dataclasses
import re
import subprocess

# Libraries that every Linux machine with glibc has, as the manylinux policies name them.
LIBRARIES = re.compile(r"(lib(c|dl|gcc_s|m|pthread|rt)|ld-linux-[\w-]+)\.so\.\d")


@dataclasses.dataclass
class Module:
    exports: set[str]
    imports: dict[str, str]  # symbol → version such as "GLIBC_2.17", or ""; without weak ones
    needed: list[str]  # shared objects
    run_paths: list[str]


def readelf(option, path):
    command = ["readelf", "--wide", option, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read(path):
    exports, imports = set(), {}
    for line in readelf("--dyn-syms", path).splitlines():
        columns = line.split()
        if len(columns) < 8 or not columns[0].rstrip(":").isdigit():
            continue
        binding, index, (name, _, version) = columns[4], columns[6], columns[7].partition("@")
        if index == "UND" and binding == "GLOBAL":
            imports[name] = version.lstrip("@")
        elif index != "UND" and binding != "LOCAL":
            exports.add(name)
    dynamic = readelf("--dynamic", path)
    return Module(
        exports,
        imports,
        needed=re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic),
        run_paths=re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.+)\]", dynamic),
    )


def glibc_of(version):
    """(2, 28) of "GLIBC_2.28"; (0, 0) of other libraries' versions."""
    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def newest_glibc(module):
    """The oldest glibc that has all symbols, such as (2, 28)."""
    return max(map(glibc_of, module.imports.values()), default=(0, 0))


def problems(module, glibc=None, libraries=LIBRARIES):
    """What other machines or other modules would stumble over.

    glibc      the oldest one that must do; None: any
    libraries  matches the names of the shared objects that it may need
    """
    found = [f"exports {name}" for name in sorted(module.exports) if not name.startswith("PyInit_")]
    if not module.exports:
        found.append("exports no entry point")
    for name, version in sorted(module.imports.items()):
        if not version and not re.match("_?Py", name):
            found.append(f"takes {name}, which no known library has")
    if glibc and newest_glibc(module) > glibc:
        found.append("needs glibc {}.{}".format(*newest_glibc(module)))
    found += [f"needs {name}" for name in module.needed if not libraries.fullmatch(name)]
    found += [f"looks for libraries in {path}" for path in module.run_paths]
    return found
