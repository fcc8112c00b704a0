"""`//benchmarks` lists the benchmarks, and runs those that it is asked to."""

import json
import pathlib
import subprocess
import sys

import catalog
import pytest

SOURCES = pathlib.Path("benchmarks")
PROGRAM = "benchmarks/tests/ratio_report_sample=benchmarks/exchange_threads.cc"
QUICK = ("--repetitions=2", "--filter=step")


def run(*arguments, programs=(PROGRAM,)):
    command = [sys.executable, catalog.__file__, str(len(programs)), *programs, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_benchmark_opens_with_a_question():
    sources = [SOURCES / "doors/BUILD", *SOURCES.glob("*.cc"), *SOURCES.glob("*.py")]
    assert len(sources) > 10
    for source in sources:
        asked = catalog.question(source)
        assert asked[0].isupper() and asked.count("?") == 1 and len(asked) > 20, source


def test_without_arguments_it_lists_names_and_questions():
    output = run(programs=(PROGRAM, "*a/other=benchmarks/cast.cc")).stdout
    assert "ratio_report_sample  Do exchanges scale with threads?\n" in output
    assert "\nother*" in "\n" + output
    assert "--all" in output


def test_all_leaves_out_what_has_a_star():
    output = run("--all", *QUICK, programs=(PROGRAM, "*a/other=benchmarks/cast.cc")).stdout
    assert "== ratio_report_sample ==" in output and "== other ==" not in output


def test_one_file_has_the_benchmarks_of_all_programs(tmp_path):
    file = tmp_path / "all.json"
    assert run("ratio_report_sample", *QUICK, f"--json={file}").returncode == 0
    document = json.loads(file.read_text())
    assert {run["run_name"] for run in document["benchmarks"]} == {
        "ratio_report_sample:step/dovetail",
        "ratio_report_sample:step/other",
    }
    assert document["context"]["num_cpus"] >= 1


def test_the_others_run_after_one_that_fails_which_is_named(tmp_path):
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\nexit 3\n")
    failing.chmod(0o755)
    done = run("--all", *QUICK, programs=(f"{failing}=benchmarks/cast.cc", PROGRAM))
    assert done.returncode == 1
    assert done.stderr.strip().endswith("failed: failing")
    assert "step/other" in done.stdout


@pytest.mark.parametrize("arguments", [("nothing",), ("--unknown",)])
def test_unknown_names_and_flags_are_refused(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert arguments[0] in done.stderr
