"""Builds and installs outside of Bazel's tree, without a network, as a user of the package does.

environment = Environment(tmp_path / "an environment")   # sees the packages of the tests
environment.pip("install", WHEEL)
environment.run(environment.python, "-m", "dovetail", "--cmakedir")
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig

WHEEL = max(pathlib.Path("python").glob("dovetail_dlpack-*.whl"), default=None)  # of //python:wheel


def run(*command, cwd=None, **settings):
    """Return the output of a program that sees nothing of Bazel, and `settings` in its environment.
    Raises AssertionError, with all output, if its exit status is not 0."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment.pop("LD_PRELOAD", None)  # of a sanitizer
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment | settings,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


class Environment:
    """A virtual environment that also sees the packages of this process's environment, pip among
    them. What it installs is its own."""

    def __init__(self, folder):
        run(sys.executable, "-m", "venv", "--without-pip", folder)
        self.folder = folder
        self.python = folder / "bin" / "python"
        paths = {"base": str(folder), "platbase": str(folder)}
        self.site_packages = pathlib.Path(sysconfig.get_path("purelib", "venv", paths))
        packages = sysconfig.get_path("purelib")
        (self.site_packages / "packages_of_the_tests.pth").write_text(packages + "\n")

    def pip(self, command, *arguments, **settings):
        options = ["--isolated", "--disable-pip-version-check", "--no-cache-dir", "--no-input"]
        if command == "install":
            arguments = ["--no-index", "--no-deps", "--no-build-isolation", *arguments]
        settings["PIP_CONFIG_FILE"] = os.devnull
        run(self.python, "-m", "pip", *options, command, *arguments, **settings)


def compile_c(source, target, *flags, include):
    """Compile an extension module in plain C, with all warnings as errors."""
    compiler = os.environ.get("CC", "cc")
    directories = ["-isystem", sysconfig.get_path("include"), "-I", include]
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror"]
    run(compiler, *strict, "-shared", "-fPIC", *directories, *flags, source, "-o", target)


def import_file(path):
    """Import an extension module by its file, such as folder/name.so."""
    spec = importlib.util.spec_from_file_location(path.name.partition(".")[0], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
