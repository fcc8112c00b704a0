"""The example on the page is array_test.cc, and its build by CMake has all sources."""

import pathlib
import re

KIT = pathlib.Path.cwd() / "conformance"


def test_the_page_shows_the_test():
    page = (KIT / "README.md").read_text()
    test = (KIT / "example/array_test.cc").read_text()
    assert f"```cpp\n{test}```\n" in page


def test_cmake_compiles_what_bazel_compiles():
    project = (KIT / "cpp/CMakeLists.txt").read_text()
    compiled = re.findall(r"^  (\w+\.cc)", project, re.MULTILINE)
    sources = sorted(file.name for file in (KIT / "cpp").glob("*.cc"))
    assert sources
    assert compiled == sources
