"""Each row of docs/migrating is code that a test runs, or a pair of types that are compiled.

A row of Python is a test: its lines that end in `# before` and `# after`. A row of C++ is a pair of
aliases of one name, in the namespaces `before` and `after`.
"""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path.cwd()
HERE = ROOT / "examples/migrating"
# A page, and the file that has its rows.
PYTHON = {
    "cupy": "cupy_test.py",
    "jax": "jax_test.py",
    "numpy_from_dlpack": "numpy_test.py",
    "paddle": "paddle_test.py",
    "torch_dlpack": "torch_dlpack_test.py",
    "torch_from_numpy": "torch_from_numpy_test.py",
    "tvm_ffi": "tvm_ffi_test.py",
}
CPP = ("nanobind", "pybind11")
TABLE = re.compile(
    r"^\| before \| after \| what changes \|\n\|[-| ]+\|\n((?:\|.*\n)+)", re.MULTILINE
)
MARKED = re.compile(r"^ +(?:# )?(\S.*?)  # (before|after)$", re.MULTILINE)
ALIAS = re.compile(r"^using (\w+) = (.*?);$", re.MULTILINE | re.DOTALL)


def text_of(page):
    return (ROOT / f"docs/migrating/{page}.md").read_text()


def rows_of(text):
    """The code of the columns before and after, as tuples of lines."""
    for rows in TABLE.findall(text):
        for row in rows.splitlines():
            cells = re.split(r"(?<!\\)\|", row)[1:-1]
            assert len(cells) == 3, row
            columns = [cell.replace("\\|", "|") for cell in cells[:2]]
            yield tuple(tuple(re.findall(r"`([^`]+)`", column)) for column in columns)


def rows_of_tests(text):
    for test in re.split(r"^def (?=test_)", text, flags=re.MULTILINE)[1:]:
        lines = MARKED.findall(test)
        if lines:
            yield tuple(
                tuple(code for code, when in lines if when == column)
                for column in ("before", "after")
            )


def aliases(source, namespace):
    code = re.search(rf"^namespace {namespace} {{$(.*?)^}}  // namespace", source, re.M | re.S)[1]
    return {name: " ".join(kind.split()) for name, kind in ALIAS.findall(code)}


@pytest.mark.parametrize("page", PYTHON)
def test_each_row_of_python_is_a_test_and_each_test_with_code_a_row(page):
    rows = list(rows_of(text_of(page)))
    assert rows and rows == list(rows_of_tests((HERE / PYTHON[page]).read_text()))


@pytest.mark.parametrize("page", PYTHON)
def test_each_line_of_python_can_be_parsed(page):
    for columns in rows_of(text_of(page)):
        for line in (*columns[0], *columns[1]):
            ast.parse(line + (" pass" if line.endswith(":") else ""))


@pytest.mark.parametrize("page", CPP)
def test_each_row_of_cpp_is_a_pair_of_types_and_each_pair_a_row(page):
    source = (HERE / f"migrating_{page}.cc").read_text()
    before, after = aliases(source, "before"), aliases(source, "after")
    assert list(before) == list(after)
    rows = [((before[name],), (after[name],)) for name in before]
    assert list(rows_of(text_of(page))) == rows


@pytest.mark.parametrize("page", CPP)
def test_each_type_of_cpp_is_called(page):
    source = (HERE / f"migrating_{page}.cc").read_text()
    calls = (HERE / f"{page}_test.py").read_text()
    for name in aliases(source, "before"):
        function = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        for module in ("before", "after"):
            assert re.search(rf"\b(?:{module}|module)\.{function}\(", calls), f"{module}.{function}"


def test_each_page_is_one_of_these_and_says_in_its_first_sentence_whom_it_is_for():
    pages = {page.stem for page in (ROOT / "docs/migrating").glob("*.md")}
    assert pages == {*PYTHON, *CPP}
    for page in pages:
        first = text_of(page).split("\n\n")[1]
        assert first.startswith("For code that "), page


def test_a_table_that_drifts_from_its_tests_is_seen():
    page = "| before | after | what changes |\n|---|---|---|\n| `a(x)` | `b(x)`<br>`c(x)` | d |\n"
    test = "def test_d():\n    a(x)  # before\n    b(x)  # after\n    c(x)  # after\n"
    assert list(rows_of(page)) == list(rows_of_tests(test)) == [(("a(x)",), ("b(x)", "c(x)"))]
    assert list(rows_of(page.replace("b(x)", "b(y)"))) != list(rows_of_tests(test))
