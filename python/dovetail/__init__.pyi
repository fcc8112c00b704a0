"""Type stubs of the package: everything in the extension module, and the functions in Python."""

import builtins
import contextlib
from typing import Any

from dovetail import ipc as ipc
from dovetail import utils as utils
from dovetail._core import *  # noqa: F403
from dovetail._core import __version__ as __version__
from dovetail._explain import Report as _Report

def explain(
    x: Any, target: type | None = None, *, device: Any = None, copy: builtins.bool | None = None
) -> _Report: ...
def pickle_device(device: Any) -> contextlib.AbstractContextManager[Any]: ...
def get_include() -> str: ...
