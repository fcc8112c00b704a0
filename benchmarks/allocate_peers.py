"""What does a new tensor in CPU memory cost in Python, compared with NumPy and PyTorch?

./bazelw run -c opt //benchmarks:allocate_peers [-- DIRECTORY]

"empty" makes a tensor and drops it. "16 live" makes sixteen tensors before it drops them. "empty,
touched" also writes a byte to each page of 4 KiB; only then does the system provide the memory.
From 4 MiB on, Dovetail and NumPy request huge pages. Freed memory is reused: up to 64 MiB by
Dovetail, and up to 32 MiB by malloc for the others. With a directory, also writes
allocate_peers.md and allocate_peers.svg there.
"""

import measure
import numpy as np
import report
import torch

import dovetail as dt

PAGE = 4096
KIB, MIB = 1 << 10, 1 << 20

NOTE = """Tensors of uint8 in CPU memory on one thread; times without the cost of an empty Python
call. "Touched" writes a byte to each page of 4 KiB."""


def empty_row(name, nbytes, goal):
    return measure.Row(
        f"empty, {name}",
        {
            "dovetail": lambda: dt.empty(nbytes, dtype=dt.uint8),
            "numpy": lambda: np.empty(nbytes, dtype=np.uint8),
            "torch": lambda: torch.empty(nbytes, dtype=torch.uint8),
        },
        "numpy",
        goal,
    )


def live_row(name, nbytes, goal):
    sixteen = range(16)
    return measure.Row(
        f"16 live, {name}",
        {
            "dovetail": lambda: [dt.empty(nbytes, dtype=dt.uint8) for _ in sixteen],
            "numpy": lambda: [np.empty(nbytes, dtype=np.uint8) for _ in sixteen],
            "torch": lambda: [torch.empty(nbytes, dtype=torch.uint8) for _ in sixteen],
        },
        "numpy",
        goal,
    )


def touched_row(name, nbytes, goal):
    def touch(array):
        array[::PAGE] = 1

    return measure.Row(
        f"empty, touched, {name}",
        {
            "dovetail": lambda: touch(dt.empty(nbytes, dtype=dt.uint8).numpy()),
            "numpy": lambda: touch(np.empty(nbytes, dtype=np.uint8)),
            "torch": lambda: touch(torch.empty(nbytes, dtype=torch.uint8).numpy()),
        },
        "numpy",
        goal,
    )


def rows():
    return [
        empty_row("16 B", 16, 0.4),
        empty_row("1 KiB", KIB, 0.4),
        empty_row("4 KiB", 4 * KIB, 0.4),
        empty_row("64 KiB", 64 * KIB, 1.0),
        empty_row("1 MiB", MIB, 1.0),
        empty_row("64 MiB", 64 * MIB, 1.0),
        empty_row("256 MiB", 256 * MIB, 1.0),
        live_row("16 B", 16, 0.4),
        live_row("4 KiB", 4 * KIB, 0.4),
        touched_row("64 KiB", 64 * KIB, 1.0),
        touched_row("1 MiB", MIB, 1.0),
        touched_row("16 MiB", 16 * MIB, 1.0),
        touched_row("64 MiB", 64 * MIB, 1.0),
        touched_row("256 MiB", 256 * MIB, 1.0),
    ]


def main():
    program = report.Program(report.parser(__doc__).parse_args())
    program.publish("allocate_peers", "New memory in Python", NOTE, program.measure(rows()))


if __name__ == "__main__":
    main()
