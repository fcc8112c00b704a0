#!/usr/bin/env python3
"""Writes the table of private reads into docs/architecture.md.

    ./bazelw run //docs/site:private_reads

The rows are those of python/exchange/peers/private_reads.inc, as the built extension has them.
"""

import os
import pathlib

from dovetail import _core

PAGE = "docs/architecture.md"
HEADING = "## Private reads\n"


def cell(text):
    """`text` in a Markdown table, where two underscores would be bold type."""
    return text.replace("|", "\\|").replace("__", r"\_\_")


def section():
    """The section of the page, without its heading."""
    lines = [
        "",
        "What Dovetail reads of other libraries that they do not publish; the table is complete.",
        "`./bazelw run //docs/site:private_reads` writes it here, from",
        "`python/exchange/peers/private_reads.inc`. `python/tests/exchange/private_reads_test.py`",
        "names the row that a new version breaks. Of PyTorch each row is checked when it is first",
        "needed, and the published way is taken where it does not hold.",
        "",
        "| library | what | where | the published way |",
        "|---|---|---|---|",
    ]
    for library, what, where, published, _ in _core._private_reads():
        lines.append(f"| {library} | {cell(what)} | `{where}` | {cell(published)} |")
    return "\n".join(lines) + "\n\n"


def with_section(page):
    """`page` with the table as it should be."""
    before, _, rest = page.partition(HEADING)
    _, next_heading, after = rest.partition("\n## ")
    return before + HEADING + section() + next_heading[1:] + after


if __name__ == "__main__":
    page = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], PAGE)
    page.write_text(with_section(page.read_text()))
