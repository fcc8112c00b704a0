"""Type stubs of explain(). The module documents the fields."""

from typing import Any

from dovetail import _core

class Report:
    source: str
    target: str
    door: str | None
    aliases: bool | None
    reason: str
    refused: Exception | None
    dtype: _core.DType | None
    shape: tuple[int, ...] | None
    strides: tuple[int, ...] | None
    device: _core.Device | None
    readonly: bool | None
    version: tuple[int, int] | None
    flags: list[str] | None
    stream: str | None
    def __init__(self, **fields: Any) -> None: ...

def explain(
    x: Any, target: type | str | None = None, *, device: Any = None, copy: bool | None = None
) -> Report: ...
