"""describe_pair(), which dovetail documents: the memory of two layouts, row by row."""

import operator
import typing

from dovetail import _core
from dovetail._runs import import_numpy, iterations, strided_rows
from dovetail._streams import synchronize

NIXL_MEMORY = {
    "cpu": "DRAM",
    "cuda_host": "DRAM",
    "rocm_host": "DRAM",
    "cuda": "VRAM",
    "rocm": "VRAM",
}


def check_device(tensor):
    if tensor.device.type not in NIXL_MEMORY:
        raise _core.ExchangeError(
            f"NIXL, UCX and NCCL have no name for memory of {tensor.device}; copy the tensor "
            "to the CPU or a GPU first."
        )


def check_writable(readonly, name="The tensor"):
    if readonly:
        raise _core.ExchangeError(f"{name} is read-only; nothing can be received into it.")


class Layout(typing.NamedTuple):
    """Where a tensor's elements are, without the tensor: pickle it for another process.

    address     of the first element
    shape, strides
                tuples; strides are in elements
    dtype       the DType
    step_bits   the bits from one element to the next: 4 for packed int4
    device_type, device_id
                such as "cuda" and 1
    readonly    whether nothing can be received into it

    It does not keep the memory alive.
    """

    address: int
    shape: tuple
    strides: tuple
    dtype: _core.DType
    step_bits: int
    device_type: str
    device_id: int
    readonly: bool

    @classmethod
    def of(cls, x):
        """Return the layout of whatever from_dlpack() accepts. Raises what describe() raises."""
        tensor = _core.from_dlpack(x)
        check_device(tensor)
        return cls(
            tensor.data_ptr(),
            tensor.shape,
            tensor.strides,
            tensor.dtype,
            _core._step_bits(tensor),
            tensor.device.type,
            tensor.device.index,
            tensor.readonly,
        )

    @property
    def size(self):
        """The number of elements."""
        return iterations(zip(self.shape, strict=True))

    @property
    def nbytes(self):
        """The bytes of all elements; packed elements fill their last byte."""
        return (self.size * self.step_bits + 7) // 8

    @property
    def nixl_memory(self):
        """NIXL's memory type: "DRAM" or "VRAM"."""
        return NIXL_MEMORY[self.device_type]

    def row_major(self):
        """Return this layout with the strides of a contiguous tensor of its shape."""
        strides, step = [], 1
        for size in reversed(self.shape):
            strides.append(step)
            step *= max(size, 1)
        return self._replace(strides=tuple(reversed(strides)))


def describe_pair(a, b, *, granularity=None):
    tensors = []
    layouts = []
    for x in (a, b):
        if not isinstance(x, Layout):
            tensors.append(x := _core.from_dlpack(x))
            x = Layout.of(x)
        layouts.append(x)
    if granularity is not None:
        granularity = operator.index(granularity)
        if granularity < 1:
            raise ValueError(f"granularity is a number of bytes of 1 or more, not {granularity}")
    return Pair(*layouts, granularity, tuple(tensors))


