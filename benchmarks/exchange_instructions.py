"""How many instructions does an exchange take, in C++ and in Python, compared with other libraries?

./bazelw run //benchmarks:exchange_instructions [-- --cpp] [--filter=REGEX]

callgrind counts them, so the counts are the same in every run on one machine. They change with the
compiler and the C library. --cpp counts only C++, which takes seconds. Counting in Python takes
minutes, mostly for importing PyTorch under valgrind. One count is enough, so there is neither
--repetitions nor --json.
"""

import argparse
import ctypes
import gc
import os
import re
import sys

import callgrind

MARKS = "benchmarks/callgrind_marks.so"


def table(counts, regex):
    """Return a Markdown table: a row for each step, a column for each library, Dovetail first.

    It has what matches `regex`, by the name step/library.
    """
    counts = {name: count for name, count in counts.items() if re.search(regex, name)}
    libraries = sorted({name.rsplit("/", 1)[1] for name in counts}, key=lambda x: x != "dovetail")
    steps = list(dict.fromkeys(name.rsplit("/", 1)[0] for name in counts))
    lines = ["| step | " + " | ".join(libraries) + " |", "|---" + "|---:" * len(libraries) + "|"]
    for step in steps:
        found = [counts.get(f"{step}/{library}") for library in libraries]
        cells = ["" if count is None else f"{count:,.0f}" for count in found]
        lines.append(f"| {step} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def mark_rows():
    """Run the functions of exchange_peers.py under valgrind, each several times."""
    import exchange_peers

    marks = ctypes.CDLL(os.path.abspath(MARKS))
    if not marks.callgrind_is_running():
        sys.exit(callgrind.UNMARKED)

    def run(name, function):
        for iterations in (50, 100, 300):  # the first 50 are warm-up and not counted
            if iterations > 50:
                marks.callgrind_begin()
            for _ in range(iterations):
                function()
            if iterations > 50:
                marks.callgrind_end(f"{name}/{iterations}".encode())

    gc.disable()
    run("empty call/python", lambda: None)
    for row in exchange_peers.rows_of_all():
        for library, function in row.functions.items():
            run(f"{row.work}/{library}", function)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpp", action="store_true", help="count only in C++")
    parser.add_argument("--filter", metavar="REGEX", default="", help="show only what matches")
    parser.add_argument("--marked", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.marked:
        mark_rows()
        return
    if reason := callgrind.missing():
        sys.exit(f"exchange_instructions: {reason}")
    counts = callgrind.count(["benchmarks/exchange_steps"])
    print("Instructions in C++\n\n" + table(counts, options.filter))
    if options.cpp:
        return
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    counts = callgrind.count([sys.executable, __file__, "--marked"], env=environment)
    call = counts.pop("empty call/python")
    net = {name: count - call for name, count in counts.items()}
    print(f"\nInstructions in Python, without an empty call ({call:,.0f})\n")
    print(table(net, options.filter))


if __name__ == "__main__":
    main()
