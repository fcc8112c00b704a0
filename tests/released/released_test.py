"""A public name of the last release is there, or was deprecated for a minor version.

`- Deprecated: ...` in CHANGELOG.md names it in backquotes, as names.txt does.
"""

import pathlib
import re

import public_names
import pytest
import source_version

CHANGELOG = """# Changelog

## 0.3.0 (unreleased)

- Deprecated: `dovetail.late`.

## 0.2.0

- Deprecated: `dovetail.old`, and
  `dovetail/old.h`.
- New: `dovetail.kept`.
"""


def minor(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def deprecated(changelog: str, version: str) -> set[str]:
    """The names that the sections before this minor version deprecate."""
    names = set()
    for section in re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]:
        if minor(re.match(r"[\d.]+", section)[0]) < minor(version):
            for item in re.findall(r"^- Deprecated: (.*(?:\n  .*)*)", section, re.MULTILINE):
                names |= set(re.findall(r"`([^`]+)`", item))
    return names


@pytest.fixture(scope="module")
def released() -> list[str]:
    return pathlib.Path("tests/released/names.txt").read_text(encoding="utf-8").splitlines()


def test_no_released_name_is_gone_that_was_not_deprecated_for_a_minor_version(released):
    changelog = pathlib.Path("CHANGELOG.md").read_text(encoding="utf-8")
    gone = set(released[1:]) - public_names.python_names() - public_names.headers()
    unannounced = sorted(gone - deprecated(changelog, source_version.read()))
    assert not unannounced, (
        "the last release had these names. Keep them, with `- Deprecated:` in CHANGELOG.md, until "
        "the next minor version. Of a version that is not released yet, run "
        "./bazelw run //tests/released:renew"
    )


def test_the_list_is_of_this_version_or_an_earlier_one(released):
    recorded = re.match(r"# The public names of (\d+\.\d+\.\d+)\.", released[0])[1]
    assert minor(recorded) <= minor(source_version.read())
    assert released[1:] == sorted(released[1:])


def test_the_names_are_those_of_modules_classes_and_pages(released):
    assert {
        "dovetail.from_dlpack",
        "dovetail.Tensor.copy",
        "dovetail.ipc.Pool.empty",
        "dovetail.mpi.message",
        "dovetail/dovetail.h",
        "dovetail/interop/eigen/import.h",
    } <= set(released)
    assert not [name for name in released[1:] if "._" in name or "/internal/" in name]


def test_each_header_that_a_page_names_is_there():
    assert public_names.headers_on_pages() <= public_names.headers()


def test_a_name_counts_as_deprecated_from_the_next_minor_version_on():
    assert deprecated(CHANGELOG, "0.2.1") == set()
    assert deprecated(CHANGELOG, "0.3.0") == {"dovetail.old", "dovetail/old.h"}
    assert deprecated(CHANGELOG, "0.4.0") == {"dovetail.old", "dovetail/old.h", "dovetail.late"}
