"""The HTML report: it has all that is broken, its links lead somewhere, and no text is markup."""

import copy
import sys

import pytest
from page import Page

from dlpack_conformance import RULES, Report, Result, __main__
from dlpack_conformance.report import html_report

REPORTS = [
    Report(
        "first",
        "1.0",
        [
            Result("producer.device", None, "kept"),
            Result("producer.type", "int32", "kept"),
            Result(
                "producer.type",
                "bool",
                "broken",
                "bool has 2 bits",
                ["import first", "x = 1"],
                struct={"name": "dltensor", "hex": ["00  0102"], "fields": {"data": "0x0201"}},
            ),
            Result("consumer.strides", "reversed", "crashed", "SIGSEGV", ["y = 2"], "Fatal error"),
        ],
    ),
    Report(
        "second", "2.0", [Result("producer.device", None, "broken", "device (2, 0)", ["z = 3"])]
    ),
    Report("third", problem="not installed"),
]
HOSTILE = "<script>alert('\"&')</script>"


def test_the_page_has_each_broken_rule_with_what_was_seen_and_its_reproduction():
    page = Page(html_report.render(REPORTS))
    entries = [attributes["id"] for attributes in page.all("article")]
    assert entries == [
        "library-1.producer.type",
        "library-1.consumer.strides",
        "library-2.producer.device",
    ]
    struct = "00  0102\n\ndata = 0x0201\n"
    assert page.blocks == ["import first\nx = 1", struct, "Fatal error", "y = 2", "z = 3"]
    broken = {result.rule for report in REPORTS for result in report.failures()}
    for rule in RULES:
        if rule.id in broken:
            assert rule.sentence in page.text
            assert rule.source in page.text
    for text in ("bool: bool has 2 bits", "reversed: SIGSEGV", "device (2, 0)", "not installed"):
        assert text in page.text


def test_every_link_leads_to_an_id_and_no_id_is_there_twice():
    page = Page(html_report.render([*REPORTS, REPORTS[0]]))
    targets = {attributes["href"].removeprefix("#") for attributes in page.all("a")}
    assert targets <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    entries = {attributes["id"] for attributes in page.all("article")}
    assert entries <= targets  # each broken cell leads to its entry


def test_the_matrix_has_a_row_for_each_rule_and_a_column_for_each_library_that_was_checked():
    page = Page(html_report.render(REPORTS))
    scopes = [attributes["scope"] for attributes in page.all("th")]
    assert scopes.count("col") == 2 + 2  # the rule, its level, two libraries
    assert scopes.count("row") == len(RULES) + 1  # the counts
    assert len(page.all("td")) == (1 + 2) * (len(RULES) + 1)


def test_only_the_rules_that_were_asked_for_are_shown():
    text = html_report.render(REPORTS, ["producer.device"])
    assert "producer.device" in text
    assert "consumer.strides" not in text


def test_the_same_results_give_the_same_page():
    assert html_report.render(REPORTS) == html_report.render(copy.deepcopy(REPORTS))


def _reports_of(text):
    struct = {"name": text, "hex": [text], "fields": {text: text}}
    result = Result("producer.device", text, "broken", text, [text], text, struct)
    return [Report(text, text, [result]), Report(text, problem=text)]


def test_texts_of_a_library_are_not_markup():
    text = html_report.render(_reports_of(HOSTILE))
    assert "<script" not in text
    page = Page(text)
    assert page.elements == Page(html_report.render(_reports_of("harmless"))).elements
    assert page.blocks == [HOSTILE, HOSTILE, f"{HOSTILE}\n\n{HOSTILE} = {HOSTILE}\n"]
    assert f"{HOSTILE}: {HOSTILE}" in page.text


def test_the_page_loads_nothing():
    text = html_report.render(REPORTS)
    page = Page(text)
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not any("src" in attributes for _, attributes in page.elements)
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_an_absent_jinja2_is_told_before_the_checks(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(sys, "argv", ["conformance", "numpy", "--html", "page.html"])
    with pytest.raises(SystemExit) as exit_:
        __main__.main()
    assert exit_.value.code == 2
    assert "pip install jinja2" in capsys.readouterr().err
