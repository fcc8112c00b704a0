"""How long do copies of random layouts take, compared with NumPy and PyTorch?

./bazelw run -c opt //benchmarks:random_copy_peers [-- DIRECTORY [SEED]]

Shapes, types, orders of dimensions, gaps, steps, repeated and reversed dimensions are random, on
both sides, from 1 KB to 40 MB. All copies use one thread. Prints the layouts with the worst ratios
to the faster of the two libraries, and the distribution of all ratios. With a directory, also
writes random_copy_peers.md and random_copy_peers.svg there.
"""

import random
import statistics
import warnings

import measure
import numpy as np
import report
import torch

import dovetail as dt

LAYOUTS = 200
SLOWEST = 20  # rows in the table
REPETITIONS = 5

NOTE = f"""Each row copies one strided tensor into another of the same type on one thread. Of
{LAYOUTS} random layouts, the table shows the {SLOWEST} with the worst ratio to the faster of NumPy
and PyTorch (which has no negative strides). Strides are in bytes."""


def extents(rng, count):
    """Return a shape of 1 to 5 dimensions with about `count` elements."""
    weights = [rng.random() ** 2 + 0.02 for _ in range(rng.randint(1, 5))]
    shape = [max(1, round(count ** (w / sum(weights)))) for w in weights]
    if rng.random() < 0.5:  # powers of two, which conflict in the cache
        shape = [1 << (n - 1).bit_length() if rng.random() < 0.5 else n for n in shape]
    return shape


def strided(rng, shape, dtype):
    """Return a view of that shape, of memory with a random order of dimensions, steps and gaps."""
    order = list(range(len(shape)))
    if rng.random() < 0.7:
        rng.shuffle(order)
    steps = [rng.choice([2, 3]) if rng.random() < 0.12 else 1 for _ in shape]
    gaps = [rng.choice([0, 0, 0, 0, 0, 1, 3]) for _ in shape]
    memory = np.ones([shape[d] * steps[d] + gap for d, gap in zip(order, gaps, strict=True)], dtype)
    view = memory[tuple(slice(0, shape[d] * steps[d], steps[d]) for d in order)]
    return view.transpose(np.argsort(order))


def operands(rng):
    """Return a destination and a source."""
    dtype = np.dtype(rng.choice(["u1", "i2", "f4", "f8", "c16"]))
    shape = extents(rng, max(1, 2 ** rng.uniform(10, 25.3) / dtype.itemsize))
    source, dim = strided(rng, shape, dtype), rng.randrange(len(shape))
    if rng.random() < 0.15:
        source = np.flip(source, dim)
    elif rng.random() < 0.12:
        source = np.broadcast_to(source.take([0], dim), shape)
    dense = rng.random() < 0.6
    return np.ones(shape, dtype) if dense else strided(rng, shape, dtype), source


def layout_row(program, to, source):
    """Return the row, or None if --filter leaves it out."""
    ours, ours_from = dt.from_dlpack(to), dt.from_dlpack(source)
    functions = {
        "dovetail": lambda: dt.copyto(ours, ours_from),
        "numpy": lambda: np.copyto(to, source),
    }
    if min(source.strides) >= 0:
        tensor, tensor_from = torch.from_numpy(to), torch.from_numpy(source)
        functions["torch"] = lambda: tensor.copy_(tensor_from)
    name = f"{source.dtype} {source.shape} from {source.strides} to {to.strides}"
    row = measure.Row(name, functions, "numpy")
    if not program.measure([row], REPETITIONS):
        return None
    least = row.nanoseconds
    row.baseline = min(least.keys() - {"dovetail"}, key=least.get, default="numpy")
    row.functions = {}  # frees their memory
    return row


def distribution(rows):
    """Return lines on the distribution of the ratios. Rows are sorted, slowest first."""
    ratios = [row.ratio for row in rows]
    mean = statistics.geometric_mean(ratios)
    tenth = ratios[len(ratios) // 10]
    slower = sum(ratio > 1.05 for ratio in ratios)
    return "\n".join(
        [
            f"Ratios of Dovetail's time to the faster library's, over all {len(rows)} layouts:",
            "",
            f"- geometric mean {mean:.2f}, median {ratios[len(ratios) // 2]:.2f}",
            f"- 90th percentile {tenth:.2f}; {slower} ratios are above 1.05",
        ]
    )


def main():
    parser = report.parser(__doc__)
    parser.add_argument("seed", type=int, nargs="?", default=1, help="seed of the random layouts")
    options = parser.parse_args()
    program = report.Program(options)
    rng = random.Random(options.seed)
    warnings.filterwarnings("ignore", "The given NumPy array is not writable")
    rows = [layout_row(program, *operands(rng)) for _ in range(LAYOUTS)]
    rows = [row for row in rows if row is not None]
    rows.sort(key=lambda row: row.ratio or 0, reverse=True)
    slowest, others = rows[:SLOWEST], rows[SLOWEST:]
    more = distribution(rows) if program.is_whole else ""
    title = "Copies of random layouts in Python"
    program.publish("random_copy_peers", title, NOTE, slowest, more, others)


if __name__ == "__main__":
    main()
