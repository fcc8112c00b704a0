"""The matrix for the terminal: for each way a row for each pair, then what was refused or wrong."""

from .notes import notes, sources
from .results import WAYS


def render(matrix):
    lines = [*matrix.problems]
    for way, title in WAYS.items():
        rows = matrix.rows(way)
        if rows:
            lines += ["", f"By {title}:", "", *_table(rows, matrix.inputs()), ""]
            for consumer, text, inputs in notes(matrix, way):
                lines += [f"{consumer} {text}", f"    from {sources(inputs)}"]
    return "\n".join(lines).strip("\n") + "\n"


def _table(rows, inputs):
    cells = [["", *inputs, "ns"]]
    for pair, exchanges in rows:
        statuses = [exchanges[name].status for name in inputs]
        times = [exchanges[name].nanoseconds for name in inputs]
        first = next(filter(None, times), "")
        cells.append([pair, *statuses, str(first)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
