"""distribution.py: what it finds, and that no page, example or error has it."""

import pathlib

import pytest
from distribution import check_distribution

import dovetail

WRONG = [
    "pip install dovetail",
    "`pip install dovetail nanobind scikit-build-core`, then three files",
    "python -m pip install --upgrade 'dovetail>=0.1'",
    '"no C API: pip install --upgrade dovetail");',
    "uv add dovetail",
    "conda install -c conda-forge dovetail",
    "pip install dovetail…whl your-library",
    "pip install dovetail-0.1.0.tar.gz",
    "pip install dovetail-dlpack",
    "pip install --upgrade dovetail-dlpack",
    'requires = ["scikit-build-core>=0.10", "dovetail"]',
    'dependencies = ["dovetail>=0.1"]',
    "Extras: `dovetail[numpy]`",
    "pip install bazel-bin/python/dovetail-*.whl",
    'root / "dovetail-0.1.0.dist-info"',
    'importlib.metadata.version("dovetail")',
]
RIGHT = [
    "pip install dovetail_dlpack-*.whl nanobind",
    "pip install --index-url https://pypi.example.com/simple dovetail-dlpack",
    "pip install .  # takes dovetail from where it is",
    "pip install ./dovetail",
    "python -m pip uninstall dovetail",
    'requires = ["scikit-build-core>=0.10", "dovetail-dlpack"]',
    'bazel_dep(name = "dovetail")',
    "python -m dovetail doctor",
    "pip calls it dovetail-dlpack, and Python imports dovetail",
]


@pytest.mark.parametrize("line", WRONG)
def test_the_name_of_the_other_project_is_found(line):
    assert len(list(check_distribution("a page", [line]))) == 1


@pytest.mark.parametrize("line", RIGHT)
def test_the_right_name_passes(line):
    assert list(check_distribution("a page", [line])) == []


@pytest.mark.parametrize("line", ["dovetail", "dovetail[numpy]==0.1", '    "dovetail",'])
def test_a_requirement_on_a_line_of_its_own_is_found(line):
    ours = line.replace("dovetail", "dovetail-dlpack")
    assert list(check_distribution("pyproject.toml", [line]))
    assert list(check_distribution("pyproject.toml", [ours])) == []


def files():
    here, package = pathlib.Path.cwd(), pathlib.Path(dovetail.__file__).parent
    yield from here.glob("*.md")
    yield from (here / "docs").rglob("*.md")
    yield from (path for path in (here / "examples").rglob("*") if path.is_file())
    yield from package.rglob("*.py")
    yield from pathlib.Path(dovetail.get_include(), "dovetail").rglob("*.h")


def test_no_page_example_or_error_names_the_other_project():
    read, wrong = set(), []
    for path in files():
        read.add(path.name)
        lines = path.read_text(encoding="utf-8").splitlines()
        wrong += check_distribution(str(path), lines)
    assert wrong == []
    assert {"start.md", "extensions.md", "pyproject.toml", "capi.h", "installation.py"} <= read
