"""Zero-copy exchange of tensors between frameworks and devices.

>>> import array
>>> import dovetail as dt
>>> a = array.array("i", [1, 2, 3])
>>> t = dt.frombuffer(a, dtype=dt.int32)
>>> t[0] = -1
>>> a
array('i', [-1, 2, 3])

from_dlpack() takes any framework's tensor and shares its memory. Any framework can take a Tensor
through the same protocol. This package imports no framework.
"""

from dovetail import _core, ipc, utils
from dovetail._core import *  # noqa: F403
from dovetail._core import __version__  # noqa: F401
from dovetail._creation import asarray, empty_like, full_like, ones, ones_like, zeros_like

__all__ = [name for name in dir(_core) if not name.startswith("_")] + [
    "asarray",
    "convert_tree",
    "empty_like",
    "explain",
    "full_like",
    "get_include",
    "ipc",
    "ones",
    "ones_like",
    "pickle_device",
    "utils",
    "zeros_like",
]


def explain(x, target=None, *, device=None, copy=None):
    """Report how x would be imported, whether the result would share memory or copy, and why.

    With a target class, report what convert(x, target) would do. Print the report or read its
    fields: see dovetail._explain.Report.
    """
    from dovetail._explain import explain

    return explain(x, target, device=device, copy=copy)


def convert_tree(tree, target, *, copy=None):
    """Return the containers with every tensor in them converted to the class target.

    tree    nested dicts, lists, tuples (named ones, too) and dataclasses, such as a state dict or
            a batch. New containers of the same classes are returned; what is no tensor stays.
    target, copy  as in convert()

    >>> import numpy as np
    >>> dt.convert_tree({"x": [np.arange(2)], "n": 3}, dt.Tensor)
    {'x': [tensor([0, 1])], 'n': 3}
    """
    from dovetail._trees import convert_tree

    return convert_tree(tree, target, copy=copy)


def get_include():
    """Return the directory of the headers for extension modules in C and C++.

    With -I and this directory, "dovetail/python/capi.h" and "dlpack/dlpack.h" are found. CMake and
    pkg-config find it themselves: see `python -m dovetail --help`.
    """
    import os

    return os.path.join(os.path.dirname(__file__), "include")


def pickle_device(device):
    """Choose where tensors that were pickled on a GPU are loaded: on `device`, such as "cpu".

    None: on the device that they were pickled on, which is an error if there is none. Holds in the
    whole process, from this call on; as a context manager, until its end. Tensors that were pickled
    on the CPU are not affected.

    >>> import pickle
    >>> data = pickle.dumps(dt.arange(3))
    >>> with dt.pickle_device("cpu"):
    ...     pickle.loads(data)
    tensor([0, 1, 2])
    """
    from dovetail._pickle import PickleDevice

    return PickleDevice(device)
