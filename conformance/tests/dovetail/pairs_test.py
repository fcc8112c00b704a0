"""The matrix of pairs: what becomes of arrays is told as it is, and no pair changes unnoticed."""

import copy
import json
import pathlib

import pytest
from command import PLANTED, command
from page import Page

from dlpack_conformance import Exchange, Matrix, pairs, run_pairs

PAGE = pathlib.Path("conformance/docs/pairs.md")
REWRITE = (
    "./bazelw run //conformance/tests/dovetail:interpreter -- -m dlpack_conformance --pairs "
    "--markdown conformance/docs/pairs.md"
)

MATRIX = Matrix(
    ["first", "second"],
    {"first": "1.0", "second": "2.0"},
    exchanges=[
        Exchange("first", "second", "own", "dense", "shared", nanoseconds=100),
        Exchange("first", "second", "own", "reversed", "refused", "BufferError: a `reason`"),
        Exchange("second", "first", "own", "dense", "–"),
        Exchange("second", "first", "own", "reversed", "crashed", "SIGABRT", errors="Fatal error"),
        Exchange("second", "first", "dovetail", "dense", "copied"),
        Exchange("second", "first", "dovetail", "reversed", "–"),
    ],
)


def status(monkeypatch, broken, name, producer="numpy", consumer="planted"):
    """What becomes of an array of NumPy's in a library that breaks a rule, or the other way."""
    monkeypatch.setenv("PLANTED", broken)
    matrix = run_pairs(["numpy", PLANTED], [name])
    assert not matrix.problems
    (exchange,) = [
        exchange
        for exchange in matrix.exchanges
        if (exchange.producer, exchange.consumer, exchange.way) == (producer, consumer, "own")
    ]
    assert bool(exchange.seen) == bool(exchange.reproduction)
    return exchange.status


@pytest.mark.parametrize(
    ("broken", "name", "expected"),
    [
        ("", "dense", "shared"),
        ("", "reversed", "shared"),
        ("", "read-only", "shared"),
        ("", "empty", "taken"),
        ("", "complex64", "refused"),
        ("consumer.accepts", "reversed", "shared"),
        ("consumer.strides", "reversed", "wrong"),
        ("consumer.read-only", "read-only", "wrong"),
        ("consumer.scalar", "scalar", "refused"),
    ],
)
def test_what_becomes_of_an_array_is_told(monkeypatch, broken, name, expected):
    assert status(monkeypatch, broken, name) == expected


def test_a_wrong_export_is_told_of_the_pair_that_meets_it(monkeypatch):
    assert status(monkeypatch, "producer.elements", "transposed", "planted", "numpy") == "wrong"


def test_a_copy_is_told(monkeypatch):
    monkeypatch.setenv("PLANTED", "")
    (exchange,) = [
        exchange
        for exchange in run_pairs(["dovetail", "torch"], ["reversed"]).exchanges
        if (exchange.producer, exchange.way) == ("dovetail", "dovetail")
    ]
    assert exchange.status == "copied"
    assert exchange.nanoseconds > 0


def test_the_page_of_a_matrix_expects_just_that_matrix():
    page = pairs.markdown.render(MATRIX)
    assert pairs.expected.changes(MATRIX, page) == []
    assert len(pairs.expected.read(page)) == 6
    changed = copy.deepcopy(MATRIX)
    changed.exchanges[1].status, changed.exchanges[1].seen = "crashed", "SIGSEGV"
    changed.exchanges[2].status = "copied"
    assert pairs.expected.changes(changed, page) == [
        "first → second, reversed, by the consumer's own from_dlpack(): crashed (SIGSEGV); "
        "it was refused",
        "second → first, dense, by the consumer's own from_dlpack(): copied; it was –",
    ]


def test_a_pair_that_is_not_tried_is_not_compared():
    page = pairs.markdown.render(MATRIX)
    fewer = copy.deepcopy(MATRIX)
    del fewer.exchanges[2:]
    assert pairs.expected.changes(fewer, page) == []


def test_the_reports_have_every_exchange():
    text = pairs.terminal.render(MATRIX)
    assert "second → first  –       crashed" in text
    assert "second refused: BufferError: a `reason`\n    from first: reversed" in text
    document = json.loads(pairs.json_report.render(MATRIX))
    assert [entry["status"] for entry in document["exchanges"]] == [
        exchange.status for exchange in MATRIX.exchanges
    ]
    page = pairs.markdown.render(MATRIX)
    assert "- second refused (first: reversed): `BufferError: a 'reason'`" in page
    assert "100" not in page  # times differ in each run


def test_the_page_of_html_links_what_went_wrong_and_has_no_markup_of_others():
    page = Page(pairs.html_report.render(MATRIX))
    targets = {attributes["href"].removeprefix("#") for attributes in page.all("a")}
    assert targets == {attributes["id"] for attributes in page.all("article")}
    assert len(targets) == 2
    assert len(page.ids) == len({*page.ids})
    for text in ("BufferError: a `reason`", "SIGABRT", "Fatal error", "100 ns", "first 1.0"):
        assert text in page.text
    hostile = copy.deepcopy(MATRIX)
    hostile.exchanges[1].seen = hostile.exchanges[3].errors = hostile.libraries[0] = "<script>"
    hostile.exchanges[1].reproduction = ["<script>"]
    for exchange in hostile.exchanges:
        exchange.producer = exchange.producer.replace("first", "<script>")
        exchange.consumer = exchange.consumer.replace("first", "<script>")
    text = pairs.html_report.render(hostile)
    assert "<script" not in text
    assert Page(text).elements == page.elements


def test_the_command_writes_the_page_and_compares_with_it(tmp_path):
    page = tmp_path / "pairs.md"
    result = command("--pairs", "numpy", "dovetail", "--markdown", str(page))
    assert result.returncode == 0, result.stderr
    assert "numpy → dovetail" in result.stdout
    text = page.read_text()
    page.write_text(text.replace("| dovetail → numpy | shared", "| dovetail → numpy | refused", 1))
    result = command("--pairs", "numpy", "dovetail", "--expect", str(page))
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == (
        "dovetail → numpy, dense, by the consumer's own from_dlpack(): shared; it was refused"
    )


def test_options_of_the_checks_are_refused_for_pairs():
    assert command("--pairs", "--rule", "producer.device").returncode == 2
    assert command("numpy", "--expect", "page.md").returncode == 2
    assert command("--pairs", "no_such_library").returncode == 2


def test_no_pair_of_libraries_differs_from_the_committed_page():
    matrix = run_pairs()
    assert not matrix.problems
    changes = pairs.expected.changes(matrix, PAGE.read_text())
    assert not changes, "\n".join([*changes, f"This rewrites {PAGE}: {REWRITE}"])
