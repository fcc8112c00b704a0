"""Every file that repeats the version agrees with bazel/version.bzl, which defines it."""

import pathlib
import re

import pytest


def find(pattern: str, path: str) -> str:
    match = re.search(pattern, pathlib.Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    assert match, f"{path} names no version"
    return match[1]


def decided_version() -> str:
    return find(r'^VERSION = "([\d.]+)"$', "bazel/version.bzl")


def test_version_has_three_numbers():
    assert re.fullmatch(r"\d+\.\d+\.\d+", decided_version())


def test_module_file_agrees():
    assert find(r'^    version = "([\d.]+)",$', "MODULE.bazel") == decided_version()


def test_conda_recipe_agrees():
    assert find(r"^  version: ([\d.]+)$", "tools/conda/recipe.yaml") == decided_version()


@pytest.mark.skipif(not pathlib.Path("CHANGELOG.md").exists(), reason="no change log in this tree")
def test_newest_release_in_the_change_log_agrees():
    assert find(r"^## \[?v?(\d+\.\d+\.\d+)", "CHANGELOG.md") == decided_version()
