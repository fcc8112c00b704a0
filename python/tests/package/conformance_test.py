"""`python -m dovetail conformance`: the kit where it is installed, and else where to get it."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def kit(tmp_path):
    """A folder with a package that stands in for the kit."""
    package = tmp_path / "dlpack_conformance"
    package.mkdir()
    (package / "__init__.py").write_text("__all__ = ['RULES']\nRULES = ('a rule',)\n")
    (package / "__main__.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(3)\n")
    return tmp_path


def python(*arguments, folder=""):
    path = os.pathsep.join(filter(None, [str(folder), *sys.path]))
    environment = dict(os.environ, PYTHONPATH=path)
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )


BOTH_COMMANDS = pytest.mark.parametrize(
    "command", [("-m", "dovetail", "conformance"), ("-m", "dovetail.conformance")]
)


@BOTH_COMMANDS
def test_an_installed_kit_runs_with_the_arguments(kit, command):
    result = python(*command, "numpy", "--strict", folder=kit)
    assert (result.returncode, result.stdout) == (3, "['numpy', '--strict']\n"), result.stderr


@BOTH_COMMANDS
def test_without_it_one_line_says_where_to_get_it(command):
    result = python(*command, "numpy")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "./bazelw build //conformance:wheel" in result.stderr


def test_the_module_is_the_installed_kit_or_says_where_to_get_it(kit):
    code = "import dovetail.conformance; print(dovetail.conformance.RULES)"
    assert python("-c", code, folder=kit).stdout == "('a rule',)\n"
    error = python("-c", code).stderr
    assert error.splitlines()[-1].startswith("ImportError: The DLPack conformance kit is")


def test_an_import_of_the_package_does_not_import_it(kit):
    names = "{'dovetail.conformance', 'dlpack_conformance'}"
    code = f"import sys, dovetail; print({names} & set(sys.modules))"
    assert python("-c", code, folder=kit).stdout == "set()\n"
