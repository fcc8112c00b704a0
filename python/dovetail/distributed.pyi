"""Type stubs of dovetail.distributed. The module documents the functions."""

import builtins
from collections.abc import Callable
from typing import Any, Literal

from dovetail import _core
from dovetail import _typing as _t
from dovetail._costs import NIXL_COSTS as NIXL_COSTS
from dovetail._costs import Costs as Costs
from dovetail._costs import Plan as Plan
from dovetail._pairs import Layout as Layout
from dovetail._pairs import Pair as Pair

__all__ = [
    "NIXL_COSTS",
    "Costs",
    "Description",
    "Layout",
    "Pair",
    "Plan",
    "describe",
    "describe_pair",
    "measure_costs",
]

def describe(x: _t.SupportsDLPack, *, writable: builtins.bool = False) -> Description: ...
def describe_pair(
    a: _t.SupportsDLPack | Layout,
    b: _t.SupportsDLPack | Layout,
    *,
    granularity: int | None = None,
) -> Pair: ...
def measure_costs(
    transfer: Callable[[Any, Any], object],
    a: _t.SupportsDLPack | Layout,
    b: _t.SupportsDLPack | Layout,
    *,
    repeat: int = 5,
) -> Costs: ...

class Description:
    tensor: _core.Tensor
    def __init__(self, tensor: _core.Tensor) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device_type(self) -> str: ...
    @property
    def device_id(self) -> int: ...
    @property
    def dtype(self) -> _core.DType: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def readonly(self) -> builtins.bool: ...
    @property
    def contiguous(self) -> builtins.bool: ...
    @property
    def spans(self) -> Any: ...  # numpy.ndarray, as the other arrays
    @property
    def strided(self) -> Any: ...
    @property
    def iovec(self) -> Any: ...
    @property
    def extent(self) -> tuple[int, int]: ...
    def synchronize(self) -> None: ...
    @property
    def nixl_memory(self) -> Literal["DRAM", "VRAM"]: ...
    def nixl_registration(self) -> list[tuple[int, int, int, str]]: ...
    def nixl_transfer(self, *, strided: builtins.bool = False) -> Any: ...
    def buffer(self) -> _core.Tensor: ...
    def nccl(self, *, as_bytes: builtins.bool = False) -> tuple[int, int, int]: ...
