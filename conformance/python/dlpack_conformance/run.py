"""Runs the checks of a library in processes of their own, and collects the results."""

import subprocess
import sys

from . import adapters
from .checks import all_checks
from .processes import answers, environment
from .results import BROKEN, CRASHED, Report, Result
from .rules import BY_ID, ROLES
from .script import reproduction


def run(library, rules=None, device="cpu"):
    """Check a library with arrays on "cpu" or "cuda" (the first device), and return its Report.

    `library` is a name that the kit knows, or the path of a file with an ADAPTER; `rules` are the
    ids of the rules to check (default: all). Raises LookupError if there is no such adapter, or no
    such device.
    """
    report = Report(adapters.load(library).name)
    for _ in stream(library, report, rules, device):
        pass
    return report


def stream(library, report, rules=None, device="cpu"):
    """The same for an empty Report, which grows by each Result that this yields."""
    adapter = adapters.load(library)
    if device == "cuda":
        _need_cuda()
    if not adapters.is_installed(adapter):
        report.problem = "not installed"
        return
    adapter = adapter.on(device)
    if adapter is None:
        report.problem = f"its adapter makes no arrays on {device}"
        return
    arguments = [library, device]
    for task, answer in answers(f"{__package__}.worker", arguments, tasks_of(adapter, rules)):
        if task is None:
            report.version = answer.get("version", report.version)
            report.problem = answer.get("problem", report.problem)
        else:
            report.results.append(_result(adapter, task, **answer))
            yield report.results[-1]


def _need_cuda():
    code = f"from {__package__}.cuda import problem; print(problem() or '', end='')"
    command = [sys.executable, "-c", code]
    asked = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment())
    if asked.returncode or asked.stdout:
        raise LookupError(f"no CUDA device: {asked.stdout or asked.returncode}")


def _result(adapter, task, status, seen, lines, errors="", struct=None):
    rule, _, case = task
    shown = reproduction(adapter, lines) if status in (BROKEN, CRASHED) else []
    return Result(rule, case, status, seen, shown, errors, struct)


def tasks_of(adapter, rules=None):
    """The worker's tasks, in the order of the rules."""
    tasks, seen = [], {}
    for check in all_checks():
        if getattr(adapter, ROLES[BY_ID[check.rule].role]) is None:
            continue
        index = seen[check.rule] = seen.get(check.rule, -1) + 1
        if adapter.device in check.devices and (rules is None or check.rule in rules):
            tasks += [[check.rule, index, case] for case in check.cases_of(adapter)]
    return tasks
