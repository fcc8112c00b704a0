"""A Sphinx extension that lets narrow screens show tables: on a phone, a wide one as a card a row.

Each cell gets its column's heading as data-label, which style.css shows beside the cell. Of two
columns it shows the second one below the first, without its heading. Long names and paths may break
between their words.
"""

import html
import re

TABLE = re.compile(r"<table([^>]*docutils[^>]*)>(.*?)</table>", re.DOTALL)
CELL = re.compile(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", re.DOTALL)
ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
TEXT = re.compile(r"(?<=>)[^<>]+(?=<)")
LONG_NAME = re.compile(r"\S{21,}")
BETWEEN_WORDS = re.compile(r"(?<=/)(?=\w)|(?<=[^\W_]_)(?=[^\W_])|(?<=::)|(?<=\.)(?=\w{4})")
# Narrower tables fit on a phone: fewer columns, or fewer characters in all columns, each counted by
# its longest cell.
COLUMNS = 3
CHARACTERS = 45
# A table of two columns becomes cards if the longest cells of both have at least so many
# characters: a phone (360 pixels) would break the names of the first column.
FIRST, SECOND = 30, 45


def fitted(page: str) -> str:
    """The page's HTML. Tables too wide for a phone get labels and the class `cards`."""
    return TABLE.sub(_fit, page)


def _texts(row: str) -> list[str]:
    return [" ".join(html.unescape(TAG.sub("", cell)).split()) for cell in CELL.findall(row)]


def _with_breaks(text: re.Match[str]) -> str:
    return LONG_NAME.sub(lambda name: BETWEEN_WORDS.sub("<wbr>", name[0]), text[0])


def _fit(table: re.Match[str]) -> str:
    attributes, rows = table.groups()
    rows = TEXT.sub(_with_breaks, rows)
    head, end_of_head, body = rows.partition("</thead>")
    labels = _texts(head) if end_of_head else []
    texts = [_texts(row) for row in ROW.findall(rows)]
    longest = [max(map(len, column)) for column in zip(*texts, strict=False)]
    if len(labels) == len(longest) == 2 and longest[0] >= FIRST and longest[1] >= SECOND:
        labels = ["", ""]
    elif len(labels) < COLUMNS or sum(longest) < CHARACTERS:
        return f"<table{attributes}>{rows}</table>"

    def label(row: re.Match[str]) -> str:
        column = iter(labels)
        return re.sub(
            r"<td\b", lambda _: f'<td data-label="{html.escape(next(column, ""))}"', row[0]
        )

    attributes = attributes.replace('class="', 'class="cards ', 1)
    return f"<table{attributes}>{head}{end_of_head}{ROW.sub(label, body)}</table>"


def setup(app):
    def fit(app, pagename, templatename, context, doctree):
        if "body" in context:
            context["body"] = fitted(context["body"])

    app.connect("html-page-context", fit)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
