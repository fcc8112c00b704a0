"""Publishes the results of the Python benchmarks: a table on the console, and files for the docs.

    directory = report.parser(__doc__).parse_args().directory
    report.publish("cast_peers", "Casts", "One thread each.", rows, directory)

If the command line has a directory (relative to where `bazel run` was called), it writes NAME.md,
which includes the date and the machine, and NAME.svg there.
"""

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import platform

import measure
import plot


def parser(description):
    """Return a command-line parser with one argument: `directory`, which may be None."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("directory", type=pathlib.Path, nargs="?", help="for the table and the plot")
    return made


def publish(name, title, note, rows, directory, more=""):
    """Print the rows' table, and `more` below it. `note` explains what was measured and how."""
    text = measure.table(rows) + (f"\n\n{more}" if more else "")
    print(text)
    if directory is None:
        return
    directory = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / directory
    directory.mkdir(parents=True, exist_ok=True)
    plotted = f"![The table as a bar chart]({name}.svg)"
    head = f"# {title}\n\n{note}\n\n{_circumstances(rows)}\n\n{plotted}"
    (directory / f"{name}.md").write_text(f"{head}\n\n{text}\n")
    picture = plot.svg(rows, f"{title}: time per call in ns (shorter is faster)")
    (directory / f"{name}.svg").write_text(picture)


def _circumstances(rows):
    """Return sentences on the date, the machine and the libraries."""
    used = {library for row in rows for library in row.nanoseconds}
    peers = {"numpy": "numpy", "torch": "torch", "tvm-ffi": "apache-tvm-ffi"}
    versions = [
        f"{package} {importlib.metadata.version(package)}"
        for library, package in peers.items()
        if library in used
    ]
    return (
        f"Measured in one run on {datetime.date.today()}, on {len(os.sched_getaffinity(0))} "
        f"processors ({_processor()}), with CPython {platform.python_version()}, "
        f"{', '.join(versions)}. Times vary from run to run: compare only ratios within one run."
    )


def _processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
