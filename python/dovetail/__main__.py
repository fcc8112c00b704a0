"""`python -m dovetail` describes this installation and the libraries it can exchange tensors with.

It prints the version, the build, the backends with their devices (or why they have none), and the
libraries that convert() knows, with their versions and the protocols of their tensors. It imports
each of those libraries in a process of its own.

With options it prints what a build of an extension module needs, and imports no other library:

    cc -shared -fPIC $(python -m dovetail --includes) kernels.c -o kernels.so
    cmake -Ddovetail_DIR="$(python -m dovetail --cmakedir)" -B build
    PKG_CONFIG_PATH="$(python -m dovetail --pkgconfigdir)" pkg-config --cflags dovetail

With the name of a tool it runs that, as `python -m dovetail.TOOL` does:

    python -m dovetail bench          this machine beside the published figures
    python -m dovetail doctor         what is wrong with this installation, and how to mend it
    python -m dovetail conformance    the kit dlpack_conformance, if it is installed
"""

import argparse
import os
import platform
import runpy
import shlex
import sys
import sysconfig

import dovetail
from dovetail import _core
from dovetail.doctor import peers

_TOOLS = ("bench", "conformance", "doctor")


def main():
    if sys.argv[1:2] and sys.argv[1] in _TOOLS:
        module = f"dovetail.{sys.argv.pop(1)}"
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    parser = argparse.ArgumentParser(
        prog="python -m dovetail",
        description="Describe this installation, or print what a build of an extension needs.",
        epilog=f"Tools, as in `python -m dovetail TOOL --help`: {', '.join(_TOOLS)}.",
    )
    for option, (function, text) in _OPTIONS.items():
        parser.add_argument(
            option, action="append_const", const=function, dest="functions", help=text
        )
    functions = parser.parse_args().functions
    for function in functions or [_describe]:
        function()


def _print_includes():
    directories = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
    directories.append(dovetail.get_include())
    print(shlex.join(f"-I{directory}" for directory in dict.fromkeys(directories)))


def _print_cmake_directory():
    print(os.path.join(os.path.dirname(dovetail.__file__), "share", "cmake", "dovetail"))


def _print_pkgconfig_directory():
    print(os.path.join(os.path.dirname(dovetail.__file__), "share", "pkgconfig"))


# Maps an option to its function and its help.
_OPTIONS = {
    "--includes": (_print_includes, "compiler flags for the headers of Python and Dovetail"),
    "--cmakedir": (_print_cmake_directory, "the directory of dovetailConfig.cmake"),
    "--pkgconfigdir": (_print_pkgconfig_directory, "the directory of dovetail.pc"),
}


def _describe():
    print(f"dovetail {dovetail.__version__}")
    print(f"  DLPack      {'.'.join(map(str, dovetail.dlpack_version))}")
    print(f"  Python      {platform.python_implementation()} {platform.python_version()}")
    print(f"  platform    {platform.platform()}")
    print(f"  extension   {_core.__file__}")
    print("backends")
    backends = dovetail.backends()
    files = _core._library_files()
    for name, devices in backends.items():
        print(f"  {name:<11} {_devices_text(devices, files[name])}")
    print("libraries")
    names = [name for name in _core._convert_targets.split(", ") if name != "dovetail.Tensor"]
    answers = peers.probe([name.rpartition(".")[0] for name in names])
    width = max(map(len, names))
    for name in names:
        print(f"  {name:<{width}} {_library_text(answers.get(name.rpartition('.')[0]))}")


def _devices_text(devices, files):
    if isinstance(devices, str):
        return f"0 devices: {devices}"
    text = f"{devices} device" + ("" if devices == 1 else "s")
    if files:
        text += f", {files[0]}"
    if files[1:]:
        text += f" (and not {', '.join(files[1:])}, which is loaded too)"
    return text


def _library_text(answer):
    if answer is None:
        return "not installed"
    values = answer.values
    if values is None:
        return f"can't be imported: {answer.problem}"
    version = values["version"] or "unknown version"
    if values["needs"]:
        return f"{version}: not tried, for lack of a {values['needs']} device"
    if values["untried"]:
        return f"{version}: takes no tensor: {values['untried']}"
    return f"{version}: {', '.join(values['protocols']) or 'no known protocol'}"


if __name__ == "__main__":
    main()
