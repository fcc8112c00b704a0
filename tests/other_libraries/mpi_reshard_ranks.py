"""What mpi_reshard_test.py runs on each rank: python mpi_reshard_ranks.py NAME, under mpirun."""

import os
import random
import sys
import time

import numpy as np
from mpi4py import MPI

import dovetail as dt
from dovetail.mpi import Group
from dovetail.reshard import Mesh, Replicate, Shard

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size


def raised(error, call, *arguments, **keywords):
    """The message of the error that the call raises."""
    try:
        call(*arguments, **keywords)
    except error as e:
        return str(e)
    raise AssertionError(f"no {error} was raised")


def elements(plan):
    """The whole tensor, as NumPy has it, of unsigned integers as wide as the plan's type."""
    kind = f"uint{plan.dtype.bits}"
    count = int(np.prod(plan.shape, dtype=np.int64))
    numbers = np.arange(count) * 40503 % (1 << min(plan.dtype.bits, 31))
    return numbers.astype(kind).reshape(plan.shape)


def part(whole, box):
    return whole[tuple(slice(*of_dim) for of_dim in box)]


def shards_of(plan, whole):
    """This rank's tensors before, in shared memory. Each rank's layout here has whole boxes."""
    shards = []
    for shape, box in zip(plan.source_shapes(RANK), plan.source_boxes(RANK), strict=True):
        shard = dt.ipc.empty(shape, dtype=plan.dtype)
        bits = dt.frombuffer(shard, dtype=f"uint{plan.dtype.bits}").reshape(shape)
        dt.copyto(bits, np.ascontiguousarray(part(whole, box)))
        shards.append(shard)
    return shards


def check(plan, group, out=None):
    """Run the plan and look at what this rank gets."""
    whole = elements(plan)
    made = plan.run(shards_of(plan, whole), out, group)
    made = made if isinstance(made, list) else [made]
    for tensor, box in zip(made, plan.target_boxes(RANK), strict=True):
        bits = dt.frombuffer(tensor.contiguous(), dtype=f"uint{plan.dtype.bits}")
        assert np.array_equal(bits.reshape(tensor.shape).numpy(), part(whole, box))


