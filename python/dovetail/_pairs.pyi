"""Type stubs of the classes that describe_pair() uses. The module documents them."""

import builtins
from typing import Any, Literal, NamedTuple

from dovetail import _core
from dovetail import _typing as _t
from dovetail._costs import Costs, Plan

NIXL_MEMORY: dict[str, Literal["DRAM", "VRAM"]]

def check_device(tensor: _core.Tensor) -> None: ...
def check_writable(readonly: builtins.bool, name: str = "The tensor") -> None: ...
def count_of_runs(count: int) -> str: ...

class Layout(NamedTuple):
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: _core.DType
    step_bits: int
    device_type: str
    device_id: int
    readonly: builtins.bool
    @classmethod
    def of(cls, x: _t.SupportsDLPack) -> Layout: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def nixl_memory(self) -> Literal["DRAM", "VRAM"]: ...
    def row_major(self) -> Layout: ...

def describe_pair(
    a: _t.SupportsDLPack | Layout,
    b: _t.SupportsDLPack | Layout,
    *,
    granularity: int | None = None,
) -> Pair: ...

class Pair:
    a: Layout
    b: Layout
    granularity: int | None
    nbytes: int
    def __init__(
        self,
        a: Layout,
        b: Layout,
        granularity: int | None = None,
        tensors: tuple[_core.Tensor, ...] = (),
    ) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def run_bytes(self) -> tuple[int, int]: ...
    @property
    def a_spans(self) -> Any: ...  # numpy.ndarray, as the other arrays
    @property
    def b_spans(self) -> Any: ...
    @property
    def a_iovec(self) -> Any: ...
    @property
    def b_iovec(self) -> Any: ...
    @property
    def a_strided(self) -> Any: ...
    @property
    def b_strided(self) -> Any: ...
    def synchronize(self) -> None: ...
    def plan(self, costs: Costs | None = None) -> Plan: ...
    def explain(self) -> str: ...
