"""Dovetail keeps every rule of the kit, and lists the rules that it keeps."""

import pathlib
import re

from dlpack_conformance import RULES, run
from dlpack_conformance.rules import BY_ID

NUMBERS = re.compile(r"^(\d+)\. ", re.MULTILINE)


def test_dovetail_keeps_every_rule():
    report = run("dovetail")
    assert not report.problem
    assert [result for result in report.results if result.failed] == []
    unapplied = {rule.id for rule in RULES if report.status(rule.id) == "not applicable"}
    assert unapplied == {
        "producer.byte-order",
        "producer.unsupported",
        "consumer.other-device",
        "arrow.nulls",
        "exchange.refuses",
    }


def test_the_numbers_are_rules_of_dovetail():
    numbers = set(map(int, NUMBERS.findall(pathlib.Path("docs/protocol_rules.txt").read_text())))
    assert numbers
    assert {rule.number for rule in BY_ID.values() if rule.number} <= numbers
