"""What the processes of run_test.py run: each rank's part of a reshard, checked byte by byte."""

import ctypes
import math
import os
import pickle

import numpy as np

import dovetail as dt
from dovetail.reshard import Group, Mesh, Replicate, Reshard, Shard

GAP = 0xA5  # what memory has beside the elements


def join(kept, name, rank, size):
    kept.group = Group(name, rank, size)
    kept.pool = dt.ipc.Pool(64 << 20)


def memory(tensor):
    """The bytes of a contiguous tensor, with a dimension for those of an element."""
    size = tensor.dtype.bits * tensor.dtype.lanes // 8
    count = math.prod(tensor.shape) * size
    data = (ctypes.c_uint8 * count).from_address(tensor.data_ptr() if count else 0)
    return np.frombuffer(data, np.uint8).reshape(*tensor.shape, size)


def whole(plan, seed):
    """The bytes of the whole tensor: the same in all processes."""
    size = plan.dtype.bits * plan.dtype.lanes // 8
    values = np.random.default_rng(seed).integers(0, 256, (*plan.shape, size), np.uint8)
    return values & 1 if plan.dtype.name == "bool" else values


def boxes_of(shapes, boxes):
    """Where each of a rank's tensors is in the whole. Those without elements are anywhere."""
    boxes = iter(boxes)
    return [next(boxes) if math.prod(s) else [(0, size) for size in s] for s in shapes]


def source_boxes(plan, rank):
    return boxes_of(plan.source_shapes(rank), plan.source_boxes(rank))


def target_boxes(plan, rank):
    return boxes_of(plan.target_shapes(rank), plan.target_boxes(rank))


def part(values, box):
    return values[tuple(slice(start, stop) for start, stop in box)]


class Place:
    """A tensor, and its memory: that of its elements, and of the gaps between them."""

    def __init__(self, empty, shape, dtype, layout):
        steps = {"dense": 1, "strided": 2, "reversed": -2}[layout]
        sizes = tuple(size * abs(steps) for size in shape)
        base = empty(sizes, dtype=dtype)
        self.bytes = memory(base)
        self.bytes[...] = GAP
        self.index = (slice(None, None, steps),) * len(shape)
        self.tensor = base[self.index] if steps != 1 else base

    def write(self, values):
        self.bytes[self.index] = values

    def holds(self, values):
        """Whether it has these bytes as elements, and nothing was written beside them."""
        expected = np.full_like(self.bytes, GAP)
        expected[self.index] = values
        return np.array_equal(self.bytes, expected)


def shards_of(kept, plan, where, layout):
    empty = dt.ipc.empty if where == "ipc" else kept.pool.empty
    shapes = plan.source_shapes(kept.group.rank)
    return [Place(empty, shape, plan.dtype, layout) for shape in shapes]


def reshard(kept, arguments, options):
    """Make the plan, run it, and return what is wrong, or None.

    count   how often, with new elements each time
    where, layout
            of the shards
    out, out_layout
            of the targets: None, or "cpu", "ipc", "pool"
    plan    "rank": run the RankPlan after pickling
    """
    shape, dtype, source, target = arguments
    plan = Reshard(shape, dtype, source=source, target=target)
    rank = kept.group.rank
    places = shards_of(kept, plan, options.get("where", "ipc"), options.get("layout", "dense"))
    runner = plan
    if options.get("plan") == "rank":
        runner = pickle.loads(pickle.dumps(plan.for_rank(rank)))
    targets = None
    if options.get("out"):
        empty = {"cpu": dt.empty, "ipc": dt.ipc.empty, "pool": kept.pool.empty}[options["out"]]
        layout = options.get("out_layout", "dense")
        targets = [Place(empty, shape, dtype, layout) for shape in plan.target_shapes(rank)]
    for number in range(options.get("count", 1)):
        values = whole(plan, number)
        for place, box in zip(places, source_boxes(plan, rank), strict=True):
            place.write(part(values, box))
        own = [place.tensor for place in places]
        out = None if targets is None else [place.tensor for place in targets]
        result = runner.run(own, out, kept.group)
        if out is not None and result is not out:
            return f"run {number} does not return `out`"
        wrong = check(plan, rank, result, targets, values)
        if wrong is not None:
            return f"run {number}: {wrong}"
        for place, box in zip(places, source_boxes(plan, rank), strict=True):
            if not place.holds(part(values, box)):
                return f"run {number} wrote to a shard"
    return None


