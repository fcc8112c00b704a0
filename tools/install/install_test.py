"""install.py: what it leaves alone, what is left if it fails, and the CMake package."""

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import cmake
import install
import pytest

TEMPLATES = ("dovetailConfig.cmake.in", "dovetailConfigVersion.cmake.in")
OPTIONS = (
    "#define ABSL_OPTION_INLINE_NAMESPACE_NAME lts_1\n#define ABSL_OPTION_USE_STD_STRING_VIEW 1\n"
)
ARCHIVE = "!<arch>\n\x7fELF" + 14 * "." + "\x3e\0"  # for x86-64
COMPONENT = {
    "always": "",
    "archive": "",
    "components": [],
    "defines": [],
    "flags": [],
    "headers": [],
}
FILES = {
    "abseil": ["base"],
    "components": [
        COMPONENT | {"name": "abseil", "archive": "libdovetail_abseil.a"},
        COMPONENT
        | {"name": "dovetail", "components": ["abseil"], "headers": ["dovetail/dovetail.h"]},
        COMPONENT | {"name": "copy", "components": ["dovetail"], "archive": "libdovetail_copy.a"},
    ],
    "headers": {"absl/base/options.h": "options.h", "dovetail/dovetail.h": "dovetail.h"},
    "version": "1.2.3",
}


@pytest.fixture
def prefix(tmp_path):
    return tmp_path / "prefix"


@pytest.fixture
def run(tmp_path, prefix, monkeypatch):
    """A function that installs a small Dovetail into the prefix, or into another one."""
    build = tmp_path / "build"
    (build / "tools/install").mkdir(parents=True)
    (build / "third_party").mkdir()
    for name in TEMPLATES:
        shutil.copy(f"tools/install/{name}", build / "tools/install")
    for name, text in {
        "LICENSE": "licence",
        "dovetail.h": "",
        "libdovetail_abseil.a": ARCHIVE,
        "libdovetail_copy.a": ARCHIVE,
        "options.h": OPTIONS,
        "third_party/NOTICE": "abseil-cpp (a)\n\ndlpack.h, a file (b)\n",
        "tools/install/files.json": json.dumps(FILES),
    }.items():
        (build / name).write_text(text)
    monkeypatch.delenv("BUILD_WORKING_DIRECTORY", raising=False)
    monkeypatch.chdir(build)

    def run(path=prefix):
        monkeypatch.setattr("sys.argv", ["install", str(path)])
        umask = os.umask(0o077)
        try:
            install.main()
        finally:
            os.umask(umask)

    return run


def refuse(run, *arguments):
    """What the installation says, in one line, when it ends with an error."""
    with pytest.raises(SystemExit) as exit_:
        run(*arguments)
    assert "\n" not in exit_.value.code
    return exit_.value.code


def listed(prefix):
    return (prefix / install.LIST).read_text().splitlines()


def files_in(prefix):
    return {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}


def test_the_list_has_all_files_and_the_next_installation_removes_what_it_has_no_more(run, prefix):
    run()
    assert {*listed(prefix)} == files_in(prefix)
    before = files_in(prefix)
    (prefix / "include/dovetail/old.h").write_text("")
    (prefix / "include/dovetail/mine.h").write_text("")
    with (prefix / install.LIST).open("a") as file:
        file.write("include/dovetail/old.h\n")
    run()
    assert {*listed(prefix)} == before
    assert files_in(prefix) == before | {"include/dovetail/mine.h"}


