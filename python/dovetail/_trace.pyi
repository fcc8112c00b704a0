"""Type stubs of trace() and no_copies(). The module documents the fields."""

from collections.abc import Iterator
from os import PathLike
from types import TracebackType
from typing import Any, NamedTuple

from dovetail import _core

class Event(NamedTuple):
    kind: str
    start_ns: int
    duration_ns: int
    way: str | None
    source: str | None
    target: str | None
    copied: bool | None
    reason: str | None
    dtype: _core.DType | None
    shape: tuple[int, ...] | None
    nbytes: int
    device: _core.Device
    to_dtype: _core.DType | None
    to_device: _core.Device | None
    stream: str | None
    awaited: tuple[str, ...]
    file: str | None
    line: int
    thread: int
    @property
    def is_copy(self) -> bool: ...
    @property
    def where(self) -> str: ...
    def what(self) -> str: ...
    def as_dict(self) -> dict[str, Any]: ...

class Trace:
    def __init__(self, limit: int) -> None: ...
    def __enter__(self) -> Trace: ...
    def __exit__(
        self,
        type: type[BaseException] | None = None,
        value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None: ...
    def __iter__(self) -> Iterator[Event]: ...
    def __len__(self) -> int: ...
    @property
    def events(self) -> list[Event]: ...
    @property
    def left_out(self) -> int: ...
    def exchanges(self) -> list[Event]: ...
    def copies(self) -> list[Event]: ...
    def waits(self) -> list[Event]: ...
    def table(self) -> str: ...
    def to_json_lines(self, path: str | PathLike[str]) -> None: ...
    def to_perfetto(self, path: str | PathLike[str]) -> None: ...

class NoCopies:
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        type: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def start_from_environment(value: str) -> None: ...
