"""What the processes of run_faults_test.py run."""

import os
import signal

import numpy as np
from ranks import Raised

import dovetail as dt
from dovetail.reshard import Group, Reshard, _move, _run


def boxes(size, width, by_columns):
    ranges = [((r * width, (r + 1) * width), (0, size * width)) for r in range(size)]
    return [box[::-1] if by_columns else box for box in ranges]


def rows_to_columns(size, width, dtype="int64", hosts=None):
    shape = (size * width, size * width)
    source, target = boxes(size, width, False), boxes(size, width, True)
    return Reshard(shape, dtype, source=source, target=target, hosts=hosts)


def join(kept, name, rank, size):
    kept.group = Group(name, rank, size)


def prepare(kept, rank, size, width):
    """Make the plan and its tensors. `out` has no number of the shards."""
    kept.plan = rows_to_columns(size, width)
    kept.rank = rank
    kept.shard = dt.ipc.empty((width, size * width), dtype="int64")
    kept.out = dt.empty((size * width, width), dtype="int64")
    kept.whole = np.arange(size * size * width * width).reshape(kept.plan.shape)
    kept.shard.numpy()[...] = kept.whole[rank * width : (rank + 1) * width]
    kept.out.numpy()[...] = -1


def is_whole(kept):
    """Whether the shard has its elements, and each of `out` its old one or the new one."""
    rank, width = kept.rank, kept.out.shape[1]
    rows = kept.whole[rank * width : (rank + 1) * width]
    columns = kept.whole[:, rank * width : (rank + 1) * width]
    out = kept.out.numpy()
    return bool((kept.shard.numpy() == rows).all() and ((out == -1) | (out == columns)).all())


def is_untouched(kept):
    return is_whole(kept) and bool((kept.out.numpy() == -1).all())


def run(kept, timeout=60.0):
    """Run the plan. Return whether the result is right."""
    kept.plan.run(kept.shard, kept.out, kept.group, timeout=timeout)
    rank, width = kept.rank, kept.out.shape[1]
    right = (kept.out.numpy() == kept.whole[:, rank * width : (rank + 1) * width]).all()
    kept.out.numpy()[...] = -1
    return bool(right)


class Faulty:
    """dovetail._core with a copyto() that does something before one of its calls."""

    def __init__(self, core, number, action):
        self._core, self._left, self._action = core, number, action

    def __getattr__(self, name):
        return getattr(self._core, name)

    def copyto(self, target, source):
        if self._left == 0:
            self._action()
        self._left -= 1
        return self._core.copyto(target, source)


def fail(kind):
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "exit":
        raise SystemExit(3)
    raise OSError("the disk is on fire")


def run_with_fault(kept, kind, number):
    """Run, and let the copy of this number fail, or what comes after all if there are fewer."""
    core = _move._core
    _move._core = Faulty(core, number, lambda: fail(kind))
    try:
        return run(kept)
    finally:
        _move._core = core


def run_with_fault_at(kept, kind, name):
    """Run, and fail instead of calling a function of RankPlan's module."""
    function = getattr(_run, name)
    setattr(_run, name, lambda *_: fail(kind))
    try:
        return run(kept)
    finally:
        setattr(_run, name, function)


def run_and_tell(kept, path):
    """Run, and make the file before the first copy from another rank."""
    core = _move._core
    _move._core = Faulty(core, 1, lambda: open(path, "w").close())
    try:
        return run(kept)
    finally:
        _move._core = core


def run_and_stop(kept):
    core = _move._core
    _move._core = Faulty(core, 1, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    try:
        return run(kept)
    finally:
        _move._core = core


def run_other_plan(kept, size, width, dtype, kind):
    """Run a plan that differs from that of others. Return what it raised if `out` is as before."""
    rank = kept.group.rank
    hosts = [0] * (size - 1) + [1] if kind == "hosts" else None
    plan = rows_to_columns(size, width, dtype, hosts)
    if kind == "layout":
        ranges = boxes(size, width, False)
        plan = Reshard(plan.shape, dtype, source=ranges, target=ranges)
    (shape,), (out_shape,) = plan.source_shapes(rank), plan.target_shapes(rank)
    shard, out = dt.ipc.empty(shape, dtype=dtype), dt.empty(out_shape, dtype=dtype)
    shard[...], out[...] = 1, 2
    try:
        plan.run(shard, out, kept.group)
    except Exception as error:
        if (out.numpy() == 2).all() and (shard.numpy() == 1).all():
            return Raised(type(error).__name__, str(error))
    return "no error, or another element"


def share(kept):
    """A handle of the shard."""
    return dt.ipc.share(kept.shard)


def run_unfit(kept, name, handle):
    """Run with tensors, a plan or a group that do not fit."""
    shard, out = kept.shard, kept.out
    rank, size, width = kept.group.rank, kept.group.size, kept.out.shape[1]
    plan = kept.plan.for_rank(rank)
    if name == "no shard":
        shard = None
    elif name == "two shards":
        shard = [shard, shard]
    elif name == "shape":
        shard = dt.ipc.empty((width, size * width + 1), dtype="int64")
    elif name == "transposed":
        shard = dt.ipc.empty((size * width, width), dtype="int64")
    elif name == "type":
        shard = dt.ipc.empty(shard.shape, dtype="float64")
    elif name == "no tensor":
        shard = object()
    elif name == "None in a list":
        shard = [None]
    elif name == "private":
        shard = dt.empty(shard.shape, dtype="int64")
    elif name == "no out":
        out = []
    elif name == "out's shape":
        out = dt.empty((size * width, width + 1), dtype="int64")
    elif name == "out's type":
        out = dt.empty(out.shape, dtype="uint64")
    elif name == "out is read-only":
        out = np.zeros(out.shape, np.int64)
        out.setflags(write=False)
    elif name == "out is no tensor":
        out = "text"
    elif name == "out is the shard":
        out = shard.reshape(out.shape)
    elif name == "out is the shard, opened":
        out = dt.ipc.open(dt.ipc.share(shard)).reshape(out.shape)
    elif name == "out is a part of the shard":
        memory = dt.ipc.empty(2 * shard.size, dtype="int64")
        shard = memory[: shard.size].reshape(shard.shape)
        out = memory[shard.size - 1 : 2 * shard.size - 1].reshape(out.shape)
    elif name == "out is a peer's shard":
        out = dt.ipc.open(handle).reshape(out.shape)
    elif name == "another rank":
        plan = kept.plan.for_rank((rank + 1) % size)
    elif name == "more ranks":
        plan = rows_to_columns(size + 1, width).for_rank(rank)
    plan.run(shard, out, kept.group)
    return "no error"


def run_doubled(kept):
    """Both tensors of `out` are the same memory in each rank."""
    size, rank = kept.group.size, kept.group.rank
    source = [((r, r + 1),) for r in range(size)]
    target = [[((r, r + 1),), (((r + 1) % size, (r + 1) % size + 1),)] for r in range(size)]
    plan = Reshard(size, "int64", source=source, target=target)
    out = dt.empty(1, dtype="int64")
    shard = dt.ipc.empty(1, dtype="int64")
    shard[0] = rank
    plan.run(shard, [out, out], kept.group)


def run_with_timeout(kept, timeout):
    return kept.plan.run(kept.shard, kept.out, kept.group, timeout=timeout)


def run_no_tensors(kept, what):
    """Run something that is no list of tensors."""
    return dt.reshard.run(what, kept.group)
