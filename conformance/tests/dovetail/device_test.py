"""The kit with arrays on a CUDA device, over the emulated driver of tests/emulated_cuda."""

import ctypes
import os
import subprocess
import sys

import pytest
from command import ALSO, PLANTED

from dlpack_conformance import run
from dlpack_conformance.checks import all_checks, rules_of
from dlpack_conformance.rules import BY_ID

RULES = rules_of("cuda")
STREAM_RULES = [rule for rule in RULES if "cpu" not in all_checks()[rule.id].devices]
UNAPPLIED = {"producer.device-id", "consumer.read-only-ignored"}
# Those whose checks are not the ones for the CPU, and of streams.
OTHER_CHECKS = [
    "producer.dl-device",
    "producer.type",
    "producer.elements",
    "producer.unused",
    "producer.used",
    "producer.deleter",
    "producer.lifetime",
    "consumer.deletes",
    "consumer.read-only",
    "consumer.misaligned",
    "consumer.writes-nothing",
    "exchange.deleter",
    "exchange.lifetime",
    "exchange.allocator-error",
    *(rule.id for rule in STREAM_RULES),
]


def test_the_driver_is_the_emulated_one():
    ctypes.CDLL("libcuda.so.1").cuInit(0)
    name = ctypes.create_string_buffer(64)
    ctypes.CDLL("libcuda.so.1").cuDeviceGetName(name, 64, 0)
    assert name.value == b"emulated CUDA device 0"


def test_a_library_that_keeps_all_rules_is_told_so(monkeypatch):
    monkeypatch.setenv("PLANTED", "")
    report = run(PLANTED, device="cuda")
    assert [result for result in report.results if result.failed] == []
    unapplied = {rule.id for rule in RULES if report.status(rule.id) == "not applicable"}
    assert unapplied == UNAPPLIED


@pytest.mark.parametrize("id", OTHER_CHECKS)
def test_a_planted_fault_is_found_and_nothing_else_is_reported(monkeypatch, id):
    monkeypatch.setenv("PLANTED", id)
    rule = BY_ID[id]
    # The rules of streams take seconds, and are checked together.
    of_streams = rule in STREAM_RULES
    rules = [other for other in RULES if (other in STREAM_RULES) == of_streams]
    report = run(PLANTED, [other.id for other in rules if other.role == rule.role], "cuda")
    assert not report.problem
    found = [result for result in report.results if result.failed]
    assert {result.rule for result in found} - ALSO.get(id, set()) == {id}
    assert found[0].reproduction


def test_dovetail_keeps_every_rule():
    report = run("dovetail", device="cuda")
    assert not report.problem
    assert [result for result in report.results if result.failed] == []
    assert {rule.id for rule in RULES if report.status(rule.id) == "not applicable"} == {
        "producer.device-id",
        # The adapter makes read-only arrays on the CPU alone: consumer.read-only-ignored holds.
        "consumer.read-only",
        "producer.read-only",
        "producer.read-only-legacy",
        "producer.byte-order",
        "producer.unsupported",
        "consumer.other-device",
        "exchange.refuses",
    }


def test_a_library_that_initialises_the_driver_at_its_import_is_checked(monkeypatch, tmp_path):
    monkeypatch.setenv("PLANTED", "producer.alignment")
    adapter = tmp_path / "eager.py"
    adapter.write_text(
        "from planted_adapter import ADAPTER\n"
        "fields = ADAPTER.devices['cuda']\n"
        "fields['setup'] += '; p.memory.begin()'\n"
    )
    rules = ["producer.cuda-type", "producer.alignment", "consumer.accepts"]
    report = run(str(adapter), rules, "cuda")
    statuses = {id: [result.status for result in report.of(id)] for id in rules}
    assert statuses == {
        "producer.cuda-type": ["kept"],
        "producer.alignment": ["broken"],
        "consumer.accepts": ["kept", "kept"],
    }


def test_an_absent_driver_is_told_in_one_line():
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    del environment["LD_LIBRARY_PATH"]
    result = subprocess.run(
        [sys.executable, "-m", "dlpack_conformance", "dovetail", "--device", "cuda"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith("no CUDA device: the driver can't be loaded")
    assert "Traceback" not in result.stderr


def test_a_reproduction_runs_by_itself(monkeypatch):
    monkeypatch.setenv("PLANTED", "producer.stream-order")
    report = run(PLANTED, ["producer.stream-order"], "cuda")
    code = "\n".join(report.failures()[0].reproduction)
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "AssertionError: the given stream reads" in result.stderr
