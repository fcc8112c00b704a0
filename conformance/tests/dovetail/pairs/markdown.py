"""A page of Markdown: for each way a table of all pairs. expected.py reads it.

It has no times, so that the same libraries give the same page.
"""

import platform

from .notes import notes, sources
from .results import STATUSES, WAYS

_INTRODUCTION = """\
# What becomes of an array when another library takes it in

Which exchanges share memory, copy it or fail. Made by `python -m pairs` of
conformance/tests/dovetail with CPython {python} on {system}:
{versions}.
"""


def title(way):
    return f"By {WAYS[way]}"


def render(matrix):
    versions = ", ".join(f"{name} {matrix.versions.get(name, '')}" for name in matrix.libraries)
    introduction = _INTRODUCTION.format(
        python=platform.python_version(), system=platform.system(), versions=versions
    )
    lines = [introduction, "| | |", "|---|---|"]
    lines += [f"| {status} | {meaning} |" for status, meaning in STATUSES.items()]
    for way in WAYS:
        rows = matrix.rows(way)
        if rows:
            inputs = matrix.inputs()
            lines += ["", f"## {title(way)}", "", f"| | {' | '.join(inputs)} |"]
            lines += ["|---|" + "---|" * len(inputs)]
            for pair, exchanges in rows:
                cells = [pair, *(exchanges[name].status for name in inputs)]
                lines.append(f"| {' | '.join(cells)} |")
            lines += ["", *_notes(matrix, way)]
    return "\n".join(lines) + "\n"


def _notes(matrix, way):
    for consumer, text, inputs in notes(matrix, way):
        status, _, seen = text.partition(": ")
        seen = seen.replace("`", "'")
        yield f"- {consumer} {status} ({sources(inputs)}): `{seen}`"
