"""How long does an exchange take in Python, compared with libraries that do the same?

./bazelw run -c opt //benchmarks:exchange_peers [-- DIRECTORY]

Prints a table of times and ratios of one run. Tensors have 16 elements; times exclude the cost of
an empty Python call. With a directory, also writes exchange_peers.md and exchange_peers.svg there.
"""

import os
import subprocess
import sys

import measure
import numpy as np
import peer_files
import report
import torch
import tvm_ffi
from exchange_rows import exchange_rows

torch.set_num_threads(1)


def rows_of_all():
    return [measure.Row(*row) for row in exchange_rows(torch, tvm_ffi)]


def add_peer(rows, peer):
    """Give the peer its column in each row of an operation that it has."""
    array, tensor = np.arange(16, dtype=np.float32), torch.arange(16.0)
    theirs, key = peer.from_dlpack(array), slice(2, 5)
    functions = {
        "from_dlpack(torch tensor)": lambda: peer.from_dlpack(tensor),
        "from_dlpack(numpy array)": lambda: peer.from_dlpack(array),
        "np.from_dlpack(t)": lambda: np.from_dlpack(theirs),
        "torch.from_dlpack(t)": lambda: torch.from_dlpack(theirs),
        "frombuffer(array)": lambda: peer.frombuffer(array),
        "t[2:5]": lambda: theirs[key],
        "empty(16)": lambda: peer.empty(16),
    }
    for row in rows:
        if row.work in functions:
            peer_files.add(row, peer, lambda work=row.work: functions[work])


def import_rows(program, repetitions=7):
    """The time of `import dovetail` and of `import numpy`, each in a fresh process.

    Empty if --filter leaves them out.
    """

    def import_time(module):
        code = f"import time; t = time.perf_counter_ns(); import {module}; " + (
            "print(time.perf_counter_ns() - t)"
        )
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
        before = os.times()
        took = int(subprocess.check_output([sys.executable, "-c", code], env=environment))
        after = os.times()
        busy = after.children_user + after.children_system
        busy -= before.children_user + before.children_system
        return measure.Time(took, busy * 1e9)

    row = measure.Row("import", {}, "numpy", 0.15)
    for module in ("dovetail", "numpy"):
        if program.selects(f"import/{module}"):
            runs = range(program.repetitions(repetitions))
            row.times[module] = [import_time(module) for _ in runs]
    return [row] if row.times else []


NOTE = """Tensors of 16 elements; times without the cost of an empty Python call. `import` runs in a
fresh process. benchmarks/rows/exchange_rows.py has the code of each row."""


def main():
    parser = report.parser(__doc__)
    peer_files.add_flag(parser, "from_dlpack")
    options = parser.parse_args()
    program = report.Program(options)
    rows = rows_of_all()
    for peer in options.peer:
        add_peer(rows, peer)
    rows = [*program.measure(rows), *import_rows(program)]
    program.publish("exchange_peers", "Exchange in Python, 16 elements", NOTE, rows)


if __name__ == "__main__":
    main()
