"""Every rule of the kit finds a library that breaks just that rule, and no other rule does."""

import pathlib

import pytest

from dlpack_conformance import RULES, run

ADAPTER = str(pathlib.Path(__file__).with_name("planted_adapter.py"))


def failing(monkeypatch, broken_rule, rules):
    """The ids of the rules that a library breaks, according to the kit."""
    monkeypatch.setenv("PLANTED", broken_rule or "")
    report = run(ADAPTER, rules)
    assert not report.problem
    assert report.results
    return {result.rule: result for result in report.results if result.failed}


def test_a_library_that_keeps_all_rules_is_told_so(monkeypatch):
    monkeypatch.setenv("PLANTED", "")
    report = run(ADAPTER)
    assert not report.problem
    assert {rule.id: report.status(rule.id) for rule in RULES} == {
        rule.id: "kept" for rule in RULES
    }
    assert {result.status for result in report.results} == {"kept"}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_planted_fault_is_found_and_nothing_else_is_reported(monkeypatch, rule):
    rules = [other.id for other in RULES if other.role == rule.role]
    found = failing(monkeypatch, rule.id, rules)
    assert found.keys() == {rule.id}
    assert found[rule.id].seen
    assert found[rule.id].reproduction
