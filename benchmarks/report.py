"""What the Python benchmarks leave behind: a table on the console, and files for the docs.

    directory = report.parser(__doc__).parse_args().directory
    report.publish("cast_peers", "Casts", "One thread each.", rows, directory)

With a directory on the command line (as of where `bazel run` was called), it gets NAME.md, which
says when and on what it was measured, and NAME.svg.
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
    """Of the command line, before anything is measured: `directory`, or None."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("directory", type=pathlib.Path, nargs="?", help="for the table and its plot")
    return made


def publish(name, title, note, rows, directory, more=""):
    """Prints the rows' table and `more` below it; `note` tells what was measured and how."""
    text = measure.table(rows) + (f"\n\n{more}" if more else "")
    print(text)
    if directory is None:
        return
    directory = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / directory
    directory.mkdir(parents=True, exist_ok=True)
    head = f"# {title}\n\n{note}\n\n{_circumstances(rows)}\n\n![The same as a picture]({name}.svg)"
    (directory / f"{name}.md").write_text(f"{head}\n\n{text}\n")
    picture = plot.svg(rows, f"{title}, net ns (shorter is faster)")
    (directory / f"{name}.svg").write_text(picture)


def _circumstances(rows):
    """Where and when: a sentence on the machine, and one on the libraries."""
    used = {library for row in rows for library in row.nanoseconds}
    peers = {"numpy": "numpy", "torch": "torch", "tvm-ffi": "apache-tvm-ffi"}
    versions = [
        f"{package} {importlib.metadata.version(package)}"
        for library, package in peers.items()
        if library in used
    ]
    return (
        f"Written by one run on {datetime.date.today()}, on {len(os.sched_getaffinity(0))} "
        f"processors ({_processor()}), with CPython {platform.python_version()}, "
        f"{', '.join(versions)}. Times move from run to run: only ratios within one count."
    )


def _processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()
