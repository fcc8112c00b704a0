"""Dovetail keeps every rule of the kit."""

from dlpack_conformance import run
from dlpack_conformance.checks import rules_of


def test_dovetail_keeps_every_rule_in_every_case():
    report = run("dovetail", protocol="all", seed=None)
    assert not report.problem
    assert [result for result in report.results if result.failed] == []
    rules = {rule.id for rule in rules_of(protocol="all")}
    assert {rule for rule in rules if report.status(rule) == "not applicable"} == {
        "producer.byte-order",
        "producer.unsupported",
        "consumer.other-device",
        "consumer.read-only-ignored",
        "arrow.nulls",
        "exchange.refuses",
    }
