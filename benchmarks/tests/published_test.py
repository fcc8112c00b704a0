"""The figures that are read from docs/benchmarks are those that stand there."""

import pathlib
import re

import published
import pytest

PAGES = sorted(pathlib.Path("docs/benchmarks").glob("*/*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_ratios_of_the_page_are_those_of_its_times(path):
    rows = published.read(path.read_text())["rows"]
    table = [line.split("|") for line in path.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == len(table) - 1 > 5  # but for the head
    for _, work, _, _, ratio, *_ in table[1:]:
        value, library = re.fullmatch(r"([\d.]+) x (\S+)", ratio.strip()).groups()
        times = rows[work.strip()]
        # Times are rounded to nanoseconds.
        assert times["dovetail"] / times[library] == pytest.approx(float(value), abs=0.03)


def test_a_page_says_when_and_where_it_was_measured():
    for path in PAGES:
        measured = published.read(path.read_text())["measured"]
        assert re.fullmatch(r"20\d\d-\d\d-\d\d, on \d+ processors \(.+\)", measured), measured


def test_a_page_without_a_table_is_an_error():
    with pytest.raises(ValueError, match="no table"):
        published.read("# Nothing\n\nMeasured in one run on 2026-01-01, with nothing.\n")
