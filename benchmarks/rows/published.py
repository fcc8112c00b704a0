"""Reads the figures of docs/benchmarks, for `python -m dovetail bench`: published.py PAGE… > JSON

The result is {machine: {page: {"measured": when and where, "rows": rows}}} with rows of
{work: {library: nanoseconds}}.
"""

import json
import pathlib
import re
import sys

_TIME = re.compile(r"(?:^|, )([^,]+) ((?:\d{1,3})(?:,\d{3})*)(?=, |$)")


def read(text):
    """Return what measure.table() and report.Program wrote."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5 and re.fullmatch(r"[\d,]+", cells[1]):
            rows[cells[0]] = {"dovetail": _number(cells[1])}
            rows[cells[0]] |= {name: _number(time) for name, time in _TIME.findall(cells[2])}
    if not rows:
        raise ValueError("the page has no table of times")
    measured = re.search(r"^Measured in one run on (.*?), with ", text, re.MULTILINE)[1]
    return {"measured": measured, "rows": rows}


def _number(text):
    return int(text.replace(",", ""))


def main(paths):
    found = {}
    for path in map(pathlib.Path, sorted(paths)):
        page = read(path.read_text(encoding="utf-8"))
        found.setdefault(path.parent.name, {})[path.stem] = page
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
