"""The command: its exit status, its reports, and adapters of one's own."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ADAPTER = (", "SyntaxError: '(' was never closed"),
        ("", "has no attribute 'ADAPTER'"),
        ("ADAPTER = 7", "no attribute 'check'"),
        ("ADAPTER = Adapter('a', 'b', dtypes='float23')", "the kit has no type float23"),
        ("ADAPTER = Adapter('a', 'b', views={'tilted': '{x}'})", "the kit has no layout tilted"),
        ("ADAPTER = Adapter('a', 'b', array='{dtyp}')", "array has 'dtyp': '{dtyp}'"),
    ],
)
def test_an_adapter_that_is_none_is_told_and_is_no_fault_of_the_library(tmp_path, text, told):
    adapter = tmp_path / "adapter.py"
    adapter.write_text(f"from dlpack_conformance import Adapter\n{text}\n")
    with pytest.raises(LookupError, match=re.escape(told)):
        dlpack_conformance.run(str(adapter))


def mine(folder, library, **fields):
    """The path of an adapter for a library that is NumPy and these lines."""
    (folder / "mine.py").write_text(f"from numpy import *\n{library}\n")
    fields = {
        "name": "mine",
        "setup": f"import sys; sys.path.append({str(folder)!r}); import mine",
        "module": "numpy",
        "dtype": "mine.{name}",
        "array": "mine.array({values}, {dtype})",
        "take": "mine.from_dlpack({x})",
        "values": "{y}.tolist()",
        **fields,
    }
    adapter = folder / "mine_adapter.py"
    adapter.write_text(
        f"import dlpack_conformance\nADAPTER = dlpack_conformance.Adapter(**{fields})"
    )
    return str(adapter)


@pytest.mark.parametrize(
    ("library", "problem"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os._exit(3)", "the process that imports it: exit status 3"),
        ("import os; os.abort()", "the process that imports it: SIGABRT"),
        ("import time; time.sleep(600)", "the process that imports it: no answer in 2 s"),
        ("def array(*_): raise ValueError(7)", "no rule of a producer applies: the library can't"),
    ],
)
def test_a_library_that_can_not_be_checked_is_a_problem(tmp_path, monkeypatch, library, problem):
    monkeypatch.setattr(dlpack_conformance.processes, "IMPORT_SECONDS", 2)
    assert dlpack_conformance.run(mine(tmp_path, library)).problem.startswith(problem)


_LOCK = """\
import threading, time
lock, plain = threading.Lock(), array
def hold():
    while True:
        with lock: time.sleep(0.01)
threading.Thread(target=hold).start()
def array(*arguments):
    with lock: return plain(*arguments)
"""


@pytest.mark.parametrize(
    "library",
    [
        "import os, time\nif os.fork() == 0: time.sleep(60); os._exit(0)",  # keeps files open
        "import os; print('no answer'); os.write(1, b'{')",
        _LOCK,
    ],
    ids=["forks", "prints", "has threads"],
)
def test_what_a_library_does_at_its_import_hinders_no_check(tmp_path, library):
    start = time.monotonic()
    report = dlpack_conformance.run(mine(tmp_path, library), ["producer.device"])
    assert report.status("producer.device") == "kept"
    assert time.monotonic() - start < 50


def test_any_bytes_of_a_library_can_be_shown_and_written(tmp_path):
    library = "def from_dlpack(x): import os; os.write(2, b'\\xff'); raise ValueError('\\udcff')"
    options = [part for name in ("json", "junit") for part in (f"--{name}", str(tmp_path / name))]
    rules = ["--rule", "consumer.accepts"]
    result = command(
        "--adapter", mine(tmp_path, library), *rules, *options, PYTHONIOENCODING="ascii"
    )
    assert result.returncode == 0, result.stderr
    library = "def from_dlpack(x): import os; os.write(2, b'\\xff'); os.abort()"
    (result,) = dlpack_conformance.run(mine(tmp_path, library), ["consumer.scalar"]).results[:1]
    assert result.errors == "\N{REPLACEMENT CHARACTER}"


def test_a_file_that_can_not_be_written_is_told(tmp_path):
    result = command("--adapter", PLANTED, *RULES, "--junit", str(tmp_path))
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == f"[Errno 21] Is a directory: {str(tmp_path)!r}"


def test_an_interrupt_ends_it_and_its_processes(tmp_path):
    adapter = mine(
        tmp_path,
        "import os, time; print(os.getpid(), file=open('worker', 'w'))\n"
        "def array(*_): time.sleep(600)",
    )
    arguments = [sys.executable, "-m", "dlpack_conformance", "--adapter", adapter]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(arguments, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    worker = tmp_path / "worker"
    while not (worker.exists() and worker.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.kill(int(worker.read_text()), 0)


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
    told = command("--adapter", PLANTED, *RULES, **switch).stdout.splitlines()[-1]
    assert f"dlpack-conformance --adapter {PLANTED} --script producer.version >" in told
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
