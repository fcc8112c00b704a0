"""The views of results: each says what is broken, musts first, and no text is markup."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from page import Page

from dlpack_conformance import Report, Result
from dlpack_conformance.report import FORMATS, html, junit, markdown, text
from dlpack_conformance.report import json as json_view

STRUCT = {"name": "dltensor", "hex": ["00  0102"], "fields": {"data": "0x0201"}}
REPORTS = [
    Report(
        "first",
        "1.0",
        [
            Result("producer.device", None, "broken", "device (2, 0)", ["z = 3"]),
            Result("producer.type", "int32, legacy", "kept"),
            Result("producer.type", "bool, legacy", "broken", "two bits", ["x = 1"], "", STRUCT),
            Result("consumer.strides", "reversed", "crashed", "SIGSEGV", ["y = 2"], "Fatal error"),
            Result("consumer.null-data", None, "kept"),
            Result("consumer.lanes", "2", "not applicable", "no lanes"),
        ],
    ),
    Report("second", "2.0", [Result("producer.device", None, "kept")]),
    Report("third", problem="not installed"),
]
HOSTILE = "<script>alert('\"&\x01')</script>"


def hostile_reports(text):
    struct = {"name": text, "hex": [text], "fields": {text: text}}
    result = Result("producer.device", text, "broken", text, [text], text, struct)
    return [Report(text, text, [result], gone=[text]), Report(text, problem=text)]


def test_the_text_has_sums_by_level_and_a_line_for_each_broken_rule_musts_first():
    lines = text.render(REPORTS).splitlines()
    assert lines[:6] == [
        "first 1.0: musts 0 of 2, shoulds 0 of 1, hardening 1 of 1",
        "must:",
        "  producer.type: 1 of 2 cases: two bits [bool, legacy]",
        "  consumer.strides: crashed: SIGSEGV [reversed]",
        "should:",
        "  producer.device: device (2, 0)",
    ]
    assert lines[-1] == "third: not installed"


def test_no_line_of_the_text_is_longer_than_100_columns():
    results = [Result("consumer.strides", "reversed", "broken", "word " * 100)]
    lines = text.render([Report("long", "1.0", results)]).splitlines()
    assert max(map(len, lines)) == 100
    assert lines[2].endswith("… [reversed]")


def test_junit_fails_as_the_exit_status_does():
    root = ElementTree.fromstring(junit.render(REPORTS))
    first, second, third = root
    assert (first.get("tests"), first.get("failures"), first.get("skipped")) == ("6", "2", "2")
    assert [case.get("name") for case in first.iter("testcase") if case.find("failure") is not None]
    (skipped, _) = first.iter("skipped")
    assert skipped.get("message") == "should: device (2, 0)"
    assert "z = 3" in skipped.text
    strict = ElementTree.fromstring(junit.render(REPORTS, strict=True))
    assert strict[0].get("failures") == "3"
    assert [REPORTS[0].fails(), REPORTS[1].fails(), REPORTS[2].fails()] == [True, False, True]
    assert (second.get("failures"), third.get("errors")) == ("0", "1")


def test_json_has_every_result_and_the_sums():
    document = json.loads(json_view.render(REPORTS))
    assert document["schema"] == 1
    first = document["libraries"][0]
    assert first["sums"]["must"] == {"kept": 0, "of": 2}
    assert first["fails"] is True
    assert first["results"][2]["struct"] == STRUCT
    assert first["results"][2]["reproduction"] == "x = 1"
    assert {rule["id"] for rule in document["rules"]} == {r.rule for r in REPORTS[0].results}


def test_the_page_of_markdown_has_the_rules_that_a_library_breaks():
    page = markdown.render(REPORTS)
    assert "| `producer.type` | " in page
    assert "| broken: 1 of 2, bool, legacy | – |" in page
    assert "| kept, of those that apply | | 0 of 1 | 1 of 1 |" in page
    assert "consumer.lanes" not in page


def test_the_page_of_html_links_each_broken_rule_with_its_reproduction():
    page = Page(html.render(REPORTS))
    targets = {attributes["href"].removeprefix("#") for attributes in page.all("a")}
    assert targets == {attributes["id"] for attributes in page.all("article")}
    assert len(page.ids) == len(set(page.ids))
    assert page.blocks == [
        "dltensor\n00  0102\ndata = 0x0201",
        "x = 1",
        "Fatal error",
        "y = 2",
        "z = 3",
    ]
    for sentence in ("bool, legacy: two bits", "crashed: SIGSEGV", "not installed"):
        assert sentence in page.text


def test_texts_of_a_library_are_no_markup_and_the_page_loads_nothing():
    page = Page(html.render(hostile_reports(HOSTILE)))
    assert page.elements == Page(html.render(hostile_reports("harmless"))).elements
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    ElementTree.fromstring(junit.render(hostile_reports(HOSTILE)))


@pytest.mark.parametrize("name", FORMATS)
def test_a_view_of_nothing_is_empty(name):
    assert FORMATS[name].render([])


def test_a_script_says_what_it_shows():
    assert text.script(REPORTS[0], REPORTS[0].results[3]) == (
        "# consumer.strides [reversed] of first 1.0: SIGSEGV\ny = 2\n"
    )
