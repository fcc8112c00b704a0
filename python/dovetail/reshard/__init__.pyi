"""Type stubs of dovetail.reshard. The module documents the classes."""

import builtins
from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol, SupportsIndex

from dovetail import _core
from dovetail import _typing as _t
from dovetail.reshard._explain import Explanation

__all__ = ["Group", "Mesh", "Piece", "RankPlan", "Replicate", "Reshard", "Shard", "run"]

class Shard(NamedTuple):
    dim: int
    split_factor: int = 1

class Replicate(NamedTuple): ...

class Mesh:
    shape: tuple[int, ...]
    ranks: tuple[int, ...]
    def __init__(
        self,
        shape: SupportsIndex | Iterable[SupportsIndex],
        ranks: Iterable[SupportsIndex] | None = None,
    ) -> None: ...

class _DTensor(Protocol):
    @property
    def device_mesh(self) -> Any: ...
    @property
    def placements(self) -> Any: ...

class _JaxSharding(Protocol):
    def devices_indices_map(self, global_shape: tuple[int, ...]) -> Mapping[Any, Any]: ...

# A mesh and placements, a DTensor, boxes by rank, or a Sharding of JAX.
_Sharding = tuple[Any, Sequence[Any]] | Sequence[Any] | Mapping[int, Any] | _DTensor | _JaxSharding

class _AnyGroup(Protocol):
    rank: int
    size: int
    def exchange(self, data: bytes, *, timeout: float = ...) -> list[bytes]: ...

class Piece(NamedTuple):
    source: int
    target: int
    source_tensor: int
    target_tensor: int
    source_start: tuple[int, ...]
    target_start: tuple[int, ...]
    start: tuple[int, ...]
    shape: tuple[int, ...]
    def of_source(self, tensors: Any) -> Any: ...
    def of_target(self, tensors: Any) -> Any: ...

class RankPlan:
    rank: int
    size: int
    fingerprint: str
    dtype_name: str
    description: str
    source_shapes: list[tuple[int, ...]]
    target_shapes: list[tuple[int, ...]]
    receives: list[Piece]
    sends: list[Piece]
    def __init__(self, plan: Reshard, rank: int) -> None: ...
    def run(
        self,
        shards: Any,
        out: Any,
        group: _AnyGroup | None,
        *,
        copy: builtins.bool = False,
        timeout: float = 60.0,
    ) -> Any: ...

class Reshard:
    shape: tuple[int, ...]
    dtype: _core.DType
    hosts: tuple[Hashable, ...] | None
    size: int
    fingerprint: str
    def __init__(
        self,
        shape: SupportsIndex | Iterable[SupportsIndex],
        dtype: _t.DTypeLike,
        *,
        source: _Sharding,
        target: _Sharding,
        hosts: Iterable[Hashable] | None = None,
        partial: builtins.bool = False,
    ) -> None: ...
    def bytes(self, source: SupportsIndex, target: SupportsIndex) -> int: ...
    def received_bytes(self, rank: SupportsIndex) -> list[int]: ...
    def sent_bytes(self, rank: SupportsIndex) -> list[int]: ...
    @property
    def moved_bytes(self) -> int: ...
    def source_shapes(self, rank: SupportsIndex) -> list[tuple[int, ...]]: ...
    def target_shapes(self, rank: SupportsIndex) -> list[tuple[int, ...]]: ...
    def source_boxes(self, rank: SupportsIndex) -> list[tuple[tuple[int, int], ...]]: ...
    def target_boxes(self, rank: SupportsIndex) -> list[tuple[tuple[int, int], ...]]: ...
    def receives(self, rank: SupportsIndex) -> list[Piece]: ...
    def sends(self, rank: SupportsIndex) -> list[Piece]: ...
    def for_rank(self, rank: SupportsIndex) -> RankPlan: ...
    def run(
        self,
        shards: Any,
        out: Any,
        group: _AnyGroup | None,
        *,
        copy: builtins.bool = False,
        timeout: float = 60.0,
    ) -> Any: ...
    def explain(self) -> Explanation: ...

class Group:
    rank: int
    size: int
    def __init__(
        self, name: str, rank: SupportsIndex, size: SupportsIndex, *, timeout: float = 60.0
    ) -> None: ...
    def exchange(self, data: builtins.bytes, *, timeout: float = 60.0) -> list[builtins.bytes]: ...
    def abandon(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Group: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def run(
    moves: Iterable[tuple[Reshard | RankPlan, Any, Any]],
    group: _AnyGroup | None,
    *,
    copy: builtins.bool = False,
    timeout: float = 60.0,
) -> list[Any]: ...
