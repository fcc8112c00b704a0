"""Runs the Python on the pages of the site, and finds their C++ in programs that are compiled.

The blocks of a page run in order, in one namespace. A block with prompts (>>>) shows what it
prints. Each part of C++, between empty lines, is in one program. A comment of HTML above a block
says that it is another case:

    <!-- not run: needs a GPU -->      the reason
    <!-- ends the process -->          it runs in a process of its own, which a signal ends
"""

import doctest
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path.cwd()
PAGES = [ROOT / "README.md", ROOT / "docs/site/index.md"]
PAGES += sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs/guide").glob("*.md"))
PROGRAMS = sorted((ROOT / "examples").rglob("*.cc"))
BLOCK = re.compile(
    r"^(?:<!-- ([^\n]*) -->\n+)?```(python|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)

# Other tests run the code of these pages, or it is no program: Starlark, fragments, two processes
# side by side.
ELSEWHERE = {
    "adding-a-backend.md",
    "adding-a-library.md",
    "bazel.md",
    "benchmarks.md",
    "devices.md",
    "distributed.md",
    "ipc.md",
}
# What a page takes for granted.
GIVEN = {
    "index.md": """
import numpy, torch
array = numpy.zeros((2, 3), numpy.float32)
""",
    "README.md": """
import pandas, pyarrow
column = pyarrow.array([1.0, 2.0])
dataframe = pandas.DataFrame({"a": [1.0]})
""",
}


def blocks(page: pathlib.Path, language: str) -> list[tuple[str, str, int]]:
    """The comment above, the text and the line of each block."""
    text = page.read_text()
    return [
        (match[1] or "", match[3], text.count("\n", 0, match.start(3)))
        for match in BLOCK.finditer(text)
        if match[2] == language
    ]


def pages_with(language: str) -> list[pathlib.Path]:
    return [page for page in PAGES if page.name not in ELSEWHERE and blocks(page, language)]


def run_with_prompts(code: str, names: dict, page: str, line: int) -> None:
    test = doctest.DocTestParser().get_doctest(code, names, page, page, line)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append, clear_globs=False)
    assert not runner.failures, "".join(report)
    names.update(test.globs)


def run_to_its_end(code: str, page: str) -> None:
    lines = [line[4:] for line in code.splitlines() if line.startswith((">>> ", "... "))]
    program = subprocess.run(
        [sys.executable, "-qi"],
        input="\n".join(lines) + "\n",
        env={"PYTHONPATH": ":".join(filter(None, sys.path))},
        capture_output=True,
        text=True,
    )
    assert program.returncode < 0, f"{page}: no signal ended it:\n{program.stdout}{program.stderr}"


@pytest.mark.parametrize("page", pages_with("python"), ids=lambda page: page.stem)
def test_the_python_on_a_page_does_what_the_page_says(page):
    names: dict = {"__name__": "__main__"}
    exec(GIVEN.get(page.name, ""), names)
    for comment, code, line in blocks(page, "python"):
        if comment.startswith("not run: "):
            continue
        if comment == "ends the process":
            run_to_its_end(code, page.name)
        elif ">>> " in code:
            run_with_prompts(code, names, page.name, line)
        else:
            exec(compile("\n" * line + code, page.name, "exec"), names)


@pytest.mark.parametrize("page", pages_with("cpp"), ids=lambda page: page.stem)
def test_the_cpp_on_a_page_is_part_of_a_program_that_is_compiled(page):
    programs = ["\n".join(line.strip() for line in p.read_text().splitlines()) for p in PROGRAMS]
    for comment, code, line in blocks(page, "cpp"):
        if comment.startswith("not run: "):
            continue
        lines = "\n".join(line.strip() for line in code.strip().splitlines())
        for part in lines.split("\n\n"):
            assert any(part in program for program in programs), (
                f"{page.name}:{line}: no program has\n{part}"
            )


def test_a_comment_above_a_block_is_one_that_the_test_knows():
    for page in PAGES:
        for comment, _, line in blocks(page, "python") + blocks(page, "cpp"):
            assert re.fullmatch(r"|not run: .+|ends the process", comment), (
                f"{page.name}:{line}: {comment}"
            )
