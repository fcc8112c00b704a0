"""What a transfer costs, in a linear model; which way of transferring a Pair costs least."""

import math
import time
import typing

from dovetail import _core
from dovetail._pairs import count_of_runs, describe_pair
from dovetail._runs import rows
from dovetail._streams import synchronize


class Costs(typing.NamedTuple):
    """Seconds of a transport: transfer + row * rows + byte * bytes. measure_costs() makes it.

    transfer  for each transfer
    row       for each row of descriptors
    byte      for each byte
    copy      for each byte that is gathered into or scattered from a staging buffer. None: plan()
              measures it for each layout.
    """

    transfer: float
    row: float
    byte: float
    copy: float | None = None


# NIXL 1.5.1 with UCX over shared memory on two cores of an AMD EPYC (docs/distributed/kv_cache.md).
NIXL_COSTS = Costs(transfer=11e-6, row=2.5e-6, byte=8e-11)

_SAMPLE = 1 << 26  # bytes that a measured copy moves, at most: more than caches hold
_REACH = 1 << 28  # bytes that its strided side extends over, at most


def measure_costs(transfer, a, b, *, repeat=5):
    """Return the Costs of a transport, measured.

    transfer  transfer(a_rows, b_rows) moves the bytes of each row of a to the same row of b and
              waits for the end. Both are N x 3, as Pair.a_spans and Pair.b_spans.
    a, b      two contiguous tensors or Layouts of as many bytes, 64 KiB or more, which the
              transport knows. Some of a's bytes overwrite some of b's.
    repeat    how many times each of three transfers is made; the fastest counts

    The three are one row of 256 bytes, one of all bytes, and many short ones. What `transfer` does
    besides, such as preparing descriptors, counts. Raises ValueError for other tensors, and what
    `transfer` raises.
    """
    pair = describe_pair(a, b)
    if pair.count != 1 or pair.nbytes < 1 << 16:
        raise ValueError(
            f"a and b are contiguous and have 64 KiB or more, not {pair.nbytes} bytes in "
            f"{count_of_runs(pair.count)}"
        )
    (a_start, _, a_device), (b_start, _, b_device) = pair.a_spans[0], pair.b_spans[0]
    count = min(1024, pair.nbytes // 512)
    slot = pair.nbytes // count
    short = min(slot // 2, 512)

    def seconds(count, step, nbytes):
        loops = ((count, step),)
        sides = (
            rows(int(a_start), loops, nbytes, int(a_device)),
            rows(int(b_start), loops, nbytes, int(b_device)),
        )
        return _fastest(lambda: transfer(*sides), repeat)

    small, flat, many = (
        seconds(*shape) for shape in ((1, 0, 256), (1, 0, pair.nbytes), (count, slot, short))
    )
    byte = max(0.0, (flat - small) / (pair.nbytes - 256))
    row = max(0.0, (many - small - byte * count * short) / (count - 1))
    return Costs(small, row, byte)


# What to do, by the name of the way.
_STEPS = {
    "spans": "transfer a_spans to b_spans",
    "staging a": "s = a.copy(); transfer describe_pair(s, b)",
    "staging b": "the receiver makes r = dt.empty(b.shape, dtype=b.dtype); transfer"
    " describe_pair(a, r); the receiver does dt.copyto(b, r)",
    "staging both": "s = a.copy(); the receiver makes r = dt.empty(b.shape, dtype=b.dtype);"
    " transfer describe_pair(s, r); the receiver does dt.copyto(b, r)",
}


class Plan(typing.NamedTuple):
    """Which way to transfer a Pair takes the least time, by the model of Costs.

    Print it for what to do and why.

    choice   "spans": transfer the pair's rows
             "staging a": copy a into a contiguous tensor, and transfer from that
             "staging b": transfer into a contiguous tensor, and copy that into b
             "staging both": both, so that the transfer is one row
    seconds  of each way that there is, by name
    rows     of each way, by name
    costs    the Costs in use

    A staging tensor is row-major and has the shape of its side, as a.copy() and dt.empty(b.shape)
    are; describe_pair(staging, b) has its rows.
    """

    choice: str
    seconds: dict
    rows: dict
    costs: Costs

    def __str__(self):
        lines = [f"{self.choice}: {self.seconds[self.choice] * 1e3:.3f} ms"]
        lines.append(f"  {_STEPS[self.choice]}")
        for name, seconds in sorted(self.seconds.items(), key=lambda item: item[1]):
            count = self.rows[name]
            unit = "row" if count == 1 else "rows"
            lines.append(f"  {name:12}  {seconds * 1e3:10.3f} ms  {count:10} {unit}")
        costs = self.costs
        lines.append(
            f"  by {costs.transfer * 1e6:.1f} us a transfer, {costs.row * 1e6:.3f} us a row and "
            f"{costs.byte * 1e9:.3f} ns a byte"
        )
        return "\n".join(lines)


def make_plan(pair, costs):
    """Return the Plan of a Pair: see Pair.plan()."""
    if costs is None:
        costs = NIXL_COSTS
    elif not isinstance(costs, Costs):
        raise TypeError(f"costs is what measure_costs() returns, a Costs, not {costs!r}")
    staged_a, staged_b = pair.a.row_major(), pair.b.row_major()
    staged_b = staged_b._replace(readonly=False)
    # (name, the two sides of the transfer, the sides that are copied)
    ways = [("spans", (pair.a, pair.b), "")]
    strided_a = describe_pair(pair.a, staged_a._replace(readonly=False)).count > 1
    strided_b = describe_pair(staged_b, pair.b).count > 1
    if strided_a:
        ways.append(("staging a", (staged_a, pair.b), "a"))
    if strided_b:
        ways.append(("staging b", (pair.a, staged_b), "b"))
    if strided_a and strided_b:
        ways.append(("staging both", (staged_a, staged_b), "ab"))
    copies, seconds, counts = {}, {}, {}
    for name, sides, copied in ways:
        counts[name] = describe_pair(*sides, granularity=pair.granularity).count
        seconds[name] = costs.transfer + costs.row * counts[name] + costs.byte * pair.nbytes
        for side in copied:
            if side not in copies:
                copies[side] = _copy_seconds(getattr(pair, side), side == "b", costs)
            seconds[name] += copies[side]
    return Plan(min(seconds, key=seconds.get), seconds, counts, costs)


def _copy_seconds(layout, scatters, costs):
    """Return the seconds of a copy between a layout's elements and a row-major tensor."""
    if costs.copy is not None:
        return costs.copy * layout.nbytes
    shape, low, high = _sample_shape(layout)
    device = f"{layout.device_type}:{layout.device_id}"
    if layout.device_type == "cpu" or not isinstance(
        _core.backends().get(layout.device_type.split("_")[0]), int
    ):
        device = "cpu"  # the nearest that is here, for a device of another process
    bits = layout.step_bits
    # Filled: new memory that only reads have touched would be one page of zeros in the cache.
    memory = _core.full((high - low + 1) * bits // 8 + 1, 1, dtype=_core.uint8, device=device)
    padded = bits != layout.dtype.bits * layout.dtype.lanes
    fields = (-low * bits // 8, layout.dtype.name, shape, layout.strides, False, padded, False)
    strided = _core._tensor_in(memory, fields)
    dense = strided.copy()

    def copy():
        if scatters:
            _core.copyto(strided, dense)
        else:
            _core.copyto(dense, strided)
        synchronize(dense)

    return _fastest(copy, 3) * layout.size / math.prod(shape)


def _sample_shape(layout):
    """Return (shape, lowest, highest offset) of a part of a layout that is small enough."""
    shape = list(layout.shape)
    dim = 0
    while True:
        reach = [(n - 1) * stride for n, stride in zip(shape, layout.strides, strict=True)]
        low, high = sum(min(x, 0) for x in reach), sum(max(x, 0) for x in reach)
        small = math.prod(shape) * layout.step_bits <= _SAMPLE * 8
        if dim == len(shape) or (small and (high - low) * layout.step_bits <= _REACH * 8):
            return tuple(shape), low, high
        if shape[dim] == 1:
            dim += 1
        else:
            shape[dim] = (shape[dim] + 1) // 2


def _fastest(function, repeat):
    best = math.inf
    for _ in range(repeat):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best
