"""The list of rules, and the checks that belong to it."""

from dlpack_conformance import RULES
from dlpack_conformance.checks import all_checks
from dlpack_conformance.rules import BY_ID, LEVELS, ROLES, STREAM_RULES


def test_each_rule_has_a_check_and_a_source():
    assert {check.rule for check in all_checks()} == BY_ID.keys()
    assert len(BY_ID) == len(RULES) + len(STREAM_RULES)
    for rule in BY_ID.values():
        assert rule.role in ROLES
        assert rule.level in LEVELS
        assert rule.source
        assert rule.sentence.endswith(".")