class Pair:
    """The memory of two layouts of one tensor. describe_pair() makes it. Immutable, thread-safe.

    Row i of a's arrays and row i of b's have the same bytes of the tensor. The arrays are NumPy's,
    of uint64, C-contiguous, and new ones at each access; ImportError without NumPy. The spans are
    in the order of b's addresses, with the rests that the granularity leaves of runs at the end.

    a, b           the Layouts
    a_spans, b_spans
                   count x 3: address, length in bytes, device id
    a_iovec, b_iovec
                   count x 2: address, length in bytes, which is an array of struct iovec
    a_strided, b_strided
                   N x 5: address, length, device id, stride, count, for NIXL's prep_xfer_dlist. The
                   loop with the most runs is in the stride and the count. The runs are in another
                   order than the spans, and may be parts of them: do not combine the two. A
                   negative stride of one side is stored modulo 2**64.
    count          the rows of the spans: the smallest number of runs that are contiguous on both
                   sides and no longer than the granularity
    run_bytes      (shortest, longest) of these, (0, 0) if there are none
    nbytes         of all elements
    granularity    as passed
    """

    # _parts has the nests of loops for a_strided and b_strided; None if there are none. They are
    # the spans as well if _is_nested. If not, _list() has the spans.
    __slots__ = (
        "_count",
        "_is_nested",
        "_listed",
        "_parts",
        "_tensors",
        "a",
        "b",
        "granularity",
        "nbytes",
    )

    def __init__(self, a, b, granularity=None, tensors=()):
        _check(a, b)
        self.a, self.b, self.granularity, self._tensors = a, b, granularity, tensors
        self.nbytes = b.nbytes
        self._count, self._is_nested, self._listed, self._parts = 0, True, None, ()
        if not b.size:
            return
        found = self._find(lists=False)
        if isinstance(found, bytes):
            self._is_nested, self._parts = False, None
            self._listed = _cut_list(found, granularity)
            self._count = len(self._listed)
            return
        count, *nest = found
        self._parts = _cut_nest(*nest, granularity)
        self._is_nested = count == iterations(nest[-1])
        if self._is_nested:
            self._count = sum(iterations(loops) for *_, loops in self._parts)
        else:
            self._count = count if granularity is None else None

    def _find(self, lists):
        a, b = self.a, self.b
        return _core._pair_runs(a.step_bits, a.shape, a.strides, b.shape, b.strides, lists)

    def _list(self):
        """Return the rows (b_offset, a_offset, nbytes) of the spans; None if _parts has them."""
        if self._listed is None and not self._is_nested:
            self._listed = _cut_list(self._find(lists=True), self.granularity)
        return self._listed

    @property
    def count(self):
        return len(self._list()) if self._count is None else self._count

    a_spans = property(lambda self: self._rows(0, True))
    b_spans = property(lambda self: self._rows(1, True))
    a_iovec = property(lambda self: self._rows(0, False))
    b_iovec = property(lambda self: self._rows(1, False))
    a_strided = property(lambda self: self._strided(0))
    b_strided = property(lambda self: self._strided(1))

    @property
    def run_bytes(self):
        listed = self._list()
        if listed is not None:
            return int(listed[:, 2].min()), int(listed[:, 2].max())
        lengths = [run for run, *_ in self._parts] or [0]
        return min(lengths), max(lengths)

    def _rows(self, side, with_device):
        numpy = import_numpy()
        layout = (self.a, self.b)[side]
        device = (layout.device_id,) if with_device else ()
        out = numpy.empty((self.count, 2 + len(device)), numpy.uint64)
        listed = self._list()
        if listed is not None:
            # Offsets are relative to the address, and the sum is modulo 2**64.
            out[:, 0] = listed[:, 1 - side].view(numpy.uint64) + numpy.uint64(layout.address)
            out[:, 1] = listed[:, 2]
            out[:, 2:] = device or 0
            return out
        end = 0
        for run, *starts, loops in self._parts:
            begin, end = end, end + iterations(loops)
            own = tuple((count, strides[side]) for count, *strides in loops)
            _core._fill_rows(out[begin:end], layout.address + starts[side], own, (run, *device))
        return out

    def _strided(self, side):
        numpy = import_numpy()
        layout = (self.a, self.b)[side]
        if self._parts is None:
            out = numpy.empty((self.count, 5), numpy.uint64)
            out[:, :3] = self._rows(side, True)
            out[:, 3] = out[:, 1]
            out[:, 4] = 1
            return out
        parts = []
        for run, *starts, loops in self._parts:
            own = [(count, strides[side]) for count, *strides in _longest_inside(loops, run)]
            parts.append(strided_rows(layout.address + starts[side], run, layout.device_id, own))
        return numpy.concatenate(parts) if parts else numpy.empty((0, 5), numpy.uint64)

    def synchronize(self):
        """Wait on the host for the work that is pending on memory of a GPU, of tensors passed."""
        for tensor in self._tensors:
            synchronize(tensor)

    def plan(self, costs=None):
        """Return the Plan: whether to transfer the spans, or to copy to a staging buffer first.

        costs  the Costs of the transport, as measure_costs() finds them. None: figures of NIXL
               over shared memory (dovetail.distributed.NIXL_COSTS).

        Copies a part of each strided layout, up to 64 MiB, in scratch memory here to measure what
        gathering and scattering take, unless the costs have it: up to 0.1 s. Raises TypeError for
        costs that are no Costs.
        """
        from dovetail._costs import make_plan

        return make_plan(self, costs)

    def explain(self):
        """Return a text: how the two layouts correspond, and why in so many runs.

        It says so if the shape of one is a permutation of the other's: the dimensions are not
        matched, since elements correspond in row-major order.
        """
        short, long = self.run_bytes
        lengths = f"{short} bytes" if short == long else f"{short} to {long} bytes"
        lines = [
            f"{count_of_runs(self.count)} of {lengths}, {self.nbytes} bytes of {self.b.dtype.name}"
        ]
        for name, side in (("a", self.a), ("b", self.b)):
            device = f"{side.device_type}:{side.device_id}"
            lines.append(f"  {name}: shape {side.shape}, strides {side.strides} on {device}")
        if self._has_permuted_shapes():
            lines += [
                "  the shapes have the same sizes in another order. Elements are matched in",
                "  row-major order: if the dimensions are meant to correspond, pass a permuted",
                f"  view of b, of shape {self.a.shape}",
            ]
        if self._parts is None:
            lines.append("  no nest of loops goes through both sides; the runs are listed")
        for run, _, _, loops in self._parts or ():
            steps = [f"{count} x (a {a:+}, b {b:+})" for count, a, b in loops]
            lines.append(f"  runs of {run} bytes in loops, steps in bytes: {', '.join(steps) or 1}")
        if self._parts and not self._is_nested:
            lines.append("  neighbours of these in memory are merged in the spans")
        if self.granularity is not None:
            lines.append(f"  no run is longer than the granularity of {self.granularity} bytes")
        return "\n".join(lines)

    def _has_permuted_shapes(self):
        """Whether the sizes are the same in another order, as if a permute was forgotten."""
        a, b = ([n for n in side.shape if n != 1] for side in (self.a, self.b))
        return a != b and sorted(a) == sorted(b) and self.nbytes > 0

    def __repr__(self):
        shapes = ""
        if self._has_permuted_shapes():
            shapes = f"; {self.a.shape} to {self.b.shape} in row-major order, not permuted"
        runs = count_of_runs(self.count)
        return f"Pair({runs}, {self.nbytes} bytes of {self.b.dtype.name}{shapes})"


