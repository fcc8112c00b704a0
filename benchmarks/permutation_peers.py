"""How long does a permutation of 3 to 6 dimensions take, compared with PyTorch and memcpy?

./bazelw run -c opt //benchmarks:permutation_peers [-- DIRECTORY --dtype=f4 --seed=1 --cases=64]

Shapes and orders are random: 3 to 6 dimensions of 5 to 600 elements, 4 to 200 MB, dense on both
sides, on one thread. The ratio is to the faster of two dense copies of as many bytes, as in
strided_copy_peers. Prints the cases with the worst ratios, and the geometric means of all. With a
directory, also writes permutation_peers.md and permutation_peers.svg there.
"""

import itertools
import math
import random
import statistics

import measure
import numpy as np
import report
import strided_copies
import torch

SLOWEST = 20  # rows in the table
REPETITIONS = 5

NOTE = """Each row copies a permuted dense array into dense memory, on one thread. "memcpy" and
"streaming" copy as many bytes without a permutation; the ratio is to the faster of the two."""


def case(rng, itemsize):
    """Return a shape and an order of its dimensions.

    Not those that leave the last dimension last, which are copies of rows, nor those with two
    dimensions that follow each other as in the shape, which are one.
    """
    rank = rng.randint(3, 6)
    while True:
        shape = tuple(round(5 * 120 ** rng.random()) for _ in range(rank))
        order = rng.sample(range(rank), rank)
        is_simpler = order[-1] == rank - 1 or any(b == a + 1 for a, b in itertools.pairwise(order))
        if 4e6 <= math.prod(shape) * itemsize <= 2e8 and not is_simpler:
            return shape, tuple(order)


def permutation_row(program, dtype, shape, order):
    """Return the row, or None if --filter leaves it out."""
    dense = (np.arange(math.prod(shape)) % 251).astype(dtype).reshape(shape)
    functions = strided_copies.copies(dense.transpose(order), torch)
    del functions["numpy"]  # takes ten times as long
    name = f"{'x'.join(map(str, shape))} by {''.join(map(str, order))}"
    row = measure.Row(name, functions, "memcpy")
    if not program.measure([row], REPETITIONS):
        return None
    strided_copies.set_baseline(row)
    row.functions = {}  # frees their memory
    return row


def means(rows):
    """Return lines on all rows, which are sorted, slowest first."""
    mean = statistics.geometric_mean(1 / row.ratio for row in rows)
    gains = [row.nanoseconds["torch"] / row.nanoseconds["dovetail"] for row in rows]
    return "\n".join(
        [
            f"Speed in all {len(rows)} cases:",
            "",
            f"- {mean:.2f} of a dense copy's (geometric mean), {1 / rows[0].ratio:.2f} at worst",
            f"- {statistics.geometric_mean(gains):.1f} x PyTorch's, {min(gains):.1f} x at worst",
        ]
    )


def main():
    parser = report.parser(__doc__)
    parser.add_argument("--dtype", default="f4", help="NumPy's name of the type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=64)
    options = parser.parse_args()
    program = report.Program(options)
    rng = random.Random(options.seed)
    dtype = np.dtype(options.dtype)
    cases = [case(rng, dtype.itemsize) for _ in range(options.cases)]
    rows = [permutation_row(program, dtype, *each) for each in cases]
    rows = [row for row in rows if row is not None]
    rows.sort(key=lambda row: row.ratio or 0, reverse=True)
    more = means(rows) if program.is_whole else ""
    title = f"Permutations of {dtype.name} in Python"
    slowest, others = rows[:SLOWEST], rows[SLOWEST:]
    program.publish("permutation_peers", title, NOTE, slowest, more, others)


if __name__ == "__main__":
    main()
