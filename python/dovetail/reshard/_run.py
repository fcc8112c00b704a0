"""A rank's part of a plan, and how it is run."""

import contextlib
import json

from dovetail import _core, ipc
from dovetail._pairs import check_writable
from dovetail._streams import synchronize


class RankPlan:
    """What one rank does in a Reshard. Reshard.for_rank() makes it. It can be pickled.

    rank          the rank
    size, fingerprint
                  of the whole plan
    source_shapes, target_shapes
                  of the rank's own tensors, as lists of tuples
    receives, sends
                  the rank's Pieces, as lists
    """

    def __init__(self, plan, rank):
        self.rank = rank
        self.size = plan.size
        self.fingerprint = plan.fingerprint
        self.source_shapes = plan.source_shapes(rank)
        self.target_shapes = plan.target_shapes(rank)
        # Not all ranks begin with the same peer. Pieces of one peer stay in order.
        self.receives = sorted(plan.receives(rank), key=lambda p: (p.source - rank) % plan.size)
        self.sends = plan.sends(rank)
        self._dtype_name = plan.dtype.name
        self._description = f"{plan.dtype.name} {plan.shape} on {plan.size} ranks"

    def run(self, shards, out, group, *, timeout=60.0):
        """Move the elements. All ranks of the group call it, each with its own tensors.

        shards   the rank's tensors in the source layout: one, a list, or None if it has none.
                 Whatever from_dlpack() accepts. What other ranks of the host need lies in shared
                 memory, as of dovetail.ipc.empty() and Pool.empty()
        out      where the elements go: the tensors in the target layout, of any memory, apart from
                 that of the shards. None: new ones are made on the CPU
        group    a dovetail.reshard.Group, or a dovetail.mpi.Group for several hosts, with the
                 plan's ranks, and perhaps others; None for a plan of one rank
        timeout  how many seconds to wait for other ranks, before and after the elements move

        Returns `out`, or the new tensors: one if this rank has one, else a list. The shards can
        then be written again.

        Nothing moves before all ranks of the group have come with the same plan and with tensors
        that fit it. Otherwise all raise: ValueError if the plans differ; for tensors that do not
        fit, their rank TypeError, ValueError or ExchangeError, and the others RuntimeError. If a
        rank ends, or does not come in time, the others raise ConnectionError or TimeoutError. The
        shards are then as they were, and `out` has its old elements or new ones.
        """
        try:
            return self._run(shards, out, group, timeout)
        except Exception:
            raise
        except BaseException:  # a KeyboardInterrupt, after which the others would wait
            if group is not None:
                group.abandon()
            raise

    def _run(self, shards, out, group, timeout):
        with _tell_of_failure(group, timeout):
            self._check_group(group)
            sources = self._tensors(shards, self.source_shapes, "shards")
            targets = self._targets(out)
            _check_apart(targets, sources)
            handles = self._share(sources, group)
        opened = {self.rank: sources}
        if group is None:
            self._copy(opened, targets)
            return _result(out, targets)
        own = {"plan": self.fingerprint, "of": self._description, "shards": handles}
        answers = _meet(group, own, timeout)
        _compare(own, answers, group.rank)
        # The shards of a rank that has ended can't be opened.
        with _tell_of_failure(group, timeout, unless_ended=_core.ExchangeError):
            pending = self._begin_messages(sources, targets, group)
            opened.update(self._open(answers, targets, group))
            self._copy(opened, targets)
            if pending:
                group.wait(pending, timeout=timeout)
        _raise_failures(_meet(group, {}, timeout))
        return _result(out, targets)

    def _check_group(self, group):
        if group is None:
            if self.size > 1:
                raise ValueError(f"The plan has {self.size} ranks; pass a Group of them.")
        elif group.rank != self.rank or group.size < self.size:
            raise ValueError(
                f"This is the plan of rank {self.rank} of {self.size}, and the group's rank is "
                f"{group.rank} of {group.size}."
            )

    def _tensors(self, given, shapes, name):
        if not isinstance(given, (list, tuple)):
            given = [] if given is None else [given]
        if len(given) != len(shapes):
            raise ValueError(
                f"{name}: rank {self.rank} has {len(shapes)} tensors in this layout, of shapes "
                f"{shapes}, and {len(given)} are passed"
            )
        try:
            tensors = [_core.from_dlpack(x) for x in given]
        except AttributeError as error:
            raise TypeError(f"{name}: {error}") from error
        dtype = _core.dtype(self._dtype_name)
        for number, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
            if tensor.dtype != dtype:
                raise TypeError(
                    f"{name}[{number}] has elements of {tensor.dtype.name}, and the plan of "
                    f"{dtype.name}; convert it, as in t.to({dtype.name!r})"
                )
            if tensor.shape != shape:
                raise ValueError(
                    f"{name}[{number}] has shape {tensor.shape}, and rank {self.rank} has {shape} "
                    "in this layout"
                )
        return tensors

    def _targets(self, out):
        if out is None:
            return [_core.empty(shape, dtype=self._dtype_name) for shape in self.target_shapes]
        targets = self._tensors(out, self.target_shapes, "out")
        for tensor in targets:
            check_writable(tensor.readonly)
        return targets

    def _share(self, sources, group):
        """Return a handle in hexadecimal digits for each shard that others of this host need."""
        if group is None:
            return {}
        needed = {p.source_tensor for p in self.sends if self._is_opened(p.target, group)}
        handles = {}
        for number in sorted(needed):
            try:
                handles[str(number)] = bytes(ipc.share(sources[number])).hex()
            except _core.ExchangeError as error:
                raise _core.ExchangeError(f"shards[{number}]: {error}") from error
        return handles

    def _is_opened(self, rank, group):
        """Whether another rank's shards are in shared memory of this host."""
        hosts = _hosts(group)
        return rank != self.rank and (hosts is None or hosts[rank] == hosts[self.rank])

    def _is_remote(self, rank, group):
        hosts = _hosts(group)
        return hosts is not None and hosts[rank] != hosts[self.rank]

    def _begin_messages(self, sources, targets, group):
        """Receive from and send to other hosts. Return what to wait for."""
        if _hosts(group) is None:
            return []
        pending = [
            group.receive(piece.of_target(targets), piece.source)
            for piece in self.receives
            if self._is_remote(piece.source, group)
        ]
        pending += [
            group.send(piece.of_source(sources), piece.target)
            for piece in self.sends
            if self._is_remote(piece.target, group)
        ]
        return pending

    def _open(self, answers, targets, group):
        """Return the shards of others that this rank needs, by rank and number."""
        opened = {}
        for piece in self.receives:
            if not self._is_opened(piece.source, group):
                continue
            tensors = opened.setdefault(piece.source, {})
            if piece.source_tensor not in tensors:
                handle = answers[piece.source]["shards"][str(piece.source_tensor)]
                tensors[piece.source_tensor] = ipc.open(bytes.fromhex(handle))
        for tensors in opened.values():
            _check_apart(targets, tensors.values())
        return opened

    def _copy(self, opened, targets):
        for piece in self.receives:
            if piece.source in opened:
                _core.copyto(piece.of_target(targets), piece.of_source(opened[piece.source]))
        for tensor in targets:
            if tensor.device.type != "cpu":
                synchronize(tensor)


