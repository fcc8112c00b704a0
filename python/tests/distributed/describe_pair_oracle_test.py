"""describe_pair() against brute force: the addresses of all elements, merged where they continue.

DOVETAIL_PAIRS in the environment sets how many random pairs are tried; the default takes seconds.
"""

import os
import random

import numpy as np

import dovetail as dt
from dovetail.distributed import Layout

TRIED = int(os.environ.get("DOVETAIL_PAIRS", "8000"))
DTYPES = [dt.int8, dt.bfloat16, dt.float32, dt.float64, dt.int4]
A, B = 1 << 40, 1 << 41  # addresses


def random_shape(rng, factors):
    """A random shape of as many elements as the product of the factors."""
    rng.shuffle(factors)
    sizes = [1] * rng.randint(0, 2)
    for factor in factors:
        if sizes and rng.random() < 0.5:
            sizes[-1] *= factor
        else:
            sizes.append(factor)
    return tuple(sizes)


def random_strides(rng, shape, order):
    """Strides of a view of larger memory, or now and then any."""
    if rng.random() < 0.08:
        return tuple(rng.randint(-9, 9) for _ in shape)
    strides, step = [0] * len(shape), 1
    for dim in order:
        step *= rng.choice((1, 1, 1, 1, 1, 2))
        strides[dim] = step * rng.choice((1, 1, 1, -1))
        step *= shape[dim] + rng.choice((0, 0, 0, 1, 4))
    if strides and rng.random() < 0.05:
        strides[rng.randrange(len(strides))] = 0
    return tuple(strides)


def random_order(rng, rank):
    order = list(reversed(range(rank)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    return order


def random_pair(rng):
    factors = [rng.choice((2, 2, 2, 3, 3, 5, 7)) for _ in range(rng.randint(0, 6))]
    dtype = rng.choice(DTYPES)
    bits = dtype.bits
    a_shape = random_shape(rng, factors)
    b_shape = a_shape if rng.random() < 0.4 else random_shape(rng, factors)
    order = random_order(rng, len(a_shape))
    sides = []
    for address, shape in ((A, a_shape), (B, b_shape)):
        if shape is not a_shape or rng.random() < 0.3:
            order = random_order(rng, len(shape))
        strides = random_strides(rng, shape, order)
        sides.append(Layout(address, shape, strides, dtype, bits, "cpu", 0, False))
    return (*sides, rng.choice((None, None, None, rng.randint(1, 40))))


def offsets(layout):
    """The bit at which each element begins, from the first, in row-major order."""
    at = np.zeros(1, np.int64)
    for size, stride in zip(layout.shape, layout.strides, strict=True):
        at = (at[:, None] + np.arange(size) * stride * layout.step_bits).reshape(-1)
    return at


def oracle(a, b, granularity):
    """Rows (address in b, address in a, bytes) in the order of b; None for what is refused."""
    bits = a.step_bits
    order = np.argsort(offsets(b), kind="stable")
    to, source = offsets(b)[order], offsets(a)[order]
    if np.any(np.diff(to) < bits):
        return None
    begins = np.ones(len(to), bool)
    begins[1:] = (np.diff(to) != bits) | (np.diff(source) != bits)
    first = np.flatnonzero(begins)
    lengths = np.diff(np.append(first, len(to))) * bits
    found = np.stack([to[first], source[first], lengths], 1)
    if np.any(found % 8):
        return None
    rows = []
    for at, origin, nbytes in (found // 8).tolist():
        for done in range(0, nbytes, granularity or nbytes):
            piece = min(granularity or nbytes, nbytes - done)
            rows.append((B + at + done, A + origin + done, piece))
    return rows


def expanded(rows):
    """The spans of N x 5 rows."""
    spans = []
    for address, nbytes, _, stride, count in rows.tolist():
        assert stride >= nbytes and count >= 1
        spans += [((address + i * stride) % 2**64, nbytes) for i in range(count)]
    return spans


def merged(rows):
    """The rows in the order of b, those that continue each other as one."""
    result = []
    for at, origin, nbytes in sorted(rows):
        if result and (at, origin) == (
            result[-1][0] + result[-1][2],
            result[-1][1] + result[-1][2],
        ):
            result[-1][2] += nbytes
        else:
            result.append([at, origin, nbytes])
    return result


def test_random_pairs_have_the_fewest_rows_and_the_right_ones():
    rng = random.Random(20261129)
    refused = irregular = 0
    for _ in range(TRIED):
        a, b, granularity = random_pair(rng)
        expected = oracle(a, b, granularity)
        try:
            pair = dt.describe_pair(a, b, granularity=granularity)
        except dt.ExchangeError:
            assert expected is None, (a, b)
            refused += 1
            continue
        case = (a, b, granularity, expected)
        assert expected is not None, case
        assert pair.count == len(expected), case
        to, source = pair.b_spans.tolist(), pair.a_spans.tolist()
        found = [(x[0], y[0], x[1]) for x, y in zip(to, source, strict=True)]
        assert sorted(found) == expected, case
        assert [x[1:] for x in to] == [y[1:] for y in source], case
        assert pair.a_iovec.tolist() == [x[:2] for x in source], case
        to, source = pair.b_strided, pair.a_strided
        assert (to[:, [1, 4]] == source[:, [1, 4]]).all(), case
        assert not granularity or (to[:, 1] <= granularity).all(), case
        strided = zip(expanded(to), expanded(source), strict=True)
        assert merged((x[0], y[0], x[1]) for x, y in strided) == merged(expected), case
        assert pair.nbytes == sum(x[2] for x in expected)
        irregular += "listed" in pair.explain()
    # All kinds occur.
    assert refused > TRIED // 100 and irregular > TRIED // 100, (refused, irregular)
