"""The command: its exit status, its reports, and adapters of one's own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from command import PLANTED, command, python

import dlpack_conformance
from dlpack_conformance.checks import rules_of

RULES = ["--rule", "producer.version", "--rule", "producer.empty"]


@pytest.mark.parametrize(
    ("switch", "options", "status"),
    [
        ("", [], 0),
        ("producer.version", [], 1),
        ("producer.empty", [], 0),  # a recommendation
        ("producer.empty", ["--strict"], 1),
    ],
)
def test_the_exit_status_tells_whether_a_rule_is_broken(switch, options, status):
    assert command("--adapter", PLANTED, *RULES, *options, PLANTED=switch).returncode == status


def test_an_unknown_library_gets_an_adapter_to_begin_with():
    result = command("no_such_library")
    assert result.returncode == 2
    assert 'take="no_such_library.from_dlpack({x})"' in result.stderr
    assert command("--adapter", "no_such_file.py").returncode == 2


def test_the_rules_are_listed_with_what_states_them():
    lines = command("--list-rules").stdout.splitlines()
    assert len(lines) == len(rules_of())
    assert lines[0].startswith("producer.device (should): ")
    assert "meaning the exported capsule should be" in lines[0]


@pytest.mark.parametrize("option", ["--junit", "--json", "--html", "--markdown", "--scripts"])
def test_a_folder_that_is_missing_is_told_before_the_run(option):
    result = command("--adapter", PLANTED, option, "no_such_folder/file")
    assert result.returncode == 2
    assert "there is no folder no_such_folder" in result.stderr
    assert "checking" not in result.stderr


def test_the_reports_are_written_and_progress_is_told(tmp_path):
    files = {name: tmp_path / name for name in ("json", "junit", "markdown", "html")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    result = command("--adapter", PLANTED, *RULES, *options, PLANTED="producer.version")
    assert "  producer.version: the struct says version 2.3 [max_version=(1, 0)]" in result.stdout
    assert "planted: 7 cases in " in result.stderr
    (library,) = json.loads(files["json"].read_text())["libraries"]
    assert library["results"][0]["struct"]["fields"]["major"] == 2
    assert all("producer.version" in path.read_text() for path in files.values())


def test_a_script_of_a_fault_runs_alone(tmp_path):
    switch = {"PLANTED": "producer.version"}
    shown = command("--adapter", PLANTED, "--script", "producer.version", **switch)
    assert shown.returncode == 0
    done = python("-c", shown.stdout)
    assert done.returncode == 1
    assert "AssertionError: the struct says version 2.3" in done.stderr
    command("--adapter", PLANTED, *RULES, "--scripts", str(tmp_path / "scripts"), **switch)
    (script,) = (tmp_path / "scripts").iterdir()
    assert script.name == "planted.producer.version.py"
    assert script.read_text() == shown.stdout
    assert command("--adapter", PLANTED, "--script", "producer.version", PLANTED="").returncode == 2


@pytest.mark.parametrize("rule", ["consumer.major", "producer.other-device", "producer.legacy"])
def test_a_script_passes_with_a_library_that_keeps_the_rule(monkeypatch, rule):
    monkeypatch.setenv("PLANTED", rule)
    (first, *_) = dlpack_conformance.run(PLANTED, [rule]).failures()
    script = "\n".join(first.reproduction)
    assert "AssertionError" in python("-c", script).stderr
    kept = script.replace(f"planted.Library('{rule}'", "planted.Library(''")
    assert python("-c", kept).returncode == 0


def test_a_check_that_ends_its_process_is_a_result_and_the_others_go_on(monkeypatch):
    monkeypatch.setenv("PLANTED", "consumer.null-deleter")
    report = dlpack_conformance.run(PLANTED, ["consumer.null-deleter", "consumer.minor"])
    assert report.status("consumer.null-deleter") == "crashed"
    assert {result.seen for result in report.failures()} == {"SIGSEGV"}
    assert report.failures()[0].reproduction[-1] == "del y; gc.collect()"
    assert report.status("consumer.minor") == "kept"


def test_cases_that_are_alike_are_left_out_after_two_that_fail(monkeypatch):
    monkeypatch.setenv("PLANTED", "consumer.strides")
    results = dlpack_conformance.run(PLANTED, ["consumer.strides"]).of("consumer.strides")
    reversed_ = [result.status for result in results if result.case.startswith("reversed, ")]
    assert reversed_ == ["broken"] * 2 + ["not applicable"] * 3
    results = dlpack_conformance.run(PLANTED, ["consumer.strides"], seed=None).results
    reversed_ = {result.status for result in results if result.case.startswith("reversed, ")}
    assert reversed_ == {"broken"}


def test_a_library_that_is_not_installed_is_no_crash(tmp_path):
    adapter = tmp_path / "absent.py"
    adapter.write_text(
        "from dlpack_conformance import Adapter\n"
        "ADAPTER = Adapter(name='no_such_library', setup='import no_such_library', array='[]')\n"
    )
    assert dlpack_conformance.run(str(adapter)).problem == "not installed"
    adapter.write_text(adapter.read_text().replace("name=", "module='json', name="))
    assert "ModuleNotFoundError" in dlpack_conformance.run(str(adapter)).problem


def test_a_package_offers_its_adapter_by_an_entry_point(tmp_path):
    information = tmp_path / "mine-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[dlpack_conformance]\nmine = planted_adapter\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    result = command("mine", "--rule", "producer.version", PYTHONPATH=path, PLANTED="")
    assert result.returncode == 0, result.stderr
    assert "planted 1: musts 1 of 1\n" in result.stdout


def test_a_copy_of_its_folder_runs_under_any_name(tmp_path):
    folder = pathlib.Path(dlpack_conformance.__file__).parent
    shutil.copytree(folder, tmp_path / "kit", ignore=shutil.ignore_patterns("__pycache__"))
    path = [str(tmp_path), *(entry for entry in sys.path if "site-packages" in entry)]
    result = subprocess.run(
        [sys.executable, "-m", "kit", "numpy", "--rule", "producer.device"],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(path)),
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    assert "shoulds 1 of 1" in result.stdout


def test_it_imports_no_other_package():
    code = "import sys, dlpack_conformance; print({'dovetail', 'numpy'} & set(sys.modules))"
    assert python("-c", code).stdout == "set()\n"
