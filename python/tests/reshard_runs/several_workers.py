"""What the processes of several_test.py run: many tensors at once."""

import numpy as np

import dovetail as dt
from dovetail import reshard
from dovetail.reshard import Group, Mesh, Reshard, Shard

SHAPES = [(6, 4), (3,), (0, 2), (5, 7, 2), (100,)]


def join(kept, name, rank, size):
    kept.group = Group(name, rank, size)


def moves(group, count=5):
    """Rows become parts of the last dimension. The whole tensors, and what run() takes."""
    mesh = Mesh(group.size)
    wholes, result = [], []
    for number, shape in enumerate(SHAPES[:count]):
        plan = Reshard(shape, "int32", source=(mesh, [Shard(0)]), target=(mesh, [Shard(-1)]))
        whole = np.random.default_rng(number).integers(0, 1000, shape, np.int32)
        (own,) = plan.source_shapes(group.rank)
        shard = dt.ipc.empty(own, dtype="int32")
        if shard.size:
            (box,) = plan.source_boxes(group.rank)
            dt.copyto(shard, np.ascontiguousarray(whole[tuple(slice(*r) for r in box)]))
        wholes.append(whole)
        # Plans and parts of plans, with and without memory for the result.
        out = dt.empty(plan.target_shapes(group.rank)[0], dtype="int32") if number % 2 else None
        result.append((plan.for_rank(group.rank) if number % 3 else plan, shard, out))
    return wholes, result


def run_all(kept):
    """Return the numbers of the tensors that are wrong."""
    group = kept.group
    wholes, given = moves(group)
    wrong = []
    for number, tensor in enumerate(reshard.run(given, group)):
        out = given[number][2]
        whole = wholes[number]
        size = -(-whole.shape[-1] // group.size)
        expected = whole[..., group.rank * size : (group.rank + 1) * size]
        if not np.array_equal(tensor.numpy(), expected) or out not in (None, tensor):
            wrong.append(number)
    return wrong


def run_fewer(kept, rank):
    """One rank has a tensor fewer than the others."""
    group = kept.group
    return reshard.run(moves(group, 4 if group.rank == rank else 5)[1], group)


def run_other_order(kept, rank):
    given = moves(kept.group)[1]
    return reshard.run(given[::-1] if kept.group.rank == rank else given, kept.group)


def run_with_wrong_shard(kept, rank):
    given = moves(kept.group)[1]
    if kept.group.rank == rank:
        given[3] = (given[3][0], dt.ipc.empty(1, dtype="int32"), None)
    return reshard.run(given, kept.group)


def run_into_a_shard(kept, rank):
    """The result of a tensor is the shard of another one."""
    group = kept.group
    same = [(slice(0, 4),) for _ in range(group.size)]
    plan = Reshard(4, "int32", source=same, target=same)
    shards = [dt.ipc.empty(4, dtype="int32") for _ in range(2)]
    out = shards[0] if group.rank == rank else dt.empty(4, dtype="int32")
    return reshard.run([(plan, shards[0], None), (plan, shards[1], out)], group)


def run_nothing(kept):
    return reshard.run([], kept.group)
