#!/usr/bin/env python3
"""Writes docs/protocol.md: each rule of docs/protocol_rules.txt with the tests that prove it.

    ./bazelw run //tools:protocol_table

A comment directly above a test names the test's rules: `// Rule 8.` or `# Rules 5, 17.`.
"""

import ast
import collections
import os
import pathlib
import re

RULES, TABLE = "docs/protocol_rules.txt", "docs/protocol.md"
FOLDERS = ("core", "devices", "interop", "python/tests", "tests/gpu")
MARKER = re.compile(r"(?://|#) Rules? (\d+(?:, \d+)*)\.")
CC_TEST = re.compile(r"(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")

INTRODUCTION = """\
# The protocols, rule by rule

Which rules Dovetail keeps, and the tests that prove each. Made from [the rules](protocol_rules.txt)
and the tests that name them by `./bazelw run //tools:protocol_table`; edit those. Each test would
fail if the rule were broken.
"""


def numbers(line: str) -> list[int]:
    """The rules that a marker line names; none for other lines."""
    match = MARKER.fullmatch(line.strip())
    return [int(number) for number in match[1].split(", ")] if match else []


def read_rules(text: str) -> list[tuple[str, dict[int, tuple[str, str]]]]:
    """The sections in order: each a title and a mapping from number to (statement, note)."""
    sections = []
    for line in text.splitlines():
        if line.startswith("["):
            sections.append((line.strip("[]"), {}))
        elif match := re.match(r"(\d+)\. (.*)", line):
            number = int(match[1])
            sections[-1][1][number] = match[2]
        elif line.startswith(" "):
            sections[-1][1][number] += " " + line.strip()
    return [
        (title, {n: split_note(rule) for n, rule in rules.items()}) for title, rules in sections
    ]


def split_note(rule: str) -> tuple[str, str]:
    statement, _, note = rule.partition(" | ")
    return statement, note


def tests_of_cc(text: str) -> dict[int, str]:
    """Maps a line (from 0) to the name of the test that begins there."""
    return {
        text.count("\n", 0, match.start()): f"{match[1]}.{match[2]}"
        for match in CC_TEST.finditer(text)
    }


def tests_of_py(text: str) -> dict[int, str]:
    return {
        min(part.lineno for part in [node, *node.decorator_list]) - 1: node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def marked_tests(path: str, text: str) -> list[tuple[int, str]]:
    """Pairs of (rule, test) in file order. A marker that is not above a test is an error."""
    tests = (tests_of_py if path.endswith(".py") else tests_of_cc)(text)
    found = []
    for line, content in enumerate(text.splitlines()):
        named = numbers(content)
        if named and line + 1 not in tests:
            raise SystemExit(f"{path}:{line + 1}: names rules, but is not directly above a test")
        if named != sorted(set(named)):
            raise SystemExit(f"{path}:{line + 1}: name each rule once, in ascending order")
        found += [(number, tests[line + 1]) for number in named]
    return found


def find_tests(root: pathlib.Path) -> dict[int, list[str]]:
    """Maps each rule to its tests, each written as `path: name`."""
    tests = collections.defaultdict(list)
    for folder in FOLDERS:
        for file in sorted(root.joinpath(folder).rglob("*_test.*")):
            if file.suffix in (".cc", ".py"):
                path = file.relative_to(root).as_posix()
                for number, test in marked_tests(path, file.read_text(encoding="utf-8")):
                    tests[number].append(f"{path}: {test}")
    return tests


def row(number: int, statement: str, note: str, tests: list[str]) -> str:
    cells = [f"`{test}`" for test in tests] + [f"({note})"] * bool(note)
    return f"| {number} | {statement} | {'<br>'.join(cells)} |"


def make_table(root: pathlib.Path) -> str:
    tests = find_tests(root)
    parts = [INTRODUCTION]
    for title, rules in read_rules((root / RULES).read_text(encoding="utf-8")):
        rows = [row(n, *rule, tests.pop(n, [])) for n, rule in rules.items()]
        parts.append("\n".join([f"## {title}\n", "| rule | | tests |", "|---|---|---|", *rows, ""]))
    if tests:
        raise SystemExit(f"tests name rules that do not exist: {dict(tests)}")
    return "\n".join(parts)


def main() -> None:
    root = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd()))
    (root / TABLE).write_text(make_table(root), encoding="utf-8")
    print(f"wrote {TABLE}")


if __name__ == "__main__":
    main()
