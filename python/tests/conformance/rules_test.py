"""The list of rules, and the checks that belong to it."""

import pathlib
import re

from dovetail.conformance import RULES
from dovetail.conformance.checks import all_checks
from dovetail.conformance.rules import LEVELS

NUMBERS = re.compile(r"^(\d+)\. ", re.MULTILINE)


def test_each_rule_has_a_check_and_a_source():
    assert {check.rule for check in all_checks()} == {rule.id for rule in RULES}
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.role in ("producer", "consumer")
        assert rule.level in LEVELS
        assert rule.source
        assert rule.sentence.endswith(".")


def test_the_numbers_are_rules_of_dovetail():
    numbers = set(map(int, NUMBERS.findall(pathlib.Path("docs/protocol_rules.txt").read_text())))
    assert numbers
    assert {rule.number for rule in RULES if rule.number} <= numbers
