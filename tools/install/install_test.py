"""install.py: what it leaves alone, and what is left if it fails."""

import errno
import json
import os
import shutil
from pathlib import Path

import install
import pytest

TEMPLATES = ("dovetailConfig.cmake.in", "dovetailConfigVersion.cmake.in")
OPTIONS = "#define ABSL_OPTION_INLINE_NAMESPACE_NAME lts_1\n#define ABSL_OPTION_USE_STD_STRING_VIEW 1\n"
COMPONENT = {"always": "", "archive": "", "components": [], "defines": [], "flags": [], "headers": []}
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
        "libdovetail_abseil.a": "!<arch>\n",
        "libdovetail_copy.a": "!<arch>\n",
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
