"""python -m dlpack_conformance: its exit status, its reports, and adapters of one's own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from command import PLANTED, command, python

import dlpack_conformance


@pytest.mark.parametrize(
    ("broken", "options", "status"),
    [
        ("", [], 0),
        ("producer.device", [], 1),
        ("producer.empty", [], 0),  # a recommendation
        ("producer.empty", ["--strict"], 1),
    ],
)
def test_the_exit_status_tells_whether_a_rule_is_broken(broken, options, status):
    rules = ["--rule", "producer.device", "--rule", "producer.empty"]
    assert command("--adapter", PLANTED, *rules, *options, PLANTED=broken).returncode == status


def test_an_unknown_library_and_a_missing_file_are_errors():
    for arguments in (["no_such_library"], ["--adapter", "no_such_file.py"]):
        result = command(*arguments)
        assert result.returncode == 2
        assert "no_such" in result.stderr


def test_the_rules_are_listed():
    lines = command("--list-rules").stdout.splitlines()
    assert len(lines) == len(dlpack_conformance.RULES)
    assert lines[0].startswith("producer.device (must): ")


def test_the_reports_say_what_was_seen_and_how_to_see_it(tmp_path):
    files = {name: tmp_path / name for name in ("json", "junit", "markdown", "html")}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    rules = ["--rule", "producer.device", "--rule", "producer.device-id"]
    result = command("--adapter", PLANTED, *rules, *options, PLANTED="producer.device")
    assert "producer.device: the capsule says device (1, 0)" in result.stdout
    assert "x.__dlpack__(max_version=(1, 0))" in result.stdout

    document = json.loads(files["json"].read_text())
    (library,) = document["libraries"]
    assert [entry["id"] for entry in document["rules"]] == rules[1::2]
    assert [entry["status"] for entry in library["results"]] == ["broken", "kept"]
    assert "assert" in library["results"][0]["reproduction"]
    struct = library["results"][0]["struct"]
    assert (struct["name"], struct["fields"]["device_id"]) == ("dltensor_versioned", 0)
    assert struct["hex"][0].startswith("00  01000000 03000000 ")  # version 1.3

    (suite,) = ElementTree.parse(files["junit"]).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (failure,) = suite.iter("failure")
    assert failure.get("type") == "broken"

    assert (
        "| `producer.device` (must) | `__dlpack_device__()` returns"
        in files["markdown"].read_text()
    )
    assert 'id="library-1.producer.device"' in files["html"].read_text()


def test_a_check_that_ends_its_process_is_a_result():
    os.environ["PLANTED"] = "consumer.null-deleter"
    try:
        report = dlpack_conformance.run(PLANTED, ["consumer.null-deleter", "consumer.minor"])
    finally:
        del os.environ["PLANTED"]
    assert report.status("consumer.null-deleter") == "crashed"
    assert {result.seen for result in report.failures()} == {"SIGSEGV"}
    assert report.failures()[0].reproduction[-1] == "del y; gc.collect()"
    assert report.status("consumer.minor") == "kept"


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
    result = command("mine", "--rule", "producer.device", PYTHONPATH=path, PLANTED="")
    assert result.returncode == 0, result.stderr
    assert "planted 1: 1 kept\n" in result.stdout


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
    assert "producer.device" in result.stdout


def test_it_imports_no_other_package():
    code = "import sys, dlpack_conformance; print({'dovetail', 'numpy'} & set(sys.modules))"
    assert python("-c", code).stdout == "set()\n"
