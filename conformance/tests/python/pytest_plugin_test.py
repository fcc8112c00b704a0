"""pytest --dlpack-library=NAME: a test for each rule, which fails as the rule is broken."""

import os
import sys

import pytest
from command import PLANTED

from dlpack_conformance.checks import rules_of

RULES = rules_of()

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
    result.assert_outcomes(
        passed=len(RULES) - 1, skipped=1
    )  # of libraries without read-only arrays
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PASSED dlpack::planted::producer.device"])


def test_a_broken_rule_fails_with_what_was_seen_and_its_reproduction(run):
    result = run(f"--dlpack-adapter={PLANTED}", "-k", "producer.version", broken="producer.version")
    result.assert_outcomes(failed=1, passed=1, deselected=len(RULES) - 2)
    result.stdout.fnmatch_lines(
        [
            "*the struct says version 2.3",
            "The struct says the version of its layout* (must; dlpack.h 1.3: *",
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
    result = run("--dlpack-library", "numpy")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["XFAIL *::producer.empty - *: data is 0x* (should: *)"])
    result = run("--dlpack-library", "numpy", "-k", "buffer", "--dlpack-protocol=all")
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["*: a refusal is no BufferError: ValueError: *"])


def test_an_expected_fault_is_an_xfail_and_fails_when_it_is_gone(run, pytester):
    pytester.makefile(
        ".toml",
        expected='[[fault]]\nlibrary = "planted"\nrule = "producer.version"\nreason = "known"\n',
    )
    options = [f"--dlpack-adapter={PLANTED}", "--dlpack-expected=expected.toml"]
    options += ["-k", "producer.version or producer.type"]
    result = run(*options, broken="producer.version")
    outcomes = result.parseoutcomes()
    assert (result.ret, outcomes["xfailed"]) == (0, 1)
    result.stdout.fnmatch_lines(["XFAIL *the struct says version 2.3* (known)"])
    result = run(*options)
    assert result.parseoutcomes()["failed"] == 1
    result.stdout.fnmatch_lines(["producer.version: an expected fault is gone"])


def test_the_tests_stand_beside_others_and_have_a_mark(run, pytester):
    pytester.makepyfile("def test_mine(): pass")
    rules = "producer.device or mine"
    adapter = f"--dlpack-adapter={PLANTED}"
    run(adapter, "-k", rules).assert_outcomes(passed=3, deselected=len(RULES) - 2)
    result = run(adapter, "-m", "not dlpack", "--strict-markers")
    result.assert_outcomes(passed=1, deselected=len(RULES))


def test_any_order_and_a_part_of_the_tests_are_possible(run, pytester):
    pytester.makeconftest("def pytest_collection_modifyitems(items): items.reverse()")
    result = run(f"--dlpack-adapter={PLANTED}", "-k", "stride", broken="consumer.unused-strides")
    outcomes = result.parseoutcomes()
    # (The layouts of consumer.strides have sizes of 1, too.)
    assert (outcomes["failed"], outcomes["passed"]) == (2, 2)


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
