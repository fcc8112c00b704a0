"""Counts instructions with valgrind's callgrind. Unlike times, counts are the same in every run.

    if reason := callgrind.missing():
        ...                                        # why counting is impossible here
    counts = callgrind.count(["exchange_steps"])   # {"empty/dovetail": 211.0, ...} per iteration

The program marks what to count (callgrind_marks.h). For each name it runs at least two numbers of
iterations, such as "empty/dovetail/1000". Their difference cancels the cost of the set-up.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import tempfile

UNMARKED = 77  # exit status of a program that was built without valgrind's header


class UnmarkedError(RuntimeError):
    """The program was built without marks."""


def missing():
    """Return why counting is impossible here, or None."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed here (on Debian: apt-get install valgrind)"
    return None


def count(command, **options):
    """Return the instructions per iteration, by name.

    Raises RuntimeError if the program fails, and UnmarkedError if it was built without valgrind.
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
        iterations = collections.defaultdict(dict)
        for file in sorted(files.parent.glob("out.*"), key=lambda f: int(f.suffix[1:])):
            text = file.read_text()
            label = re.search(r"^desc: Trigger: Client Request: (.*)/(\d+)$", text, re.MULTILINE)
            if label:
                total = re.search(r"^summary: (\d+)", text, re.MULTILINE)
                iterations[label[1]][int(label[2])] = int(total[1])
    if result.returncode == UNMARKED:
        raise UnmarkedError("built without valgrind's header; run `./bazelw clean` to rebuild it")
    if result.returncode != 0 or not iterations:
        raise RuntimeError(f"{command[0]}:\n{result.stdout}{result.stderr}")
    return {name: _of_one(counts) for name, counts in iterations.items()}


def _of_one(counts):
    (few, least), *_, (many, most) = sorted(counts.items())
    return (most - least) / (many - few)
