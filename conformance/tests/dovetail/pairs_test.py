"""The matrix of pairs: what becomes of arrays is told as it is, and no pair changes unnoticed."""

import copy
import pathlib

import pairs
import pytest
from command import PLANTED
from pairs import Exchange, Matrix, run_pairs

PAGE = pathlib.Path("conformance/docs/pairs.md")
REWRITE = (
    "./bazelw run //conformance/tests/dovetail:interpreter -- -m pairs > conformance/docs/pairs.md"
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


def test_the_page_has_what_was_seen_and_no_times():
    page = pairs.markdown.render(MATRIX)
    assert "- second refused (first: reversed): `BufferError: a 'reason'`" in page
    assert "100" not in page  # times differ in each run


def test_no_pair_of_libraries_differs_from_the_committed_page():
    matrix = run_pairs()
    assert not matrix.problems
    changes = pairs.expected.changes(matrix, PAGE.read_text())
    assert not changes, "\n".join([*changes, f"This rewrites {PAGE}: {REWRITE}"])
