"""What every Python benchmark shares: its flags, the description of the machine, its results.

    program = report.Program(report.parser(__doc__).parse_args())
    rows = program.measure(rows)
    program.publish("cast_peers", "Casts", "One thread each.", rows)

The flags are those of the C++ benchmarks (harness/command_line.h). If the command line has a
directory, publish() also writes NAME.md, which includes the date and the machine, and NAME.svg
there. Paths are relative to where `bazel run` was called. Only a plot needs matplotlib.
"""

import argparse
import datetime
import json
import os
import pathlib
import re

import machine
import measure

# The packages whose versions matter, by the library's name in the rows.
PACKAGES = {"numpy": "numpy", "torch": "torch", "tvm-ffi": "apache-tvm-ffi"}


def parser(description):
    """Return a parser of the flags that every benchmark has, and of `directory`."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("directory", type=path, nargs="?", help="for a table and a plot")
    made.add_argument(
        "--filter", metavar="REGEX", default="",
        help="only benchmarks (operation/library) whose names match; -REGEX: all others",
    )  # fmt: skip
    made.add_argument(
        "--repetitions", metavar="N", type=_count, help="how often each benchmark is measured"
    )
    made.add_argument(
        "--json", metavar="FILE", type=path,
        help="writes every repetition there; //benchmarks:compare reads it",
    )  # fmt: skip
    return made


def path(text):
    """Return a path of the command line, relative to where `bazel run` was called."""
    return pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / text


def _count(text):
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} is less than 1")
    return count


class Program:
    """A benchmark with its options. It prints the machine, and uses one thread, which is pinned.

    Make it after the imports of the libraries. machine.use_threads(2) lets them use two threads.
    """

    def __init__(self, options):
        self.options = options
        self.context = machine.describe(PACKAGES.values())
        machine.report(self.context)
        machine.use_threads(1)

    @property
    def is_whole(self):
        """Whether the benchmark runs without a filter: only then are means over rows meaningful."""
        return not self.options.filter

    def selects(self, name):
        """Whether --filter lets the benchmark of this name run."""
        regex = self.options.filter
        if regex.startswith("-"):
            return not re.search(regex[1:], name)
        return bool(re.search(regex, name))

    def repetitions(self, default):
        """Return what --repetitions says."""
        return self.options.repetitions or default

    def measure(self, rows, repetitions=measure.REPETITIONS):
        """Measure what --filter selects, and return the rows that have something measured."""
        for row in rows:
            row.functions = {
                name: f for name, f in row.functions.items() if self.selects(f"{row.work}/{name}")
            }
        selected = [row for row in rows if row.functions]
        return measure.measure(selected, self.repetitions(repetitions))

    def publish(self, name, title, note, rows, more="", others=()):
        """Print the rows' table, and `more` below it. `note` says what was measured and how.

        `others` are rows that only the JSON file has.
        """
        if not rows:
            print(f"No benchmark matches {self.options.filter!r}.")
        if self.options.json is not None:
            self.write_json([*rows, *others])
        if not rows:
            return
        text = measure.table(rows) + (f"\n\n{more}" if more else "")
        print(text)
        if noise := measure.noise([*rows, *others]):
            print(f"\n{noise}")
        if self.options.directory is not None:
            self._write(name, title, note, rows, text)

    def write_json(self, rows):
        """Write each repetition of the rows to the file of --json."""
        benchmarks = [
            {
                "name": f"{row.work}/{library}",
                "run_name": f"{row.work}/{library}",
                "run_type": "iteration",
                "repetitions": len(times),
                "repetition_index": index,
                "threads": 1,
                "iterations": time.calls,
                "real_time": time.real,
                "cpu_time": time.cpu,
                "time_unit": "ns",
            }
            for row in rows
            for library, times in row.times.items()
            for index, time in enumerate(times)
        ]
        document = {"context": self.context, "benchmarks": benchmarks}
        self.options.json.write_text(json.dumps(document, indent=2) + "\n")

    def _write(self, name, title, note, rows, text):
        import plot

        directory = self.options.directory
        directory.mkdir(parents=True, exist_ok=True)
        plotted = f"![The table as a bar chart]({name}.svg)"
        head = f"# {title}\n\n{note}\n\n{self._circumstances(rows)}\n\n{plotted}"
        (directory / f"{name}.md").write_text(f"{head}\n\n{text}\n")
        heading = f"{title}: time per call in ns (shorter is faster)"
        plot.save(rows, heading, directory / f"{name}.svg")

    def _circumstances(self, rows):
        """Return sentences on the date, the machine and the libraries."""
        used = {library for row in rows for library in row.times}
        versions = [self.context["python"]] + [
            f"{package} {self.context[package]}"
            for library, package in PACKAGES.items()
            if library in used
        ]
        return (
            f"Measured in one run on {datetime.date.today()}, on {len(machine.ALLOWED)} "
            f"processors ({machine.processor()}), with {', '.join(versions)}. "
            "Times vary from run to run: compare only ratios within one run."
        )
