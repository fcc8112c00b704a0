"""Runs the checks of a library in processes of their own, and collects the results."""

import json
import os
import subprocess
import sys
import tempfile

from . import adapters
from .checks import all_checks
from .results import CRASHED, Report, Result
from .rules import BY_ID
from .script import reproduction


def run(library, rules=None, device="cpu"):
    """Check a library with arrays on "cpu" or "cuda" (the first device), and return its Report.

    `library` is a name that the kit knows, or the path of a file with an ADAPTER; `rules` are the
    ids of the rules to check (default: all). Raises LookupError if there is no such adapter, or no
    such device.
    """
    adapter = adapters.load(library)
    report = Report(adapter.name)
    if device == "cuda":
        _need_cuda()
    if not adapters.is_installed(adapter):
        report.problem = "not installed"
        return report
    adapter = adapter.on(device)
    if adapter is None:
        report.problem = f"its adapter makes no arrays on {device}"
        return report
    tasks = _tasks(adapter, rules)
    while tasks and not report.problem:
        before = len(report.results)
        _run_worker(adapter, library, tasks, report)
        done = len(report.results) - before
        tasks = tasks[done:]
        if not done and not report.problem:
            report.problem = "the process that imports it ends without an answer"
    return report


def _need_cuda():
    code = f"from {__package__}.cuda import problem; print(problem() or '', end='')"
    command = [sys.executable, "-c", code]
    asked = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=_environment())
    if asked.returncode or asked.stdout:
        raise LookupError(f"no CUDA device: {asked.stdout or asked.returncode}")


def _environment():
    variables = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # Streams beyond this number share a queue of the device, and wait for each other.
    variables["CUDA_DEVICE_MAX_CONNECTIONS"] = "32"
    return {**os.environ, **variables}


def _tasks(adapter, rules):
    tasks, seen = [], {}
    roles = {"producer": adapter.array, "consumer": adapter.take, "exchange": adapter.array}
    for check in all_checks():
        if roles[BY_ID[check.rule].role] is None:
            continue
        index = seen[check.rule] = seen.get(check.rule, -1) + 1
        if adapter.device in check.devices and (rules is None or check.rule in rules):
            tasks += [[check.rule, index, case] for case in check.cases_of(adapter)]
    return tasks


def _run_worker(adapter, library, tasks, report):
    """Run a worker until it ends, and add its results. A check that ended it has crashed."""
    command = [sys.executable, "-m", f"{__package__}.worker", library, adapter.device]
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as given:
        given.write("".join(json.dumps(task) + "\n" for task in tasks))
        given.seek(0)
        worker = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=_environment(),
        )
        begun, lines, end_of_errors = None, [], 0
        for answer in map(json.loads, worker.stdout):
            report.version = answer.get("version", report.version)
            report.problem = answer.get("problem", report.problem)
            if "line" in answer:
                lines.append(answer["line"])
            if "begin" in answer:
                begun, lines = answer["begin"], []
                end_of_errors = errors.seek(0, os.SEEK_END)
            if "status" in answer:
                result = Result(*begun, **answer)
                if result.status == CRASHED:
                    result.errors = _text_from(errors, end_of_errors)
                report.results.append(result)
                begun = None
        worker.wait()
        if begun:
            shown = reproduction(adapter, lines)
            text = _text_from(errors, end_of_errors)
            seen = f"exit status {worker.returncode}"
            report.results.append(Result(*begun, CRASHED, seen, shown, text))


def _text_from(file, position):
    """The first five lines of a file from a position on."""
    file.seek(position)
    return "\n".join(file.read().splitlines()[:5])
