"""Compares a matrix with the page that markdown.py made of an earlier one."""

import re

from .markdown import title
from .results import NONE, WAYS

_ROW = re.compile(r"^\| ?(?P<pair>[^|]*?) ?\| (?P<cells>.+) \|$")


def read(page):
    """{(way, pair, input): status} of a page."""
    ways = {f"## {title(way)}": way for way in WAYS}
    way, inputs, found = None, [], {}
    for line in page.splitlines():
        way = ways.get(line, way)
        row = _ROW.match(line) if way else None
        cells = row["cells"].split(" | ") if row else []
        if row and not row["pair"]:
            inputs = cells
        elif row:
            found |= {
                (way, row["pair"], name): cell for name, cell in zip(inputs, cells, strict=True)
            }
    return found


def changes(matrix, page):
    """A sentence for each exchange that the page has otherwise.

    Pairs of libraries that were not tried now are not compared.
    """
    expected, sentences = read(page), []
    for exchange in matrix.exchanges:
        was = expected.get((exchange.way, exchange.pair, exchange.input), NONE)
        if was != exchange.status:
            seen = f" ({exchange.seen})" if exchange.seen else ""
            sentences.append(
                f"{exchange.pair}, {exchange.input}, by {WAYS[exchange.way]}: "
                f"{exchange.status}{seen}; it was {was}"
            )
    return sentences
