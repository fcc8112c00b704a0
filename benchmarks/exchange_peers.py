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

import dovetail as dt

torch.set_num_threads(1)


def exchange_rows():
    array = np.arange(16, dtype=np.float32)
    tensor = torch.arange(16.0)
    ours, theirs = dt.from_dlpack(array), tvm_ffi.from_dlpack(array)
    to_torch, to_numpy, key = torch.Tensor, np.ndarray, slice(2, 5)
    return [
        measure.Row(
            "from_dlpack(torch tensor)",
            {
                "dovetail": lambda: dt.from_dlpack(tensor),
                "tvm-ffi": lambda: tvm_ffi.from_dlpack(tensor),
                "numpy": lambda: np.from_dlpack(tensor),
            },
            "tvm-ffi",
            0.5,
        ),
        measure.Row(
            "from_dlpack(numpy array)",
            {
                "dovetail": lambda: dt.from_dlpack(array),
                "tvm-ffi": lambda: tvm_ffi.from_dlpack(array),
                "torch": lambda: torch.from_dlpack(array),
            },
            "tvm-ffi",
            0.4,
        ),
        measure.Row(
            "numpy array to torch tensor",
            {
                "dovetail": lambda: dt.convert(array, to_torch),
                "torch": lambda: torch.from_numpy(array),
            },
            "torch",
            0.8,
        ),
        measure.Row(
            "torch tensor to numpy array",
            {"dovetail": lambda: dt.convert(tensor, to_numpy), "torch": lambda: tensor.numpy()},
            "torch",
            0.4,
        ),
        measure.Row(
            "t.numpy()",
            {"dovetail": lambda: ours.numpy(), "torch": lambda: tensor.numpy()},
            "torch",
            0.25,
        ),
        measure.Row(
            "np.from_dlpack(t)",
            {
                "dovetail": lambda: np.from_dlpack(ours),
                "tvm-ffi": lambda: np.from_dlpack(theirs),
            },
            "tvm-ffi",
            0.8,
        ),
        measure.Row(
            "torch.from_dlpack(t)",
            {
                "dovetail": lambda: torch.from_dlpack(ours),
                "tvm-ffi": lambda: torch.from_dlpack(theirs),
            },
            "tvm-ffi",
        ),
        measure.Row(
            "frombuffer(array)",
            {
                "dovetail": lambda: dt.frombuffer(array, dtype=dt.float32),
                "numpy": lambda: np.frombuffer(array, dtype=np.float32),
                "torch": lambda: torch.frombuffer(array, dtype=torch.float32),
            },
            "numpy",
            0.3,
        ),
        measure.Row(
            "t[2:5]",
            {
                "dovetail": lambda: ours[key],
                "numpy": lambda: array[key],
                "torch": lambda: tensor[key],
            },
            "numpy",
            1.0,
        ),
        measure.Row(
            "empty(16)",
            {
                "dovetail": lambda: dt.empty(16, dtype=dt.float32),
                "numpy": lambda: np.empty(16, dtype=np.float32),
                "torch": lambda: torch.empty(16, dtype=torch.float32),
            },
            "numpy",
            0.4,
        ),
    ]


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
fresh process. benchmarks/exchange_peers.py has the code of each row."""


def main():
    parser = report.parser(__doc__)
    peer_files.add_flag(parser, "from_dlpack")
    options = parser.parse_args()
    program = report.Program(options)
    rows = exchange_rows()
    for peer in options.peer:
        add_peer(rows, peer)
    rows = [*program.measure(rows), *import_rows(program)]
    program.publish("exchange_peers", "Exchange in Python, 16 elements", NOTE, rows)


if __name__ == "__main__":
    main()
