"""How fast are casts in Python, compared with PyTorch, NumPy and ml_dtypes?

./bazelw run -c opt //benchmarks:cast_peers [-- DIRECTORY]

Each library uses one thread and writes to existing memory (copyto, copy_), so no allocation is
timed. The rows "new" allocate, as t.to(dtype) does. A ratio is Dovetail's time divided by
PyTorch's. With a directory, also writes cast_peers.md and cast_peers.svg there.
"""

import measure
import ml_dtypes
import numpy as np
import report
import torch

import dovetail as dt

NARROW = ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
SIZES = {"in cache": 128 * 1024, "in memory": 8 * 1024 * 1024}


def cast_row(source, target, size):
    """A cast of normally distributed numbers, which are first cast to the source type."""
    count = SIZES[size]
    floats = torch.randn(count, generator=torch.Generator().manual_seed(0))
    theirs = floats.to(getattr(torch, source))
    their_result = torch.empty(count, dtype=getattr(torch, target))
    ours = dt.from_dlpack(floats.clone()).to(source)
    our_result = dt.empty(count, dtype=target)
    array, array_result = ours.numpy(), np.empty(count, our_result.numpy().dtype)
    return measure.Row(
        f"{source} to {target}, {size}",
        {
            "dovetail": lambda: dt.copyto(our_result, ours, "unsafe"),
            "torch": lambda: their_result.copy_(theirs),
            "numpy": lambda: np.copyto(array_result, array, casting="unsafe"),
        },
        "torch",
        goal=1.0,
    )


def new_row(count):
    floats = torch.randn(count)
    ours, array = dt.from_dlpack(floats), floats.numpy()
    return measure.Row(
        f"new bfloat16 of {count} float32",
        {
            "dovetail": lambda: ours.to("bfloat16"),
            "torch": lambda: floats.to(torch.bfloat16),
            "numpy": lambda: array.astype(ml_dtypes.bfloat16),
        },
        "torch",
        goal=1.0,
    )


def transposed_row():
    floats = torch.randn(2048, 2048)
    ours, theirs = dt.from_dlpack(floats).T, floats.T
    our_result, their_result = dt.empty(2048, 2048, dtype="bfloat16"), floats.bfloat16()
    return measure.Row(
        "float32 to bfloat16, transposed 2048 x 2048",
        {
            "dovetail": lambda: dt.copyto(our_result, ours, "unsafe"),
            "torch": lambda: their_result.copy_(theirs),
        },
        "torch",
        goal=1.0,
    )


def rows():
    for size in SIZES:
        for narrow in NARROW:
            yield cast_row("float32", narrow, size)
            yield cast_row(narrow, "float32", size)
    for source, target in [("uint8", "float32"), ("int64", "float32"), ("float64", "float32"),
                           ("float16", "bfloat16"), ("float32", "int32")]:  # fmt: skip
        yield cast_row(source, target, "in cache")
    yield transposed_row()
    yield new_row(16)
    yield new_row(4096)


NOTE = """One thread per library, into existing memory; the rows "new" also allocate. "In cache" has
128 Ki elements, "in memory" 8 Mi. NumPy casts with ml_dtypes."""


def main():
    program = report.Program(report.parser(__doc__).parse_args())
    measured = program.measure(list(rows()), repetitions=7)
    program.publish("cast_peers", "Casts in Python, one thread", NOTE, measured)


if __name__ == "__main__":
    main()
