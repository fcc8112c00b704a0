"""The example on docs/conformance.md is array_test.cc, and its build by CMake has all sources."""

import pathlib
import re

ROOT = pathlib.Path.cwd()


def test_the_page_shows_the_test():
    page = (ROOT / "docs/conformance.md").read_text()
    test = (ROOT / "examples/dlpack_conformance/array_test.cc").read_text()
    assert f"```cpp\n{test}```\n" in page


def test_cmake_compiles_what_bazel_compiles():
    project = (ROOT / "testing/CMakeLists.txt").read_text()
    compiled = re.findall(r"dlpack/\w+\.cc", project)
    sources = sorted(f"dlpack/{file.name}" for file in ROOT.glob("testing/dlpack/*.cc"))
    assert sources
    assert compiled == sources
