"""This repository's rules for files: at most 400 lines, an opening comment, an include guard, the
name of the distribution, includes that go down, a kit that stands apart, small folders."""

import pathlib
import re
from collections.abc import Iterator

from distribution import check_distribution
from floors import check_floors
from folders import check_folders
from kit import check_kit

LONGEST = 400
# Generated files, and files that may be long.
UNBOUNDED = re.compile(r"\.lock$|\.md$|\.svg$|(^|/)LICENSE$|(^|/)_core\.pyi$")
COMMENT = {
    ".h": ("//", "/*"),
    ".inc": "//",
    ".cu": "//",
    ".hip": "//",
    ".py": ('"""', "#!", "#", 'r"""'),
    ".pyi": ('"""', "#"),
    ".bzl": ('"""', "#"),
    ".sh": "#!",
}
# Files that need no opening comment. A .cc file needs none either: its header has it.
OWN_FORM = re.compile(r"(^|/)__init__\.py$")


def check_length(name: str, lines: list[str]) -> Iterator[str]:
    if len(lines) > LONGEST and not UNBOUNDED.search(name):
        yield f"{name}: {len(lines)} lines, more than {LONGEST}: split it by subject"


def check_opening(name: str, lines: list[str]) -> Iterator[str]:
    opening = COMMENT.get(pathlib.PurePath(name).suffix)
    if opening and not OWN_FORM.search(name) and not (lines and lines[0].startswith(opening)):
        yield f"{name}:1: the file must open with a comment that states its purpose"


def guard_of(name: str) -> str:
    """The path of the header, as it is included: those of the kit are dlpack_conformance/…."""
    if name.startswith("conformance/"):
        return "DLPACK_" + re.sub(r"[^A-Za-z0-9]", "_", name.replace("/cpp/", "/")).upper() + "_"
    return "DOVETAIL_" + re.sub(r"[^A-Za-z0-9]", "_", name).upper() + "_"


def check_guard(name: str, lines: list[str]) -> Iterator[str]:
    if not name.endswith(".h"):
        return
    guard = guard_of(name)
    if f"#ifndef {guard}" not in lines or f"#define {guard}" not in lines:
        yield f"{name}: the include guard must be {guard}"
    if any(line.startswith("#pragma once") for line in lines):
        yield f"{name}: #pragma once: use an include guard, because headers have two paths here"


def check_ends(name: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and not name.endswith(".md"):
            yield f"{name}:{number}: trailing white space"


CHECKS = [
    check_length,
    check_opening,
    check_guard,
    check_ends,
    check_distribution,
    check_floors,
    check_kit,
]


def check(workspace: pathlib.Path, names: list[str]) -> list[str]:
    """The problems of these files, one line each."""
    problems = [*check_folders(names)]
    for name in names:
        if "/corpus/" in name:  # inputs of fuzzers, which are bytes
            continue
        try:
            text = (workspace / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = text.split("\n")
        if lines[-1:] == [""]:
            lines.pop()
        elif text:
            problems.append(f"{name}: no newline at the end of the file")
        for rule in CHECKS:
            problems += rule(name, lines)
    return problems
