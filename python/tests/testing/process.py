"""Runs Python code in a fresh process, for code that may crash or needs a clean interpreter."""

import os
import subprocess
import sys
import textwrap


def _run(code, *options, **settings):
    path = os.pathsep.join(filter(None, sys.path))
    environment = dict(os.environ, PYTHONPATH=path, **settings)
    return subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )


def run_failing(code, **settings):
    """Return the exit status of `code`, negative for a signal, and its last line of errors."""
    result = _run(code, **settings)
    return result.returncode, (result.stderr.splitlines() or [""])[-1]


def run_python(code, *options, **settings):
    """Return the output of `code`, run with `settings` in its environment. Raises AssertionError,
    with all output, if the exit status is not 0."""
    result = _run(code, *options, **settings)
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    return result.stdout
