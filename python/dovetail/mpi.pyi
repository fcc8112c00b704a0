"""Type stubs of dovetail.mpi. The module documents the functions."""

import builtins
from collections.abc import Iterable
from typing import Any, Literal

from mpi4py import MPI

from dovetail import _typing as _t

__all__ = ["datatype", "element", "message", "messages", "op"]

def message(
    x: _t.SupportsDLPack,
) -> tuple[Any, MPI.Datatype] | tuple[Any, int, MPI.Datatype]: ...
def messages(
    tensors: Iterable[_t.SupportsDLPack], *, writable: builtins.bool = False
) -> tuple[MPI.BottomType, list[int], list[int], list[MPI.Datatype]]: ...
def datatype(x: _t.SupportsDLPack) -> MPI.Datatype: ...
def element(dtype: _t.DTypeLike) -> MPI.Datatype: ...
def op(name: Literal["sum", "prod", "max", "min"], dtype: _t.DTypeLike) -> MPI.Op: ...
