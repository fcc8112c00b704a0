"""How long does a copy of a strided tensor into a dense one take, compared with NumPy, PyTorch and
memcpy?

./bazelw run -c opt //benchmarks:strided_copy_peers [-- DIRECTORY]

Prints a table of times in one run, on one thread and on two ("x 2"), and the geometric means of the
first ten layouts. The ratio is to the baseline, the faster of two dense copies of as many bytes.
"memcpy" is np.copyto. "streaming" is Dovetail's copy of dense memory, which uses streaming stores
for sizes beyond the cache. (//benchmarks:strided_copy times memcpy and streaming stores in C++.)
The speed-up of "streaming" on two threads shows the memory bandwidth that two threads can get. With
a directory, also writes strided_copy_peers.md and strided_copy_peers.svg there.
"""

import statistics

import machine
import measure
import numpy as np
import peer_files
import report
import strided_copies
import torch
from strided_layouts import LAYOUTS, TEN, view

THREADED = ("dovetail", "streaming", "torch")

NOTE = """Each row copies a strided tensor into dense memory, on one thread, or on two ("x 2"; each
library is timed separately). "memcpy" and "streaming" copy as many bytes that are dense on both
sides: with `np.copyto`, and with Dovetail's copy of dense memory, which uses streaming stores for
sizes beyond the cache. The ratio is to the faster of these two, the baseline. Tiny copies have no
goal, because the call dominates their time."""


def on_two_threads(program, row, repetitions):
    """Time each function separately: PyTorch's threads spin for some milliseconds after a copy, and
    the next function would have one processor less. The threads come from pools, so they are not
    pinned."""
    machine.use_threads(2)
    for name in THREADED:
        if name in row.functions:
            alone = measure.Row(row.work, {f"{name} x 2": row.functions[name]}, name)
            program.measure([alone], repetitions)
            row.times.update(alone.times)
    machine.use_threads(1)


def goal(source):
    """Half the baseline's speed; 0.4 of it for single bytes and within the cache."""
    if source.nbytes < 1 << 12:
        return None
    return 2.5 if source.dtype == np.uint8 or source.nbytes <= 1 << 20 else 2.0


def add_peer(row, peer, source):
    """Give the peer its column, unless it can't take the arrays in."""

    def copies():
        to, from_ = peer.from_dlpack(np.zeros(source.shape, source.dtype)), peer.from_dlpack(source)
        return lambda: peer.copyto(to, from_)

    peer_files.add(row, peer, copies)


def layout_row(program, name, dtype, shape, order, steps):
    """Return the row, or None if --filter leaves it out."""
    source = view(dtype, shape, order, steps)
    repetitions = 9 if source.nbytes > 1 << 20 else 25
    row = measure.Row(name, strided_copies.copies(source, torch), "memcpy", goal(source))
    for peer in program.options.peer:
        add_peer(row, peer, source)
    if not program.measure([row], repetitions):
        return None
    strided_copies.set_baseline(row)
    if source.nbytes > 1 << 20:
        on_two_threads(program, row, repetitions)
    row.functions = {}  # frees their memory
    return row


def means(rows):
    """Return lines on Dovetail's speed-up over the others (geometric means)."""

    def line(times, other, beside):
        return f"- {statistics.geometric_mean(times):.2f} x as fast as {other} ({beside})"

    def against(peer):
        return [row.nanoseconds[peer] / row.nanoseconds["dovetail"] for row in rows]

    def by_two_threads(name):
        large = [row.nanoseconds for row in rows if f"{name} x 2" in row.nanoseconds]
        return [times[name] / times[f"{name} x 2"] for times in large]

    dense = statistics.geometric_mean(by_two_threads("streaming"))
    return "\n".join(
        [
            f"Geometric means of the first {len(rows)}:",
            "",
            line([1 / row.ratio for row in rows], "the baseline", "goal: >= 0.7"),
            line(against("torch"), "PyTorch", "goal: >= 5"),
            line(against("numpy"), "NumPy", "goal: >= 8"),
            line(
                by_two_threads("dovetail"),
                "itself, on two threads instead of one, for copies larger than 1 MiB",
                f"goal: >= 1.6; dense copies: {dense:.2f}",
            ),
        ]
    )


def main():
    parser = report.parser(__doc__)
    peer_files.add_flag(parser, "from_dlpack", "copyto")
    program = report.Program(parser.parse_args())
    rows = [layout_row(program, *layout) for layout in LAYOUTS]
    rows = [row for row in rows if row is not None]
    more = means(rows[:TEN]) if program.is_whole else ""
    title = "Copies of strided tensors in Python"
    program.publish("strided_copy_peers", title, NOTE, rows, more)


if __name__ == "__main__":
    main()
