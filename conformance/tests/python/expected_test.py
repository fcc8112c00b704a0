"""Faults that are expected: they do not count, and one that is gone does."""

import pytest
from command import PLANTED, command

from dlpack_conformance import Report, Result, expected

FAULT = {"library": "mine", "versions": "1.2, 2", "rule": "consumer.strides", "reason": "known"}


def report(version="1.2.3", **cases):
    results = [Result("consumer.strides", case, status) for case, status in cases.items()]
    return Report("mine", version, results)


@pytest.mark.parametrize(
    ("entry", "given", "fails", "gone"),
    [
        ({}, report(), True, 0),
        (FAULT, report(), False, 0),
        (FAULT, report("2.0"), False, 0),
        (FAULT, report("1.3"), True, 0),
        ({**FAULT, "library": "other"}, report(), True, 0),
        ({**FAULT, "case": "rev*"}, report(), False, 0),
        ({**FAULT, "case": "plain"}, report(plain="kept"), True, 1),
    ],
)
def test_a_fault_counts_unless_it_is_expected_and_one_that_is_gone_counts(
    entry, given, fails, gone
):
    given = Report(given.library, given.version, [*given.results])
    given.results.append(Result("consumer.strides", "reversed", "broken", "seen"))
    expected.apply(given, [entry] if entry else [])
    assert given.fails() is fails
    assert len(given.gone) == gone


def test_a_fault_that_is_gone_fails_and_one_that_was_not_looked_for_does_not():
    kept = report(reversed="kept")
    expected.apply(kept, [FAULT])
    assert kept.gone == ["consumer.strides: an expected fault is gone"]
    assert kept.fails()
    not_checked = Report("mine", "1.2.3", [])
    expected.apply(not_checked, [FAULT])
    assert not not_checked.fails()


def test_an_update_writes_what_is_found_and_keeps_the_reasons(tmp_path):
    other = {**FAULT, "library": "other"}
    gone = {**FAULT, "rule": "consumer.minor"}
    found = report(reversed="broken")
    found.results.append(Result("producer.type", "int8", "crashed", 'a "quote" \\ …'))
    found.results.append(Result("consumer.minor", None, "kept"))
    expected.apply(found, [FAULT, other, gone])
    entries = expected.updated([FAULT, other, gone], [found])
    assert entries[:2] == [FAULT, other]
    assert [entry["rule"] for entry in entries[2:]] == ["producer.type"]
    file = tmp_path / "expected.toml"
    file.write_text(expected.render(entries), encoding="utf-8")
    assert expected.read(file) == entries


@pytest.mark.parametrize(
    "text",
    [
        b"[[fault]]\nrule = 'x'",
        b"[[fault]]\nlibary = 'a'",
        b"[[fault]]\nlibrary = 'a'\nrule = ['consumer.strides']",
        b"[[fault]]\nlibrary = 'a'\nrule = 'consumer.strides'\nversions = 2.13",
        b"[[faults]]\nlibrary = 'a'",
        b"[fault]\nlibrary = 'a'",
        b"fault = 3",
        b"fault = ['a']",
        b"nonsense",
        b"\xff\xfe",
    ],
)
def test_a_file_that_is_none_is_an_error_of_usage(tmp_path, text):
    file = tmp_path / "expected.toml"
    file.write_bytes(text)
    with pytest.raises(LookupError, match=r"expected\.toml"):
        expected.read(file)


def test_the_command_tells_how_a_missing_file_is_made(tmp_path):
    result = command("--adapter", PLANTED, "--expected", str(tmp_path / "expected.toml"))
    assert result.returncode == 2
    assert result.stderr.endswith("there is no such file; --update makes it\n")


def test_the_command_updates_a_file_and_passes_with_it(tmp_path):
    rules = ["--adapter", PLANTED, "--rule", "producer.version", "--rule", "producer.type"]
    file = str(tmp_path / "expected.toml")
    switch = {"PLANTED": "producer.version"}
    assert command(*rules, "--expected", file, "--update", **switch).returncode == 0
    assert command(*rules, "--expected", file, **switch).returncode == 0
    done = command(*rules, "--expected", file, PLANTED="")
    assert done.returncode == 1
    assert "producer.version: an expected fault is gone" in done.stdout
    assert command(*rules, "--expected", file, PLANTED="producer.type").returncode == 1
