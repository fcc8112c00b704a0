"""Runs the checks of a library in processes of their own, and collects the results."""

import collections
import subprocess
import sys

from . import adapters
from .cases import WHOLE
from .checks import all_checks, rules_of
from .processes import answers, environment
from .results import BROKEN, CRASHED, NOT_APPLICABLE, Report, Result
from .rules import BY_ID, ROLES
from .script import reproduction


def run(library, rules=None, device="cpu", protocol="dlpack", seed=0):
    """Check a library with arrays on "cpu" or "cuda" (the first device), and return its Report.

    `library` is a name that the kit knows, or the path of a file with an ADAPTER; `rules` are the
    ids of the rules to check (default: those of the protocol "dlpack", or "all"). The seed chooses
    the cases; None: all of them. Raises LookupError if there is no such adapter, or no such device.
    """
    report = Report(adapters.load(library).name)
    for _ in stream(library, report, rules, device, protocol, seed):
        pass
    return report


def stream(library, report, rules=None, device="cpu", protocol="dlpack", seed=0):
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
    tasks = tasks_of(adapter, rules, protocol, seed)
    arguments = [library, device, str(seed is WHOLE)]
    for task, answer in answers(f"{__package__}.worker", arguments, tasks):
        if task is None:
            report.version = answer.get("version", report.version)
            report.problem = answer.get("problem", report.problem)
        else:
            report.results.append(_result(adapter, task, **answer))
            yield report.results[-1]
    report.problem = report.problem or _nothing_applies(report)


def _nothing_applies(report):
    """Why no rule of a role applies: the adapter may have a typing error. "": some rule does, or
    few were checked."""
    for role in ("producer", "consumer"):
        results = [r for r in report.results if BY_ID[r.rule].role == role]
        few = len({r.rule for r in results}) < 10
        if not few and all(r.status == NOT_APPLICABLE for r in results):
            seen, _ = collections.Counter(r.seen for r in results).most_common(1)[0]
            return f"no rule of a {role} applies: {seen}"
    return ""


def _need_cuda():
    code = f"from {__package__}.cuda import problem; print(problem() or '', end='')"
    command = [sys.executable, "-c", code]
    asked = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment())
    if asked.returncode or asked.stdout:
        raise LookupError(f"no CUDA device: {asked.stdout or asked.returncode}")


def _result(adapter, task, status, seen, lines, errors="", struct=None):
    shown = reproduction(adapter, lines) if status in (BROKEN, CRASHED) else []
    return Result(*task, status, seen, shown, errors, struct)


def tasks_of(adapter, rules=None, protocol="dlpack", seed=0):
    """The worker's tasks, in the order of the rules."""
    checks = all_checks()
    return [
        [rule.id, case]
        for rule in rules_of(adapter.device, protocol, rules)
        if getattr(adapter, ROLES[rule.role]) is not None
        for case in checks[rule.id].cases_of(adapter, seed)
    ]
