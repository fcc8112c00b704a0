"""Runs Python code in a process of its own, which may end badly, or shows what a fresh one does."""

import os
import subprocess
import sys
import textwrap


def run_python(code, *options, **settings):
    """What `code` prints, with `settings` in its environment; an AssertionError with all its output
    if it does not exit with 0."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = dict(os.environ, PYTHONPATH=path, **settings)
    result = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    return result.stdout
