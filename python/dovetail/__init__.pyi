"""Type stubs of the package: everything in the extension module, and the functions in Python."""

import builtins
import contextlib
from collections.abc import Hashable, Iterable
from os import PathLike as _PathLike
from typing import Any, Literal, SupportsIndex, overload

from dovetail import _typing as _t
from dovetail import ipc as ipc
from dovetail import utils as utils
from dovetail._core import *  # noqa: F403
from dovetail._core import Tensor as Tensor
from dovetail._core import __version__ as __version__
from dovetail._explain import Report as _Report
from dovetail._kernels import KernelLibrary as _KernelLibrary
from dovetail._pairs import Layout as _Layout
from dovetail._pairs import Pair as _Pair
from dovetail._trace import Trace as _Trace
from dovetail.distributed import Description as _Description
from dovetail.reshard import Reshard as _Reshard
from dovetail.reshard import _Sharding

def describe(x: _t.SupportsDLPack, *, writable: builtins.bool = False) -> _Description: ...
def describe_pair(
    a: _t.SupportsDLPack | _Layout,
    b: _t.SupportsDLPack | _Layout,
    *,
    granularity: int | None = None,
) -> _Pair: ...
def Reshard(  # noqa: N802
    shape: SupportsIndex | Iterable[SupportsIndex],
    dtype: _t.DTypeLike,
    *,
    source: _Sharding,
    target: _Sharding,
    hosts: Iterable[Hashable] | None = None,
    partial: builtins.bool = False,
) -> _Reshard: ...
def explain(
    x: Any,
    target: type | str | None = None,
    *,
    device: Any = None,
    copy: builtins.bool | None = None,
) -> _Report: ...
def pickle_device(device: Any) -> contextlib.AbstractContextManager[Any]: ...
def ones(
    *size: SupportsIndex | Iterable[SupportsIndex],
    shape: _t.Shape | None = None,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor: ...
def empty_like(
    x: Any, *, dtype: _t.DTypeLike | None = None, device: _t.DeviceLike | None = None
) -> Tensor: ...
def zeros_like(
    x: Any, *, dtype: _t.DTypeLike | None = None, device: _t.DeviceLike | None = None
) -> Tensor: ...
def ones_like(
    x: Any, *, dtype: _t.DTypeLike | None = None, device: _t.DeviceLike | None = None
) -> Tensor: ...
def full_like(
    x: Any,
    fill_value: complex,
    *,
    dtype: _t.DTypeLike | None = None,
    device: _t.DeviceLike | None = None,
) -> Tensor: ...
def convert_tree(tree: Any, target: type | str, *, copy: builtins.bool | None = None) -> Any: ...
def trace(*, limit: builtins.int = 1_000_000) -> _Trace: ...
def no_copies() -> contextlib.AbstractContextManager[None]: ...
def load_kernels(path: str | _PathLike[str], *, namespace: str | None = None) -> _KernelLibrary: ...
def get_include() -> str: ...
def set_allocator(
    device: _t.DeviceLike, allocator: _t.AllocatorLike | None, kind: str = "device"
) -> None: ...
@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, dict[str, Any]]: ...
