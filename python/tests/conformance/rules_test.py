"""The list of rules, and the checks that belong to it."""

import pathlib
import re

from dovetail.conformance import RULES
from dovetail.conformance.checks import all_checks
from dovetail.conformance.rules import BY_ID, LEVELS, ROLES, STREAM_RULES

NUMBERS = re.compile(r"^(\d+)\. ", re.MULTILINE)


def test_each_rule_has_a_check_and_a_source():
    assert {check.rule for check in all_checks()} == BY_ID.keys()
    assert len(BY_ID) == len(RULES) + len(STREAM_RULES)
    for rule in BY_ID.values():
        assert rule.role in ROLES
        assert rule.level in LEVELS
        assert rule.source
        assert rule.sentence.endswith(".")


def test_the_numbers_are_rules_of_dovetail():
    numbers = set(map(int, NUMBERS.findall(pathlib.Path("docs/protocol_rules.txt").read_text())))
    assert numbers
    assert {rule.number for rule in BY_ID.values() if rule.number} <= numbers
