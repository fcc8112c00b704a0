"""Runs `python -m dovetail.conformance` in a process of its own."""

import os
import pathlib
import subprocess
import sys

PLANTED = str(pathlib.Path(__file__).with_name("planted_adapter.py"))


def command(*arguments, **variables):
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run(
        [sys.executable, "-m", "dovetail.conformance", *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )
