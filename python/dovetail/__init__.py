"""Zero-copy exchange of tensors between frameworks and devices.

>>> import array
>>> import dovetail as dt
>>> a = array.array("i", [1, 2, 3])
>>> t = dt.frombuffer(a, dtype=dt.int32)
>>> t[0] = -1
>>> a
array('i', [-1, 2, 3])

from_dlpack takes any framework's tensor and shares its memory; a Tensor goes on to any framework
by the same protocol. No framework is imported by this package.
"""

from dovetail import _core, ipc, utils
from dovetail._core import *  # noqa: F403
from dovetail._core import __version__  # noqa: F401

__all__ = [name for name in dir(_core) if not name.startswith("_")] + ["explain", "ipc", "utils"]


def explain(x, target=None, *, device=None, copy=None):
    """Which way x would come in, whether it would alias or copy, and why: a report to print.

    With a target class, what convert(x, target) would do. See dovetail._explain.Report.
    """
    from dovetail._explain import explain

    return explain(x, target, device=device, copy=copy)
