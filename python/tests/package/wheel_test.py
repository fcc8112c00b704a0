"""The wheel: pip installs and uninstalls it, and builds without Bazel find its headers."""

import base64
import hashlib
import json
import re
import shutil
import zipfile
from importlib.metadata import Distribution, version

import cmake
import pytest
from installation import WHEEL, Environment, run

VERSION = WHEEL.name.split("-")[1]
MAJOR, MINOR, PATCH = (int(part) for part in VERSION.split("."))

PROGRAM = """
#include "dovetail/python/capi.h"
int main(void) { return sizeof(DovetailBorrowed) == 0; }
"""

# Finds the package as a project's CMakeLists.txt may do.
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.15...3.31)
project(user LANGUAGES NONE)
execute_process(
  COMMAND "${PYTHON}" -m dovetail --cmakedir
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE dovetail_DIR COMMAND_ERROR_IS_FATAL ANY)
find_package(dovetail ${WANTED} CONFIG)
find_package(dovetail ${WANTED} CONFIG)
if(dovetail_FOUND)
  get_target_property(include dovetail::python INTERFACE_INCLUDE_DIRECTORIES)
  message(STATUS "found ${dovetail_VERSION} in ${include}|")
endif()
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    environment = Environment(tmp_path_factory.mktemp("folder") / "with spaces")
    environment.pip("install", WHEEL)
    return environment


def include(environment):
    return environment.site_packages / "dovetail" / "include"


def describe(environment, option):
    return run(environment.python, "-m", "dovetail", option).removesuffix("\n")


def test_pip_installs_it_twice_and_uninstalls_all_of_it(tmp_path):
    environment = Environment(tmp_path / "with spaces")
    before = {*environment.site_packages.iterdir()}
    environment.pip("install", WHEEL)
    environment.pip("install", "--force-reinstall", WHEEL)
    made = {path.name for path in {*environment.site_packages.iterdir()} - before}
    assert made == {"dovetail", f"dovetail_dlpack-{VERSION}.dist-info"}
    environment.pip("uninstall", "--yes", "dovetail-dlpack")
    assert {*environment.site_packages.iterdir()} == before


def test_its_record_has_the_hash_and_the_size_of_every_file():
    with zipfile.ZipFile(WHEEL) as wheel:
        record = f"dovetail_dlpack-{VERSION}.dist-info/RECORD"
        rows = [line.split(",") for line in wheel.read(record).decode().splitlines()]
        assert [row[0] for row in rows] == wheel.namelist()
        for name, digest, size in rows:
            if name != record:
                data = wheel.read(name)
                of_data = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
                assert (digest, size) == (f"sha256={of_data.rstrip('=')}", str(len(data)))


def read_information(name):
    with zipfile.ZipFile(WHEEL) as wheel:
        return wheel.read(f"dovetail_dlpack-{VERSION}.dist-info/{name}").decode()


def test_it_has_a_notice_for_each_project_that_it_contains_and_the_licences():
    assert "Apache License" in read_information("licenses/LICENSE")
    notice = read_information("licenses/third_party/NOTICE")
    for part in json.loads(read_information("sboms/dovetail-dlpack.cdx.json"))["components"]:
        # The bill names packages, a notice has where they come from.
        assert f"/{part['name']})" in notice
    assert "THE COPYRIGHT HOLDERS AND CONTRIBUTORS" in notice and "Permission is hereby" in notice


