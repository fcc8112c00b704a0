"""The code on each page of docs/interop is what its example program compiles and runs."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/interop").glob("*.md"))


def example_of(page: pathlib.Path) -> str:
    """The part of the page's program between two lines `// [page]`, without its indentation."""
    source = (ROOT / "examples/interop" / f"{page.stem}.cc").read_text()
    _, code, _ = source.split("// [page]\n")
    lines = code.rstrip().splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[indent:].rstrip() for line in lines)


def test_there_are_pages():
    assert PAGES


def test_the_first_code_on_each_page_is_its_example():
    for page in PAGES:
        shown = re.search(r"```cpp\n(.*?)\n```", page.read_text(), re.DOTALL)
        assert shown, f"{page.name} shows no C++"
        assert shown.group(1) == example_of(page), page.name
