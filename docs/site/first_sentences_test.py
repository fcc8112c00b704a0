"""Every page of the site says in its first sentence what it is for."""

import itertools
import pathlib
import re

import pytest

ROOTS = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
FOLDERS = (pathlib.Path("docs"), pathlib.Path("conformance"))
PAGES = sorted(page for folder in FOLDERS for page in folder.rglob("*.md"))
PAGES += [pathlib.Path(name) for name in ROOTS]
# Of at least four words. It does not begin as a list, a table, a picture, code or a remark does.
# Neither does it begin with how the page was made.
SENTENCE = re.compile(r"(?![-*] |\d|[|#!(<]|```|Made by)[^\n]\S*( \S+){3,}?[.:?]\**( |$)")


def first_paragraph(page: str) -> str:
    """The lines below the title, up to the next empty line, as one."""
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.DOTALL)
    lines = itertools.dropwhile(lambda line: not line.startswith("# "), page.splitlines())
    below = itertools.dropwhile(lambda line: not line.strip(), itertools.islice(lines, 1, None))
    return " ".join(itertools.takewhile(lambda line: line.strip(), below))


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_begins_with_a_sentence(page):
    paragraph = first_paragraph(page.read_text())
    assert SENTENCE.match(paragraph), f"{page} begins with: {paragraph[:80]}"


@pytest.mark.parametrize(
    "page",
    [
        "# T\n\n## Install\n\nHow to install it in a minute.\n",
        "# T\n\n| a | b |\n|---|---|\n",
        "# T\n\n```cpp\nint x = f(1, 2, 3). \n```\n",
        "# T\n\n- One of several points of a list.\n",
        "# T\n\nMade by a program from a file.\n",
        "# T\n\n1 device(s); the driver is new.\n",
        "# T\n\nAbout tensors.\n",
    ],
)
def test_other_beginnings_are_found(page):
    assert not SENTENCE.match(first_paragraph(page))
