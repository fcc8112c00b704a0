"""Runs a probe, a file of this folder, in a fresh Python process.

answer = ask("probe_peer.py", "torch")
answer.values    # the dictionary that the probe printed as JSON after "answer: ", or None
answer.problem   # why there is none: "ended by SIGSEGV"
answer.warnings  # what it wrote to stderr
"""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys

_ANSWER = "answer: "  # begins the probe's line; other lines are those of libraries
TIMEOUT = 120.0  # seconds; PyTorch and TensorFlow can take 20 from a cold disk


@dataclasses.dataclass
class Answer:
    values: dict | None
    problem: str = ""
    warnings: str = ""


def ask(probe, *arguments, timeout=TIMEOUT):
    # The text and not the path: Python would put the probe's folder on sys.path.
    source = pathlib.Path(__file__).with_name(probe).read_text(encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-c", source, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, warnings = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with its own children, which have its pipes
        process.communicate()
        return Answer(None, f"did not end within {timeout:g} s")
    if process.returncode:
        return Answer(None, _ending(process.returncode, warnings), warnings)
    answers = [line for line in output.splitlines() if line.startswith(_ANSWER)]
    if not answers:  # an imported library ended the process, as sys.exit() does
        return Answer(None, "ended with status 0, without an answer", warnings)
    return Answer(json.loads(answers[-1].removeprefix(_ANSWER)), "", warnings)


def _ending(status, warnings):
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    lines = [line for line in warnings.splitlines() if line.strip()]
    return lines[-1].strip() if lines else f"ended with status {status}"
