"""Type stubs of what a transfer costs. The module documents the functions."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from dovetail import _typing as _t
from dovetail._pairs import Layout, Pair

class Costs(NamedTuple):
    transfer: float
    row: float
    byte: float
    copy: float | None = None

NIXL_COSTS: Costs

def measure_costs(
    transfer: Callable[[Any, Any], object],
    a: _t.SupportsDLPack | Layout,
    b: _t.SupportsDLPack | Layout,
    *,
    repeat: int = 5,
) -> Costs: ...

class Plan(NamedTuple):
    choice: Literal["spans", "staging a", "staging b", "staging both"]
    seconds: dict[str, float]
    rows: dict[str, int]
    costs: Costs

def make_plan(pair: Pair, costs: Costs | None) -> Plan: ...