def count_of_runs(count):
    return "1 run" if count == 1 else f"{count} runs"


def _check(a, b):
    """Raise unless b can receive the elements of a."""
    if a.dtype != b.dtype or a.step_bits != b.step_bits:
        kinds = [f"{x.dtype.name} ({x.step_bits} bits apart)" for x in (a, b)]
        raise TypeError(
            f"a has {kinds[0]} and b {kinds[1]}; a transfer converts nothing, so convert one first"
        )
    if a.size != b.size:
        raise ValueError(
            f"a of shape {a.shape} has {a.size} elements and b of shape {b.shape} has {b.size}"
        )
    check_writable(b.readonly, "b")


def _cut_nest(run, a_start, b_start, loops, granularity):
    """Return the parts (run, a_start, b_start, loops) of a nest, with runs no longer than that."""
    if granularity is None or run <= granularity:
        return ((run, a_start, b_start, loops),)
    pieces, rest = divmod(run, granularity)
    parts = [
        (granularity, a_start, b_start, (*loops, (pieces, granularity, granularity))),
    ]
    if rest:
        whole = pieces * granularity
        parts.append((rest, a_start + whole, b_start + whole, loops))
    return tuple(parts)


def _cut_list(data, granularity):
    """Return the array with rows (b_offset, a_offset, nbytes), cut to the granularity."""
    numpy = import_numpy()
    runs = numpy.frombuffer(data, numpy.int64).reshape(-1, 3)
    if granularity is None or runs[:, 2].max() <= granularity:
        return runs
    pieces = -(-runs[:, 2] // granularity)
    first = numpy.cumsum(pieces) - pieces
    runs = numpy.repeat(runs, pieces, axis=0)
    done = (numpy.arange(len(runs)) - numpy.repeat(first, pieces)) * granularity
    runs[:, :2] += done[:, None]
    runs[:, 2] = numpy.minimum(runs[:, 2] - done, granularity)
    return runs


def _longest_inside(loops, run):
    """Return the loops with the one innermost that is best in a row's stride and count."""
    fit = [loop for loop in loops if all(stride < 0 or stride >= run for stride in loop[1:])]
    if not fit:
        return (*loops, (1, run, run))
    best = max(fit, key=lambda loop: (loop[0], min(loop[1:])))
    return (*(loop for loop in loops if loop is not best), best)