def check(plan, rank, result, targets, values):
    boxes = target_boxes(plan, rank)
    if targets is not None:
        for place, box in zip(targets, boxes, strict=True):
            if not place.holds(part(values, box)):
                return f"{box} is not what it should be, or what is beside it"
        return None
    tensors = result if len(boxes) != 1 else [result]
    for tensor, box in zip(tensors, boxes, strict=True):
        if tensor.dtype != plan.dtype or not np.array_equal(memory(tensor), part(values, box)):
            return f"{box} is not what it should be"
    return None


def reshard_mesh(kept, shape, source, target, seed):
    """Reshard int32 elements between meshes, without a look at the plan. Return what is wrong."""
    plan = Reshard(shape, "int32", source=source, target=target)
    values = np.random.default_rng(seed).integers(0, 1 << 30, shape, np.int32)
    own, expected = (local(values, *layout, kept.group.rank) for layout in (source, target))
    shards = None
    if own is not None:
        shards = dt.ipc.empty(own.shape, dtype="int32")
        dt.copyto(shards, np.ascontiguousarray(own))
    result = plan.run(shards, None, kept.group)
    if expected is None:
        return None if result == [] else f"{result} instead of nothing"
    if not np.array_equal(result.numpy(), expected):
        return f"{result} instead of {expected}"
    return None


