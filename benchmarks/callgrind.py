"""Counts instructions by valgrind's callgrind: the same in every run, unlike times.

    if reason := callgrind.missing():
        ...                                        # why it can't be done here
    counts = callgrind.count(["exchange_steps"])   # {"empty/dovetail": 211.0, ...} a turn

The program marks what is counted (callgrind_marks.h): for each name at least two numbers of turns,
as in "empty/dovetail/1000", whose difference is free of what is done once.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

UNMARKED = 77  # the exit status of a program that was built without valgrind's header


class UnmarkedError(RuntimeError):
    """The program has no marks."""


def missing():
    """Why nothing can be counted here, or None."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed here (on Debian: apt-get install valgrind)"
    return None


def count(command, **options):
    """The instructions of a turn, by name. RuntimeError if the program fails, UnmarkedError if it
    was built where valgrind was not installed.
    """
    with tempfile.TemporaryDirectory() as directory:
        files = pathlib.Path(directory) / "out"
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
        result = subprocess.run(
            [*valgrind, f"--callgrind-out-file={files}", *command],
            capture_output=True,
            text=True,
            **options,
        )
        turns = collections.defaultdict(dict)
        for file in sorted(files.parent.glob("out.*"), key=lambda f: int(f.suffix[1:])):
            text = file.read_text()
            label = re.search(r"^desc: Trigger: Client Request: (.*)/(\d+)$", text, re.MULTILINE)
            if label:
                total = re.search(r"^summary: (\d+)", text, re.MULTILINE)
                turns[label[1]][int(label[2])] = int(total[1])
    if result.returncode == UNMARKED:
        raise UnmarkedError("built without valgrind's header; `./bazelw clean` has it built anew")
    if result.returncode != 0 or not turns:
        raise RuntimeError(f"{command[0]}:\n{result.stdout}{result.stderr}")
    return {name: _of_one(counts) for name, counts in turns.items()}


def _of_one(counts):
    (few, least), *_, (many, most) = sorted(counts.items())
    return (most - least) / (many - few)
