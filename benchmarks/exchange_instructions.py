"""How many instructions does an exchange take, in C++ and in Python, beside other libraries?

./bazelw run //benchmarks:exchange_instructions [-- --cpp]

Counted by callgrind, so that the figures are the same in every run on one machine; they move with
the compiler and the C library. --cpp: only those in C++, which takes seconds; those in Python take
minutes, most of them for the import of PyTorch under valgrind.
"""

import ctypes
import gc
import os
import sys

import callgrind

MARKS = "benchmarks/callgrind_marks.so"


def table(counts):
    """Markdown: a row for each step, a column for each library, ours first."""
    libraries = sorted({name.rsplit("/", 1)[1] for name in counts}, key=lambda x: x != "dovetail")
    steps = list(dict.fromkeys(name.rsplit("/", 1)[0] for name in counts))
    lines = ["| step | " + " | ".join(libraries) + " |", "|---" + "|---:" * len(libraries) + "|"]
    for step in steps:
        found = [counts.get(f"{step}/{library}") for library in libraries]
        cells = ["" if count is None else f"{count:,.0f}" for count in found]
        lines.append(f"| {step} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def mark_rows():
    """What runs under valgrind: the functions of exchange_peers.py, each so many times."""
    import exchange_peers

    marks = ctypes.CDLL(os.path.abspath(MARKS))
    if not marks.callgrind_is_running():
        sys.exit(callgrind.UNMARKED)

    def run(name, function):
        for turns in (50, 100, 300):  # the first time not counted
            if turns > 50:
                marks.callgrind_begin()
            for _ in range(turns):
                function()
            if turns > 50:
                marks.callgrind_end(f"{name}/{turns}".encode())

    gc.disable()
    run("empty call/python", lambda: None)
    for row in exchange_peers.exchange_rows():
        for library, function in row.functions.items():
            run(f"{row.work}/{library}", function)


def main():
    if "--marked" in sys.argv:
        mark_rows()
        return
    if reason := callgrind.missing():
        sys.exit(f"exchange_instructions: {reason}")
    print("Instructions in C++\n\n" + table(callgrind.count(["benchmarks/exchange_steps"])))
    if "--cpp" in sys.argv:
        return
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    counts = callgrind.count([sys.executable, __file__, "--marked"], env=environment)
    call = counts.pop("empty call/python")
    net = {name: count - call for name, count in counts.items()}
    print(f"\nInstructions in Python, net of an empty call ({call:,.0f})\n\n" + table(net))


if __name__ == "__main__":
    main()