def local(values, mesh, placements, rank):
    """What a rank has of an array in a layout; None if the mesh is without it."""
    if rank not in mesh.ranks:
        return None
    place = np.unravel_index(mesh.ranks.index(rank), mesh.shape)
    for index, count, placement in zip(place, mesh.shape, placements, strict=True):
        if type(placement).__name__ == "Shard":
            size = values.shape[placement.dim]
            chunk = -(-size // count)
            start, stop = min(index * chunk, size), min((index + 1) * chunk, size)
            values = np.moveaxis(
                np.moveaxis(values, placement.dim, 0)[start:stop], 0, placement.dim
            )
    return values


def interleave(kept, first, second, count):
    """Run two plans in turn in one group, there and back. Return the first wrong round, or None."""
    there, back = (Reshard(*a[:2], source=a[2], target=a[3]) for a in (first, second))
    rank = kept.group.rank
    (place,) = shards_of(kept, there, "pool", "dense")
    middle = kept.pool.empty(there.target_shapes(rank)[0], dtype=there.dtype)
    for number in range(count):
        values = whole(there, number)
        own = part(values, there.source_boxes(rank)[0])
        place.write(own)
        there.run(place.tensor, middle, kept.group)
        place.write(0)
        back.run([middle], [place.tensor], kept.group)
        if not place.holds(own):
            return number
    return None


def ring(kept, size, count):
    """Each rank's shard goes to the next one, and is overwritten as soon as run() returns.

    Returns the first wrong round, or None. A torn copy has elements of two rounds.
    """
    rank, ranks = kept.group.rank, kept.group.size
    boxes = [((r * size, (r + 1) * size),) for r in range(ranks)]
    plan = Reshard(ranks * size, "int32", source=boxes, target=boxes[1:] + boxes[:1]).for_rank(rank)
    shard = dt.ipc.empty(size, dtype="int32")
    out = dt.empty(size, dtype="int32")
    for number in range(count):
        shard.numpy()[...] = number * ranks + rank
        plan.run(shard, out, kept.group)
        shard.numpy()[...] = -1
        if not (out.numpy() == number * ranks + (rank + 1) % ranks).all():
            return number
    return None


def run_with_new_shards(kept, count):
    """Run with a new shard each time. Return what the process has more of afterwards, or None."""
    rank, ranks = kept.group.rank, kept.group.size
    boxes = [((r * 10_000, (r + 1) * 10_000),) for r in range(ranks)]
    plan = Reshard(ranks * 10_000, "int8", source=boxes, target=boxes[1:] + boxes[:1])
    for number in range(count):
        own = dt.ipc.empty(10_000, dtype="int8", isolated=number % 2 == 0)
        own[...] = rank
        assert (plan.run(own, None, kept.group).numpy() == (rank + 1) % ranks).all()
        if number == count // 2:
            before = usage()
    after = usage()
    return None if after <= before else f"{before} and {after} descriptors and mappings"


def usage():
    with open("/proc/self/maps") as file:
        return len(os.listdir("/proc/self/fd")) + sum("dovetail." in line for line in file)


def reshard_libraries(kept, library):
    """Rows to columns, of shards and into `out` of another library. Return what is wrong."""
    rank, size = kept.group.rank, kept.group.size
    rows = [((2 * r, 2 * r + 2), (0, 2 * size)) for r in range(size)]
    columns = [((0, 2 * size), (2 * r, 2 * r + 2)) for r in range(size)]
    plan = Reshard((2 * size, 2 * size), "float32", source=rows, target=columns)
    values = np.arange(4 * size * size, dtype=np.float32).reshape(2 * size, 2 * size)
    shared = dt.ipc.empty((2, 2 * size), dtype="float32")
    if library == "torch":
        import torch

        shard, out = dt.convert(shared, torch.Tensor), torch.zeros(2 * size, 2)
        shard[...] = torch.from_numpy(values[2 * rank : 2 * rank + 2])
    else:
        shard, out = shared.numpy(), np.zeros((2 * size, 2), np.float32)
        shard[...] = values[2 * rank : 2 * rank + 2]
        shard.setflags(write=library != "read-only")
    if plan.run(shard, out, kept.group) is not out:
        return "not `out`"
    if not np.array_equal(np.asarray(out), values[:, 2 * rank : 2 * rank + 2]):
        return f"{out}"
    return None


def reshard_modules(kept, copy):
    """Rows of Parameters to columns of Parameters, private ones if `copy`."""
    import torch

    rank, size = kept.group.rank, kept.group.size
    mesh = Mesh(size)
    plan = Reshard((6, size), "float32", source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))
    values = torch.arange(6.0 * size).reshape(6, size)
    own = values[plan.source_boxes(rank)[0][0][0] :][: plan.source_shapes(rank)[0][0]].clone()
    if not copy:
        shared = dt.convert(dt.ipc.empty(own.shape, dtype="float32"), torch.Tensor)
        own = shared.copy_(own)
    weight, out = torch.nn.Parameter(own), torch.nn.Parameter(torch.zeros(6, 1))
    if plan.run(weight, out, kept.group, copy=copy) is not out:
        return "not `out`"
    expected = values[:, rank : rank + 1]
    return None if torch.equal(out.detach(), expected) else f"{out} instead of {expected}"


def reshard_with_nothing(kept):
    """Ranks beyond the rows pass None for a shard without elements. Return what is wrong."""
    rank, size = kept.group.rank, kept.group.size
    mesh = Mesh(size)
    plan = Reshard((2, 4), "int8", source=(mesh, [Shard(0)]), target=(mesh, [Replicate()]))
    shard = None
    if rank < 2:
        shard = dt.ipc.empty((1, 4), dtype="int8")
        shard[...] = rank
    result = plan.run(shard, None, kept.group).tolist()
    return None if result == [[0] * 4, [1] * 4] else f"{result}"


def reshard_packed(kept, width):
    """Rows to columns of packed int4, of columns of so many elements. Return what is wrong."""
    rank, size = kept.group.rank, kept.group.size
    rows = [((2 * r, 2 * r + 2), (0, width * size)) for r in range(size)]
    columns = [((0, 2 * size), (width * r, width * (r + 1))) for r in range(size)]
    plan = Reshard((2 * size, width * size), "int4", source=rows, target=columns)
    values = np.random.default_rng(0).integers(-8, 8, plan.shape, np.int8)
    shard = dt.ipc.empty((2, width * size), dtype="int4")
    shard[...] = values[2 * rank : 2 * rank + 2].tolist()
    result = plan.run(shard, None, kept.group)
    expected = values[:, width * rank : width * (rank + 1)].tolist()
    return None if result.tolist() == expected else f"{result.tolist()} instead of {expected}"
