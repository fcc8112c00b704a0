"""The process that runs the checks of a library: imports it once, and forks for each check.

    python -m dovetail.conformance.worker ADAPTER DEVICE < tasks

A task is a JSON list [rule, index of the check among those of the rule, case]. The answers go to
stdout, as JSON objects: first the library's version, then for each task its lines and its result.
Without fork() the checks share this process, which ends with one that fails, so that what that has
spoilt harms no other; run.py then starts another process. So it is on CUDA devices: a driver that
is initialised can't be used after a fork, and to initialise it takes seconds.
"""

import faulthandler
import gc
import json
import os
import select
import signal
import sys
import time

from . import adapters
from .checks import all_checks
from .results import BROKEN, CRASHED, KEPT, NOT_APPLICABLE
from .script import (
    BrokenRuleError,
    KeptRuleError,
    NotApplicableError,
    Script,
    describe,
    reproduction,
)

SECONDS = 60  # that a check may take


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    adapter = adapters.load(sys.argv[1]).on(sys.argv[2])
    tasks = [json.loads(line) for line in sys.stdin]
    try:
        script = Script(adapter)
        _answer(answers, version=str(script.evaluate(adapter.version)))
    except Exception as error:  # the library can't be imported
        _answer(answers, problem=describe(error))
        return
    checks = {}
    for check in all_checks():
        checks.setdefault(check.rule, []).append(check.function)
    forks = hasattr(os, "fork") and adapter.device == "cpu"
    run = _run_in_child if forks else _run_here
    for rule, index, case in tasks:
        _answer(answers, begin=[rule, case])
        failed = run(answers, adapter, checks[rule][index], case)
        if failed and not forks:
            break
    answers.flush()
    os._exit(0)  # skips the exit handlers of libraries


def _answer(answers, **fields):
    answers.write(json.dumps(fields) + "\n")
    answers.flush()


def _run(answers, adapter, function, case):
    """Run a check, and answer with its lines and its result. Returns whether it failed."""
    script = None
    lines = []
    try:
        script = Script(adapter, lambda line: _answer(answers, line=line))
        lines = script.lines
        script.begin()
        function(script) if case is None else function(script, case)
        status, seen = KEPT, ""
    except KeptRuleError as error:
        status, seen = KEPT, str(error)
    except NotApplicableError as error:
        status, seen = NOT_APPLICABLE, str(error)
    except BrokenRuleError as error:
        status, seen = BROKEN, str(error)
    except Exception as error:
        status, seen = BROKEN, describe(error)
    if script:
        script.end()
    shown = reproduction(adapter, lines) if status == BROKEN else []
    _answer(answers, status=status, seen=seen, reproduction=shown)
    gc.collect()
    _scripts.append(script)
    return status == BROKEN


# A library may call a deleter, which is a script's function, long after the script.
_scripts: list = []


def _run_here(answers, adapter, function, case):
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    failed = _run(answers, adapter, function, case)
    faulthandler.cancel_dump_traceback_later()
    return failed


def _run_in_child(answers, adapter, function, case):
    incoming, outgoing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(incoming)
        with os.fdopen(outgoing, "w") as pipe:
            _run(pipe, adapter, function, case)
        os._exit(0)
    os.close(outgoing)
    text, in_time = _read_all(incoming)
    if not in_time:
        os.kill(child, signal.SIGKILL)
    os.close(incoming)
    _, status = os.waitpid(child, 0)
    received = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    result = received[-1] if received and "status" in received[-1] else None
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number or result is None:
        seen = signal.Signals(number).name if number else f"exit status {status >> 8}"
        lines = [message["line"] for message in received if "line" in message]
        result = {
            "status": CRASHED,
            "seen": seen if in_time else f"did not end in {SECONDS} s",
            "reproduction": reproduction(adapter, lines),
        }
    _answer(answers, **result)


def _read_all(descriptor):
    """Read until the other end is closed. Returns (text, whether that was in time)."""
    parts, end = [], time.monotonic() + SECONDS
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0, end - time.monotonic()))
        if not ready:
            return b"".join(parts).decode(), False
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b"".join(parts).decode(), True
        parts.append(part)


if __name__ == "__main__":
    main()