def test_it_has_a_bill_of_materials_with_the_versions_that_were_compiled():
    bill = json.loads(read_information("sboms/dovetail-dlpack.cdx.json"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/dovetail-dlpack@{VERSION}"
    parts = {one["name"]: one for one in bill["components"]}
    assert {*parts} == {"abseil-cpp", "dlpack", "json", "nanobind", "robin-map"}
    assert parts["nanobind"]["version"] == version("nanobind")
    assert parts["nanobind"]["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    assert bill["dependencies"][0]["dependsOn"] == [one["bom-ref"] for one in bill["components"]]


def test_it_says_where_its_headers_are(environment):
    printed = run(environment.python, "-c", "import dovetail; print(dovetail.get_include())")
    assert printed == f"{include(environment)}\n"
    assert (include(environment) / "dovetail/python/capi.h").is_file()
    assert (include(environment) / "dlpack/dlpack.h").is_file()


def test_a_compiler_takes_its_flags_from_a_shell(environment, tmp_path):
    (tmp_path / "program.c").write_text(PROGRAM)
    flags = describe(environment, "--includes")
    run("sh", "-c", f"cc -std=c11 -Werror {flags} -fsyntax-only program.c", cwd=tmp_path)


def test_options_print_a_line_each_and_nothing_else(environment):
    options = ["--cmakedir", "--includes", "--pkgconfigdir"]
    lines = run(environment.python, "-m", "dovetail", *options).splitlines()
    assert lines == [describe(environment, option) for option in options]


# A version that is asked for, and whether the package serves.
VERSIONS = {
    "": True,
    f"{MAJOR}.{MINOR}": True,
    f"{VERSION};EXACT": True,
    f"{MAJOR}.{MINOR}.{PATCH + 1};EXACT": False,
    f"{MAJOR + 1}": False,
    f"{MAJOR}.{MINOR}...{MAJOR}.{MINOR + 1}": True,
    f"0.0...<{VERSION}": False,
    f"0.0...<{MAJOR}.{MINOR}.{PATCH + 1}": True,
    f"0.0...{VERSION}": True,
    "0.0...0.0.1": False,
}


@pytest.mark.parametrize("wanted", VERSIONS)
def test_cmake_finds_it_if_its_version_serves(environment, tmp_path, wanted):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_LISTS)
    program = f"{cmake.CMAKE_BIN_DIR}/cmake"
    definitions = [f"-DPYTHON={environment.python}", f"-DWANTED={wanted}"]
    output = run(program, "-S", tmp_path, "-B", tmp_path / "build", *definitions)
    found = re.search(r"found (\S+) in (.+)\|", output)
    assert bool(found) == VERSIONS[wanted], output
    if found:
        assert found.groups() == (VERSION, str(include(environment)))


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ("python kernels", ""),
        ("python OPTIONAL_COMPONENTS copy", ""),
        (
            "python copy",
            "no component copy. For the C++ components, install Dovetail by `./bazelw run",
        ),
    ],
)
def test_cmake_is_told_where_components_in_cpp_are(environment, tmp_path, components, message):
    text = CMAKE_LISTS.replace("CONFIG)", f"CONFIG COMPONENTS {components})")
    end = 'message(STATUS "minimum ${CMAKE_MINIMUM_REQUIRED_VERSION}|")\n'
    (tmp_path / "CMakeLists.txt").write_text(text.replace("3.15...", "3.16...") + end)
    program = f"{cmake.CMAKE_BIN_DIR}/cmake"
    command = f"'{program}' -S . -B build -DPYTHON='{environment.python}' 2>&1"
    output = " ".join(run("sh", "-c", command, cwd=tmp_path).split())
    assert message in output
    assert bool(re.search(r"found (\S+) in", output)) == (not message)
    assert "minimum 3.16|" in output  # the project's own


def test_scikit_build_core_and_pkgconf_find_it_by_its_entry_points(environment):
    expected = {
        "cmake.root": "share/cmake/dovetail/dovetailConfig.cmake",
        "pkg_config": "dovetail.pc",
    }
    folders = [str(environment.site_packages)]
    (distribution,) = Distribution.discover(name="dovetail-dlpack", path=folders)
    points = {point.group: point.value for point in distribution.entry_points}
    assert points.pop("dask.sizeof") == "dovetail.dask:register_sizeof"  # which Dask calls
    assert points.keys() == expected.keys()
    for group, module in points.items():
        code = f"""if True:
            from importlib.resources import files
            print((files({module!r}) / {expected[group]!r}).is_file())
        """
        assert run(environment.python, "-c", code) == "True\n"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="pkg-config is not installed")
def test_pkg_config_finds_it(environment, tmp_path):
    def pkg_config(option):
        folder = describe(environment, "--pkgconfigdir")
        return run("pkg-config", option, "dovetail", PKG_CONFIG_PATH=folder).strip()

    assert pkg_config("--modversion") == VERSION
    assert pkg_config("--libs") == ""
    (tmp_path / "program.c").write_text('#include "dlpack/dlpack.h"\nDLTensor tensor;\n')
    run("sh", "-c", f"cc {pkg_config('--cflags')} -fsyntax-only program.c", cwd=tmp_path)
