"""Every switch of a planted library is found, and no other rule is reported."""

import pathlib
import random

import pytest
from command import ALSO

from dlpack_conformance import RULES, run
from dlpack_conformance.checks import rules_of
from dlpack_conformance.rules import BY_ID

ADAPTER = str(pathlib.Path(__file__).with_name("planted_adapter.py"))
ON_CPU = [rule.id for rule in rules_of("cpu", "all")]
# Cases in which a rule breaks: the others are kept.
IN_SOME_CASES = [
    "producer.flags READ_ONLY",
    "producer.read-only keyword",
    "producer.read-only T",
    "producer.copied-only T",
    "producer.copy-true scalar",
    "producer.copy-false T",
    "producer.lifetime copy",
    "producer.lifetime view",
    "producer.repeated shape",
    "producer.leak malloc",
    "producer.elements int32",
    "producer.elements legacy",
    "producer.elements copy",
    "consumer.strides float64",
    "consumer.strides legacy",
    "consumer.type bool",
    "consumer.type uint64",
    "consumer.renames versioned",
    "consumer.copy old",
    "consumer.leak producer",
    "consumer.byte-offset NULL",
    "consumer.byte-offset scalar",
    "consumer.byte-offset legacy",
    "exchange.cpu-stream 7",
]


def rule_of(switch):
    return switch.split(" ")[0]


def broken(monkeypatch, switches, rules, **options):
    """The results that failed, by rule, of a library with these switches."""
    monkeypatch.setenv("PLANTED", "; ".join(switches))
    report = run(ADAPTER, rules, **options)
    assert not report.problem
    assert report.results
    return {result.rule: result for result in report.results if result.failed}


def rules_beside(switch):
    """Those that the same role has. Leaks take seconds to find, and are sought for alone."""
    rule = rule_of(switch)
    role = BY_ID[rule].role
    leaks = [f"{role}.leak"] if not rule.endswith(".leak") else []
    return [id for id in ON_CPU if BY_ID[id].role == role and id not in leaks]


def test_a_library_that_keeps_all_rules_is_told_so(monkeypatch):
    monkeypatch.setenv("PLANTED", "")
    report = run(ADAPTER, protocol="all")
    assert not report.problem
    unapplied = {"consumer.read-only-ignored"}  # of libraries without read-only arrays
    assert {id for id in ON_CPU if report.status(id) != "kept"} == unapplied
    assert {r.rule for r in report.results if r.status != "kept"} == unapplied


def test_a_library_without_legacy_capsules_is_told_so(monkeypatch):
    assert broken(monkeypatch, ["versioned alone"], None) == {}


def test_it_is_told_so_in_every_case(monkeypatch):
    assert broken(monkeypatch, [], None, seed=None) == {}


@pytest.mark.parametrize("switch", [*ON_CPU, *IN_SOME_CASES])
def test_a_planted_fault_is_found_and_nothing_else_is_reported(monkeypatch, switch):
    found = broken(monkeypatch, [switch], rules_beside(switch))
    assert found.keys() - ALSO.get(rule_of(switch), set()) == {rule_of(switch)}
    assert found[rule_of(switch)].seen
    assert found[rule_of(switch)].reproduction


# A switch that hides others: what is refused shows no other fault.
_HIDING = {
    "consumer.renames", "producer.copied-only",
    "producer.copy-served", "producer.versioned", "producer.keywords", "producer.dl-device",
    "producer.type", "consumer.accepts", "consumer.asks", "consumer.keywords", "exchange.capsule",
    "exchange.version", "exchange.functions", "consumer.read-only-ignored", "producer.copy-true",
}  # fmt: skip
_RANDOM = random.Random(54)
_VISIBLE = [id for id in ON_CPU if id not in _HIDING and BY_ID[id].protocol == "dlpack"]
PAIRS = [tuple(_RANDOM.sample(_VISIBLE, 2)) for _ in range(40)]


@pytest.mark.parametrize("switches", PAIRS, ids=" and ".join)
def test_both_faults_of_a_pair_are_found(monkeypatch, switches):
    assert set(switches) <= broken(monkeypatch, switches, list(switches)).keys()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("switch", IN_SOME_CASES)
def test_every_seed_finds_a_fault_of_some_cases(monkeypatch, switch, seed):
    assert broken(monkeypatch, [switch], [rule_of(switch)], seed=seed)


def test_each_rule_has_a_switch():
    assert set(ON_CPU) <= {rule.id for rule in RULES}