def _hosts(group):
    return getattr(group, "hosts", None)


def _meet(group, own, timeout):
    return [json.loads(data) for data in group.exchange(json.dumps(own).encode(), timeout=timeout)]


@contextlib.contextmanager
def _tell_of_failure(group, timeout, unless_ended=()):
    """Tell the other ranks of an exception, so that they raise as well.

    unless_ended  exceptions that may come of the end of another rank, which is raised then
    """
    try:
        yield
    except Exception as error:
        if group is not None:
            try:
                _meet(group, {"error": f"{type(error).__name__}: {error}"}, timeout)
            except OSError as end:  # the others know that something failed
                if isinstance(error, unless_ended):
                    raise end from error
        raise


def _raise_failures(answers):
    for rank, answer in enumerate(answers):
        if "error" in answer:
            raise RuntimeError(f"Rank {rank} failed: {answer['error']}")


def _compare(own, answers, rank):
    """Raise unless all ranks have the same plan."""
    _raise_failures(answers)
    for other, answer in enumerate(answers):
        if answer.get("plan") == own["plan"]:
            continue
        how = f"{answer.get('of')}, and rank {rank} of {own['of']}"
        if answer.get("of") == own["of"]:
            how = f"{own['of']}, with other layouts or hosts than rank {rank}"
        raise ValueError(f"The ranks have different plans: rank {other} has one of {how}.")


def _extent(tensor):
    """Return (first, end) of the addresses of a tensor's elements."""
    reach = [(size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides, strict=True)]
    bits = _core._step_bits(tensor)
    first = tensor.data_ptr() + sum(min(steps, 0) for steps in reach) * bits // 8
    return first, first + (sum(map(abs, reach)) * bits + bits + 7) // 8


def _check_apart(targets, sources):
    """Raise if the result would overwrite shards, or itself."""
    extents = [_extent(tensor) for tensor in targets if tensor.size]
    if len(set(extents)) < len(extents):
        raise ValueError("Two tensors of `out` are the same memory.")
    for tensor in sources:
        if not tensor.size:
            continue
        first, end = _extent(tensor)
        if any(start < end and first < stop for start, stop in extents):
            raise ValueError("A tensor of `out` shares memory with a shard; pass other memory.")


def _result(out, targets):
    if out is not None:
        return out
    return targets[0] if len(targets) == 1 else targets
