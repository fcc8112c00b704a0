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

import math
import statistics

import machine
import measure
import numpy as np
import peer_files
import report
import strided_copies

# (name, type, shape of the dense source, order of its dimensions in the copy, steps of its slices)
LAYOUTS = [
    ("transpose 4096 x 4096 f32", "f4", (4096, 4096), (1, 0), None),
    ("transpose 8191 x 4097 f32", "f4", (8191, 4097), (1, 0), None),
    ("transpose 512 x 512 f32", "f4", (512, 512), (1, 0), None),
    ("transpose 4096 x 4096 u8", "u1", (4096, 4096), (1, 0), None),
    ("transpose 3000 x 3000 f64", "f8", (3000, 3000), (1, 0), None),
    ("NCHW to NHWC f32 16 x 64 x 128 x 128", "f4", (16, 64, 128, 128), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 3", "u1", (16, 224, 224, 3), (0, 3, 1, 2), None),
    ("NHWC to NCHW f32 16 x 224 x 224 x 3", "f4", (16, 224, 224, 3), (0, 3, 1, 2), None),
    ("bhsd to bshd f16 4 x 32 x 1024 x 64", "f2", (4, 32, 1024, 64), (0, 2, 1, 3), None),
    ("5-D reversal f32 16 x 16 x 32 x 32 x 64", "f4", (16, 16, 32, 32, 64), (4, 3, 2, 1, 0), None),
    ("transpose 64 x 64 f32", "f4", (64, 64), (1, 0), None),
    ("transpose 256 x 256 u8", "u1", (256, 256), (1, 0), None),
    ("transpose 1000 x 1000 u8", "u1", (1000, 1000), (1, 0), None),
    ("transpose 2048 x 2048 f16", "f2", (2048, 2048), (1, 0), None),
    ("transpose 1021 x 2039 f16", "f2", (1021, 2039), (1, 0), None),
    ("transpose 1024 x 1024 c128", "c16", (1024, 1024), (1, 0), None),
    ("transpose 3001 x 3001 f32", "f4", (3001, 3001), (1, 0), None),
    ("NCHW to NHWC u8 16 x 3 x 224 x 224", "u1", (16, 3, 224, 224), (0, 2, 3, 1), None),
    ("NCHW to NHWC f32 16 x 3 x 224 x 224", "f4", (16, 3, 224, 224), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 4", "u1", (16, 224, 224, 4), (0, 3, 1, 2), None),
    ("rotation 101 x 103 x 107 f32", "f4", (101, 103, 107), (2, 0, 1), None),
    ("outer swap, rows of 100 f32", "f4", (200, 300, 100), (1, 0, 2), None),
    ("outer swap, rows of 7 f32", "f4", (300, 400, 7), (1, 0, 2), None),
    ("last reversed f32", "f4", (1000, 1000), (0, 1), (1, -1)),
    ("last reversed u8", "u1", (1000, 1000), (0, 1), (1, -1)),
    ("first reversed f32", "f4", (1000, 1000), (0, 1), (-1, 1)),
    ("every 2nd f32", "f4", (1000, 2000), (0, 1), (1, 2)),
    ("every 3rd u8", "u1", (1000, 3000), (0, 1), (1, 3)),
    ("NCHW to NHWC f32 16 x 100 x 56 x 56", "f4", (16, 100, 56, 56), (0, 2, 3, 1), None),
    ("NCHW to NHWC f16 16 x 67 x 56 x 56", "f2", (16, 67, 56, 56), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 8", "u1", (16, 224, 224, 8), (0, 3, 1, 2), None),
    ("NCHW to NHWC f32 16 x 8 x 224 x 224", "f4", (16, 8, 224, 224), (0, 2, 3, 1), None),
    ("NHWC to NCHW u8 16 x 224 x 224 x 32", "u1", (16, 224, 224, 32), (0, 3, 1, 2), None),
    ("BGR to RGB u8 1000 x 1000", "u1", (1000, 1000, 3), (0, 1, 2), (1, 1, -1)),
    ("transpose 1025 x 1000 f32", "f4", (1025, 1000), (1, 0), None),
    ("rotated u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (1, 0, 2), (1, -1, 1)),
    ("rotated f32 224 x 224 x 3", "f4", (224, 224, 3), (1, 0, 2), (1, -1, 1)),
    ("mirrored u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (0, 1, 2), (1, -1, 1)),
    ("mirrored to planes u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (2, 0, 1), (1, -1, 1)),
    ("every 2nd pixel u8 1080 x 1920 x 3", "u1", (1080, 1920, 3), (0, 1, 2), (2, 2, 1)),
    ("transpose 8 x 8 f32", "f4", (8, 8), (1, 0), None),
    ("2 x 3 x 4 f32 reversed", "f4", (2, 3, 4), (2, 1, 0), None),
]
TEN = 10
THREADED = ("dovetail", "streaming", "torch")

NOTE = """Each row copies a strided tensor into dense memory, on one thread, or on two ("x 2"; each
library is timed separately). "memcpy" and "streaming" copy as many bytes that are dense on both
sides: with `np.copyto`, and with Dovetail's copy of dense memory, which uses streaming stores for
sizes beyond the cache. The ratio is to the faster of these two, the baseline. Tiny copies have no
goal, because the call dominates their time."""


def view(dtype, shape, order, steps):
    array = (np.arange(math.prod(shape)) % 251).astype(dtype).reshape(shape)
    if steps is not None:
        array = array[tuple(slice(None, None, step) for step in steps)]
    return array.transpose(order)


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
    row = measure.Row(name, strided_copies.copies(source), "memcpy", goal(source))
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
