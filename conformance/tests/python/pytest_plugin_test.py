"""pytest --dlpack-library=NAME: a test for each rule, which fails as the rule is broken."""

import os
import sys

import pytest
from command import PLANTED

from dlpack_conformance import RULES

pytest_plugins = ["pytester"]


@pytest.fixture
def run(pytester, monkeypatch):
    """Runs pytest with the plugin."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(*arguments, broken=""):
        monkeypatch.setenv("PLANTED", broken)
        return pytester.runpytest_subprocess(
            "-p", "dlpack_conformance_pytest", "-p", "no:cacheprovider", "-rA", *arguments
        )

    return run


def test_a_library_that_keeps_all_rules_passes_all_tests(run):
    result = run(f"--dlpack-adapter={PLANTED}")
    result.assert_outcomes(passed=len(RULES))
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"PASSED dlpack::planted::{rule.id}" for rule in RULES])


def test_a_broken_rule_fails_with_what_was_seen_and_its_reproduction(run):
    result = run(f"--dlpack-adapter={PLANTED}", "-k", "producer.device", broken="producer.device")
    result.assert_outcomes(failed=1, passed=1, deselected=len(RULES) - 2)
    result.stdout.fnmatch_lines(
        [
            "*the capsule says device (1, 0), __dlpack_device__() (1, 1)",
            "__dlpack_device__() returns the device type and id * (must; Python array API *",
            "capsule = x.__dlpack__(*",
        ]
    )


@pytest.mark.parametrize("rule", ["producer.empty", "consumer.null-data"])
def test_a_recommendation_fails_if_that_is_asked_for(run, rule):
    result = run(f"--dlpack-adapter={PLANTED}", "-k", rule, broken=rule)
    assert result.ret == 0
    assert result.parseoutcomes()["xfailed"] == 1
    result = run(f"--dlpack-adapter={PLANTED}", "-k", rule, "--dlpack-strict", broken=rule)
    assert result.ret == 1
    assert result.parseoutcomes()["failed"] == 1


def test_a_check_that_ends_its_process_is_a_failure(run):
    rule = "consumer.null-deleter"
    result = run(f"--dlpack-adapter={PLANTED}", "-k", f"{rule} or consumer.minor", broken=rule)
    outcomes = result.parseoutcomes()
    assert (outcomes["failed"], outcomes["passed"]) == (1, 1)
    result.stdout.fnmatch_lines(["*SIGSEGV", "*del y; gc.collect()"])


def test_a_rule_that_does_not_apply_is_skipped_with_the_reason(run):
    result = run("--dlpack-library", "pyarrow", "-k", "byte-order")
    assert result.parseoutcomes()["skipped"] == 1
    result.stdout.fnmatch_lines(["SKIPPED * the library has one byte order"])


def test_numpy_is_told_what_it_breaks(run):
    result = run("--dlpack-library", "numpy", "-k", "producer or consumer")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["XFAIL *::producer.empty - *: data is 0x* (should: *)"])
    result = run("--dlpack-library", "numpy", "-k", "buffer")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["*: a refusal is no BufferError: ValueError: *"])


def test_the_tests_stand_beside_others_and_have_a_mark(run, pytester):
    pytester.makepyfile("def test_mine(): pass")
    rules = "producer.device or mine"
    adapter = f"--dlpack-adapter={PLANTED}"
    run(adapter, "-k", rules).assert_outcomes(passed=3, deselected=len(RULES) - 2)
    result = run(adapter, "-m", "not dlpack", "--strict-markers")
    result.assert_outcomes(passed=1, deselected=len(RULES))


def test_any_order_and_a_part_of_the_tests_are_possible(run, pytester):
    pytester.makeconftest("def pytest_collection_modifyitems(items): items.reverse()")
    result = run(f"--dlpack-adapter={PLANTED}", "-k", "stride", broken="consumer.null-strides")
    outcomes = result.parseoutcomes()
    assert (outcomes["failed"], outcomes["passed"]) == (1, 3)


def test_a_library_that_cannot_be_imported_is_one_failure(run, pytester):
    (pytester.path / "broken_library.py").write_text("raise ImportError('no such symbol')")
    (pytester.path / "adapter.py").write_text(
        "from dlpack_conformance import Adapter\n"
        "ADAPTER = Adapter(name='broken_library', setup='import broken_library', array='[]')\n"
    )
    result = run("--dlpack-adapter", "adapter.py")
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == 1
    assert outcomes["skipped"] > 20
    result.stdout.fnmatch_lines(["broken_library: ImportError: no such symbol"])


@pytest.mark.parametrize("name", ["no_such_library", "mlx"])
def test_an_unknown_or_absent_library_is_an_error_of_usage(run, name):
    result = run("--dlpack-library", name)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{name}*"])


def test_a_run_without_its_options_does_not_import_the_kit(run, pytester):
    pytester.makepyfile("import sys\ndef test(): assert 'dlpack_conformance' not in sys.modules")
    run().assert_outcomes(passed=1)


def test_the_package_does_not_import_pytest(pytester):
    code = "import sys, dlpack_conformance; assert 'pytest' not in sys.modules"
    assert pytester.run(sys.executable, "-c", code).ret == 0
