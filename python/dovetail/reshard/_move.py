"""One tensor of a run: what this rank gives and gets, checked, shared and copied."""

import math

from dovetail import _core, ipc
from dovetail._runs import extent
from dovetail._streams import synchronize


class Move:
    """A RankPlan with this rank's tensors. Raises for tensors that do not fit."""

    def __init__(self, plan, shards, out, group):
        if group is None:
            if plan.size > 1:
                raise ValueError(f"The plan has {plan.size} ranks; pass a Group of them.")
        elif group.rank != plan.rank or group.size < plan.size:
            raise ValueError(
                f"The plan has {plan.size} ranks and is that of rank {plan.rank}; the group has "
                f"{group.size}, and this process is rank {group.rank}."
            )
        self.plan = plan
        self._group = group
        self._hosts = getattr(group, "hosts", None)
        self.sources = self._tensors(shards, plan.source_shapes, "shards")
        self._out = out
        if out is None:
            self.targets = [
                _core.empty(shape, dtype=plan.dtype_name) for shape in plan.target_shapes
            ]
        else:
            self.targets = self._tensors(out, plan.target_shapes, "out")
            for number, tensor in enumerate(self.targets):
                if tensor.readonly:
                    raise _core.ExchangeError(f"out[{number}] is read-only; pass writable memory")
                if _may_repeat(tensor):
                    raise ValueError(f"Elements of out[{number}] share memory; each needs its own.")
        self._opened = {plan.rank: self.sources}
        self._copies = []
        self._received = self._sent = ()

    def _tensors(self, given, shapes, name):
        if given is None and not any(map(math.prod, shapes)):
            return [_core.empty(shape, dtype=self.plan.dtype_name) for shape in shapes]
        if not isinstance(given, (list, tuple)):
            given = [] if given is None else [given]
        if len(given) != len(shapes):
            raise ValueError(
                f"{name}: rank {self.plan.rank} has {len(shapes)} tensors in this layout, of "
                f"shapes {shapes}, and {len(given)} are passed"
            )
        try:
            tensors = [_core.from_dlpack(_own_elements(x)) for x in given]
        except AttributeError as error:
            raise TypeError(f"{name}: {error}") from error
        dtype = _core.dtype(self.plan.dtype_name)
        for number, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
            if tensor.dtype != dtype:
                remedy = f"convert it, as in t.to({dtype.name!r})"
                if name == "out":
                    remedy = "pass one of that type, or None"
                raise TypeError(
                    f"{name}[{number}] has elements of {tensor.dtype.name}, and the plan of "
                    f"{dtype.name}; {remedy}"
                )
            if tensor.shape != shape:
                raise ValueError(
                    f"{name}[{number}] has shape {tensor.shape}, and rank {self.plan.rank} has "
                    f"{shape} in this layout"
                )
        return tensors

    def share(self, copy):
        """Return the handle of each shard that others of this host need, by its number.

        copy  True: of private memory, share a copy, which lasts as long as this object
        """
        needed = {p.source_tensor for p in self.plan.sends if self._is_opened(p.target)}
        handles = {}
        for number in sorted(needed):
            source = self.sources[number]
            try:
                handle = ipc.share(source)
            except _core.ExchangeError as error:
                if not copy:
                    raise _core.ExchangeError(
                        f"shards[{number}] is in memory that other ranks need and can't open: make "
                        "it by dovetail.ipc.empty() or Pool.empty(), or pass copy=True "
                        "(torch.Tensor.share_memory_() is other memory)"
                    ) from error
                handle = ipc.share(source, copy=True)
                self._copies.append(handle)
            handles[number] = bytes(handle)
        return handles

    def prepare_messages(self):
        """Make the messages to and from other hosts, so that beginning them can't fail."""
        if self._hosts is None:
            return
        plan, prepare = self.plan, self._group.prepare
        self._received = [
            (prepare(piece.of_target(self.targets)), piece.source)
            for piece in plan.receives
            if self._is_remote(piece.source)
        ]
        self._sent = [
            (prepare(piece.of_source(self.sources)), piece.target)
            for piece in plan.sends
            if self._is_remote(piece.target)
        ]

    def begin_messages(self):
        for message, rank in self._received:
            self._group.receive(message, rank)
        for message, rank in self._sent:
            self._group.send(message, rank)

    def open(self, handles):
        """Open the shards of others that this rank needs, and return them.

        handles  a function of the rank and the number of its shard
        """
        tensors = []
        for piece in self.plan.receives:
            if not self._is_opened(piece.source):
                continue
            opened = self._opened.setdefault(piece.source, {})
            if piece.source_tensor not in opened:
                handle = handles(piece.source, piece.source_tensor)
                opened[piece.source_tensor] = ipc.open(handle)
                tensors.append(opened[piece.source_tensor])
        return tensors

    def copy(self):
        """Copy what is on this host into its place, and wait for the devices."""
        for piece in self.plan.receives:
            if piece.source in self._opened:
                source = piece.of_source(self._opened[piece.source])
                _core.copyto(piece.of_target(self.targets), source)
        for tensor in self.targets:
            if tensor.device.type != "cpu":
                synchronize(tensor)

    @property
    def result(self):
        if self._out is not None:
            return self._out
        return self.targets[0] if len(self.targets) == 1 else self.targets

    def _is_opened(self, rank):
        """Whether another rank's shards are in shared memory of this host."""
        return rank != self.plan.rank and not self._is_remote(rank)

    def _is_remote(self, rank):
        hosts = self._hosts
        return hosts is not None and hosts[rank] != hosts[self.plan.rank]


def _own_elements(x):
    """Return what this rank has of a DTensor, and Parameters as tensors; else x."""
    if hasattr(x, "to_local") and hasattr(x, "device_mesh"):
        x = x.to_local()
    if getattr(x, "requires_grad", False) and hasattr(x, "detach"):
        x = x.detach()
    return x


def _may_repeat(tensor):
    """Whether elements can share memory: dimensions are not nested in each other."""
    end = 1
    sizes = zip(map(abs, tensor.strides), tensor.shape, strict=True)
    for stride, size in sorted(pair for pair in sizes if pair[1] > 1):
        if stride < end:
            return tensor.size > 0
        end += stride * (size - 1)
    return False


def check_apart(targets, sources):
    """Raise if results would overwrite shards, or each other."""
    targets = [t for t in targets if t.size]
    if len({(t.data_ptr(), t.shape, t.strides) for t in targets}) < len(targets):
        raise ValueError("Two tensors of `out` are the same memory.")
    tensors = [(*extent(t), "out", t.is_contiguous()) for t in targets]
    tensors += [(*extent(t), "shard", True) for t in sources if t.size]
    ends = {"out": 0, "dense out": 0, "shard": 0}  # the highest so far
    for first, nbytes, kind, is_dense in sorted(tensors):
        end = first + nbytes
        if first < ends["shard" if kind == "out" else "out"]:
            raise ValueError(
                "A tensor of `out` shares memory with a shard, or lies between its elements; pass "
                "other memory."
            )
        # (Strided results can lie between each other's elements, as columns do.)
        if kind == "out" and first < ends["out" if is_dense else "dense out"]:
            raise ValueError("Two tensors of `out` overlap.")
        ends[kind] = max(ends[kind], end)
        if kind == "out" and is_dense:
            ends["dense out"] = max(ends["dense out"], end)
