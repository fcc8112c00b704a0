"""What the kit finds in real libraries: the faults that ship as known, and no others.

When a new version mends a fault, a test fails here: write the file of known/ anew by --update.
"""

import pathlib

import pytest
from command import command, python

from dlpack_conformance import adapters, expected, run

KNOWN = sorted(pathlib.Path(expected.__file__).with_name("known").glob("*.toml"))
INSTALLED = [path.stem for path in KNOWN if path.stem in adapters.installed()]

# Paddle may hang in its exit handlers: an exception ends the process at once.
_AT_ONCE = """
import os, sys
def hook(*error): sys.__excepthook__(*error), sys.stderr.flush(), os._exit(1)
sys.excepthook = hook
"""


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_a_file_of_known_faults_is_of_its_library_and_tells_each_reason(path):
    for entry in expected.read(path):
        assert entry["library"] == path.stem
        assert entry["versions"]
        assert "not explained" not in entry["reason"]


@pytest.mark.parametrize("library", INSTALLED)
def test_a_library_has_the_faults_that_are_known_of_it(library):
    result = command(library, "--expected", library)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("library", INSTALLED)
def test_the_scripts_of_its_faults_run_alone_and_show_them(library):
    first = {result.rule: result for result in run(library).failures(["must"])}
    for result in first.values():
        done = python("-c", _AT_ONCE + "\n".join(result.reproduction))
        error = (done.stderr.splitlines() or [""])[-1]
        if result.status == "crashed":
            assert done.returncode < 0, error
        else:
            assert done.returncode == 1, result.name
            kind, _, message = error.partition(": ")
            assert message[:10] in result.seen or kind.split(".")[-1] in result.seen