def test_all_users_can_read_it(run, prefix):
    run()
    for path in [prefix, *prefix.rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path


@pytest.mark.parametrize(
    "name", ["{outside}", "../outside", "include/../../outside", "./outside", "", ".", "a\0", "lib"]
)
def test_a_list_of_other_names_removes_nothing(run, prefix, tmp_path, name):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    run()
    with (prefix / install.LIST).open("a") as file:
        file.write(name.format(outside=outside) + "\n")
    before = listed(prefix)
    assert str(prefix) in refuse(run)
    assert outside.exists()
    assert listed(prefix) == before
    assert (prefix / "include/dovetail/dovetail.h").exists()


@pytest.mark.parametrize("link", ["include", "include/dovetail", "lib", "share/doc/dovetail"])
def test_a_folder_that_is_a_link_is_refused(run, prefix, tmp_path, link):
    source = tmp_path / "source"
    source.mkdir()
    (prefix / link).parent.mkdir(parents=True)
    (prefix / link).symlink_to(source)
    assert f"{prefix / link} is a symbolic link" in refuse(run)
    assert not [*source.iterdir()]
    assert not files_in(prefix)


def test_the_prefix_may_be_a_link(run, prefix, tmp_path):
    (tmp_path / "target").mkdir()
    prefix.symlink_to(tmp_path / "target")
    run()
    assert (tmp_path / "target/include/dovetail/dovetail.h").exists()


def test_a_file_that_is_a_link_is_replaced_and_its_target_left_alone(run, prefix, tmp_path):
    target = tmp_path / "mine.h"
    target.write_text("mine")
    header = prefix / "include/dovetail/dovetail.h"
    header.parent.mkdir(parents=True)
    header.symlink_to(target)
    run()
    assert target.read_text() == "mine"
    assert not header.is_symlink()


def test_a_missing_input_changes_nothing(run, prefix):
    run()
    before = files_in(prefix)
    Path("libdovetail_copy.a").unlink()
    with pytest.raises(FileNotFoundError):
        run()
    assert files_in(prefix) == before


@pytest.mark.parametrize("written", range(6))
def test_a_full_disk_leaves_a_list_of_all_files(run, prefix, monkeypatch, written):
    run()
    (prefix / "lib/old.a").write_text("")
    with (prefix / install.LIST).open("a") as file:
        file.write("lib/old.a\n")
    before = files_in(prefix)
    left = iter(range(written))

    def replace(source, target, replace=os.replace):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", replace)
        assert refuse(run) == f"install: {prefix}: No space left on device"
    assert files_in(prefix) == before == {*listed(prefix)}
    run()
    assert {*listed(prefix)} == files_in(prefix) == before - {"lib/old.a"}


def test_prefixes_that_are_no_directories_are_refused(run, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert refuse(run, "").startswith("usage:")
    assert not Path("include").exists()
    assert refuse(run, file) == f"install: {file} is no directory"
    assert refuse(run, file / "below").endswith(": Not a directory")
    assert refuse(run, "/proc/dovetail").startswith("install: /proc/dovetail")


# CMake

PROJECT = """
cmake_minimum_required(VERSION 3.15...3.31)
project(user LANGUAGES NONE)
{before}
find_package(dovetail CONFIG {arguments})
message(STATUS "found=${{dovetail_FOUND}} minimum=${{CMAKE_MINIMUM_REQUIRED_VERSION}}|")
foreach(target abseil dovetail copy)
  if(TARGET dovetail::${{target}})
    get_target_property(languages dovetail::${{target}} IMPORTED_LINK_INTERFACE_LANGUAGES)
    message(STATUS "target ${{target}} ${{languages}}|")
  endif()
endforeach()
"""


@pytest.fixture
def configure(run, prefix, tmp_path):
    """A function that configures a project that finds the package; returns what CMake says."""
    run()
    (tmp_path / "project").mkdir()

    def configure(*definitions, arguments="", before=""):
        text = PROJECT.format(arguments=arguments, before=before)
        (tmp_path / "project/CMakeLists.txt").write_text(text)
        program = [f"{cmake.CMAKE_BIN_DIR}/cmake", "-S", "project", "-B", "out"]
        program += [f"-DCMAKE_PREFIX_PATH={prefix}", *definitions]
        done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False)
        # (CMake breaks the lines of its messages.)
        return " ".join(f"{done.stdout} {done.stderr}".split())

    return configure


def abseil_in(folder, options=OPTIONS, package=True):
    """An abseil with headers and, if wanted, a CMake package. Returns its folder."""
    (folder / "absl/base").mkdir(parents=True)
    (folder / "absl/base/options.h").write_text(options)
    if package:
        (folder / "abslConfig.cmake").write_text(
            "add_library(absl::config INTERFACE IMPORTED)\n"
            "add_library(absl::base INTERFACE IMPORTED)\n"
            "set_target_properties(absl::config PROPERTIES\n"
            f'  INTERFACE_INCLUDE_DIRECTORIES "{folder}")\n'
        )
    return folder


def test_cmake_finds_components(configure):
    said = configure(arguments="REQUIRED COMPONENTS copy")
    assert "found=1" in said
    assert "target abseil CXX|" in said
    assert "target copy CXX|" in said


def test_the_projects_own_minimum_of_cmake_stays(configure):
    said = configure(before='set(CMAKE_MINIMUM_REQUIRED_VERSION "3.20")')
    assert "found=1 minimum=3.20|" in said


def test_a_component_that_is_missing_leaves_no_target(configure):
    said = configure(arguments="COMPONENTS copy nothing")
    assert "Dovetail has no component nothing here" in said
    assert "found=0" in said
    assert "target copy" not in said
    assert "found=1" in configure(arguments="COMPONENTS copy OPTIONAL_COMPONENTS nothing")


@pytest.mark.parametrize("processor", ["x86_64", "AMD64", "x64", ""])
def test_the_processor_has_several_names(configure, processor):
    assert "found=1" in configure(before=f'set(CMAKE_SYSTEM_PROCESSOR "{processor}")')


def test_another_processor_is_refused(configure):
    said = configure(before="set(CMAKE_SYSTEM_PROCESSOR aarch64)")
    assert "compiled for x86_64, and CMAKE_SYSTEM_PROCESSOR is aarch64" in said
    assert "found=0" in said
    assert "target copy" not in said


def test_each_configuration_compares_the_abseil_that_it_finds(configure, tmp_path):
    same = abseil_in(tmp_path / "same")
    other = abseil_in(tmp_path / "other", OPTIONS.replace("lts_1", "lts_2"))
    assert "found=1" in configure("-DDOVETAIL_FIND_ABSEIL=ON", f"-Dabsl_DIR={same}")
    said = configure("-DDOVETAIL_FIND_ABSEIL=ON", f"-Dabsl_DIR={other}")
    assert f"compiled with abseil lts_1 as C++20, and the abseil of this project ({other}/" in said
    assert "found=0" in said
    assert "target copy" not in said


@pytest.mark.parametrize(("namespace", "found"), [("lts_1", 1), ("lts_12", 0)])
def test_abseil_may_be_a_part_of_the_project(configure, tmp_path, namespace, found):
    options = OPTIONS.replace("lts_1", namespace)
    folder = abseil_in(tmp_path / "abseil", options, package=False)
    (folder / "CMakeLists.txt").write_text(
        "add_library(absl_base INTERFACE)\n"
        "add_library(absl_config INTERFACE)\n"
        "add_library(absl::base ALIAS absl_base)\n"
        "add_library(absl::config ALIAS absl_config)\n"
        "target_include_directories(absl_config INTERFACE\n"
        f'  "$<BUILD_INTERFACE:{folder}>" $<INSTALL_INTERFACE:include>)\n'
    )
    before = f"add_subdirectory({folder} abseil)"
    assert f"found={found}" in configure("-DDOVETAIL_FIND_ABSEIL=ON", before=before)