def random_plan(seed, hosts):
    """The same on every rank: sizes that each mesh divides leave no tensor empty."""
    r = random.Random(seed)
    rank = r.randint(1, 3)
    shape = [r.choice([SIZE, 2 * SIZE, 4 * SIZE + 4]) for _ in range(rank)]

    def layout():
        mesh = r.choice([Mesh(SIZE), Mesh((SIZE // 2, 2)), Mesh((2, SIZE // 2))])
        ranks = r.sample(range(SIZE), SIZE)
        dims = r.sample(range(rank), min(rank, len(mesh.shape)))
        dims += [None] * (len(mesh.shape) - len(dims))
        placements = [
            Replicate() if dim is None or r.random() < 0.3 else Shard(dim) for dim in dims
        ]
        return Mesh(mesh.shape, ranks), placements

    dtype = r.choice(["float32", "bfloat16", "float8_e4m3fn", "int64"])
    return dt.Reshard(shape, dtype, source=layout(), target=layout(), hosts=hosts)


def random_meshes_by(hosts):
    with Group(COMM, hosts=hosts) as group:
        for seed in range(60):
            check(random_plan(seed, group.hosts), group)


def ranks_of_one_host_share_memory():
    with Group(COMM) as group:
        assert len(set(group.hosts)) == 1
    random_meshes_by(None)


def ranks_of_different_hosts_send_messages():
    random_meshes_by(range(SIZE))


def both_at_once():
    random_meshes_by([rank // 2 for rank in range(SIZE)])


def elements_come_from_the_own_host_if_it_has_them():
    mesh = Mesh((SIZE // 2, 2))
    plan = dt.Reshard(
        (8, 8),
        "float32",
        source=(mesh, [Replicate(), Shard(0)]),
        target=(mesh, [Replicate(), Replicate()]),
        hosts=[rank // 2 for rank in range(SIZE)],
    )
    for rank in range(SIZE):
        assert {piece.source // 2 for piece in plan.receives(rank)} == {rank // 2}


def shards_of_any_memory_and_strides_are_sent():
    hosts = list(range(SIZE))
    plan = dt.Reshard(
        (4 * SIZE, 6),
        "float32",
        source=(Mesh(SIZE), [Shard(0)]),
        target=(Mesh(SIZE, hosts[::-1]), [Shard(0)]),
        hosts=hosts,
    )
    whole = np.arange(24 * SIZE, dtype=np.float32).reshape(4 * SIZE, 6)
    mine = np.zeros((6, 8), np.float32)
    shard = mine.T[::2]  # private, column-major, every second row
    shard[...] = whole[4 * RANK : 4 * RANK + 4]
    wide = np.zeros((4, 12), np.float32)
    with Group(COMM, hosts=hosts) as group:
        out = wide[:, ::-2]
        assert plan.run(shard, out, group) is out
    other = SIZE - 1 - RANK
    assert np.array_equal(out, whole[4 * other : 4 * other + 4])
    assert not wide[:, ::2].any()


def plans_that_differ_are_refused_on_all_ranks():
    mesh = Mesh(SIZE)
    target = (mesh, [Shard(1 if RANK == 1 else 0)])
    plan = dt.Reshard((8, 8), "float32", source=(mesh, [Shard(0)]), target=target)
    out = dt.zeros(plan.target_shapes(RANK)[0])
    shard = dt.ipc.empty(plan.source_shapes(RANK)[0], dtype="float32")
    with Group(COMM) as group:
        assert "different plans" in raised(ValueError, plan.run, shard, out, group)
        assert not out.numpy().any()
        check(random_plan(1, group.hosts), group)  # the group still works


def an_error_of_one_rank_reaches_all():
    mesh = Mesh(SIZE)
    plan = dt.Reshard((8, 8), "float32", source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))
    shard = dt.ipc.empty((1, 1) if RANK == 1 else plan.source_shapes(RANK)[0], dtype="float32")
    with Group(COMM) as group:
        error = ValueError if RANK == 1 else RuntimeError
        assert "shape (1, 1)" in raised(error, plan.run, shard, None, group)
        check(random_plan(2, group.hosts), group)


def a_rank_that_does_not_come_is_a_timeout_of_the_others():
    group = Group(COMM)
    plan = random_plan(3, group.hosts)
    shards = shards_of(plan, elements(plan))
    if RANK == 0:
        time.sleep(3)
        print("done", flush=True)
        os._exit(0)  # (MPI would wait for the messages that are pending)
    out = [dt.zeros(shape, dtype=plan.dtype) for shape in plan.target_shapes(RANK)]
    message = raised(TimeoutError, plan.run, shards, out, group, timeout=0.5)
    assert "0.5 s" in message
    assert not any(dt.frombuffer(t, dtype="uint8").numpy().any() for t in out)
    assert "any more" in raised(ConnectionError, group.exchange, b"")
    print("done", flush=True)
    time.sleep(4)
    os._exit(0)


def a_tensor_without_a_message_is_an_error_of_all():
    """Packed elements, of which a run begins inside a byte."""
    mesh = Mesh(SIZE)
    plan = dt.Reshard(
        (4, 4),
        "int4",
        source=(mesh, [Shard(0)]),
        target=(mesh, [Replicate()]),
        hosts=range(SIZE),
    )
    shard = dt.zeros((1, 4), dtype="int4")
    out = dt.empty((4, 4), dtype="int4")
    if RANK == 1:
        out = out.T
    with Group(COMM, hosts=range(SIZE)) as group:
        error = dt.ExchangeError if RANK == 1 else RuntimeError
        assert "share bytes" in raised(error, plan.run, shard, out, group)
        check(random_plan(1, group.hosts), group)


def hosts_that_differ_are_refused_on_all_ranks():
    others = [0] * SIZE
    for wrong in (list(range(SIZE)), [0], None):
        message = raised(ValueError, Group, COMM, hosts=wrong if RANK == 1 else others)
        assert "the same list" in message
    with Group(COMM, hosts=others) as group:
        check(random_plan(4, group.hosts), group)


def messages_that_are_pending_keep_their_memory():
    """An interrupt comes between receiving and waiting; the others send afterwards."""
    from dovetail.reshard import _move

    mesh = Mesh(SIZE)
    rows, columns = (mesh, [Shard(0)]), (mesh, [Shard(1)])
    plan = dt.Reshard((SIZE, 1 << 14), "int32", source=rows, target=columns, hosts=range(SIZE))
    shard = dt.full((1, 1 << 14), 0x11, dtype="int32")
    group = Group(COMM, hosts=range(SIZE))

    def interrupted(_):
        raise KeyboardInterrupt

    if RANK == 1:
        _move.Move.copy = interrupted
        raised(KeyboardInterrupt, plan.run, shard, None, group)
        fresh = [dt.full((SIZE, 1 << 12), 0x77, dtype="int32") for _ in range(50)]
    else:
        time.sleep(1)
        raised(TimeoutError, plan.run, shard, None, group, timeout=2)
    for _ in range(20):  # MPI makes progress
        COMM.allgather(RANK)
        time.sleep(0.01)
    if RANK == 1:
        assert all((t.numpy() == 0x77).all() for t in fresh)
    print("done", flush=True)
    COMM.Barrier()
    time.sleep(
        1
    )  # (the first end ends the other ranks, and what mpirun has not read of them is lost)
    os._exit(0)  # (MPI would wait for the messages that are pending)


def exchanges_bring_what_each_rank_passed():
    with Group(COMM) as group:
        for length in (0, 1, 100_000):
            data = bytes([RANK]) * (length * RANK)
            received = group.exchange(data)
            assert received == [bytes([rank]) * (length * rank) for rank in range(SIZE)]
    assert "closed" in raised(ConnectionError, group.exchange, b"")
    assert "hosts" in raised(ValueError, Group, COMM, hosts=[0])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("done", flush=True)
