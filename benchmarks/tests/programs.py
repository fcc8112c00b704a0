"""Runs programs of this repository in tests."""

import pathlib
import subprocess


def run(program, *arguments, fails=False):
    """Return what the program prints to stdout, or to stderr if it is expected to fail."""
    done = subprocess.run(
        [pathlib.Path(program).resolve(), *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout
