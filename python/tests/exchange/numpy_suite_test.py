"""Runs the installed NumPy's own DLPack tests on Dovetail. As the consumer, Dovetail replaces
np.from_dlpack. As the producer, every array exports itself through a Dovetail tensor.

The source is NumPy's numpy/_core/tests/test_dlpack.py, run with a modified `np` in its namespace. A
table lists the deliberate differences with their reasons; those tests must fail.
"""

import importlib.util
import types

import numpy as np
import pytest

import dovetail as dt

_SOURCE = importlib.util.find_spec("numpy._core.tests.test_dlpack").origin


class Exporting(np.ndarray):
    """An array whose __dlpack__ is that of a Dovetail tensor over its memory."""

    def __dlpack__(self, **asked):
        return dt.from_dlpack(_Plain(self)).__dlpack__(**asked)

    def __dlpack_device__(self):
        return dt.from_dlpack(_Plain(self)).__dlpack_device__()


class _Plain:
    """NumPy's own export of an Exporting array."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **asked):
        return np.ndarray.__dlpack__(self._array, **asked)

    def __dlpack_device__(self):
        return (1, 0)


def _exporting(function):
    return lambda *args, **kwargs: function(*args, **kwargs).view(Exporting)


CONSUMER = {"from_dlpack": lambda x, **asked: dt.from_dlpack(x, **asked).numpy()}
PRODUCER = {
    "ndarray": Exporting,
    **{name: _exporting(getattr(np, name)) for name in ("arange", "array", "asarray", "zeros")},
}

DIFFERENCES_OF_THE_CONSUMER = {
    "test_writeable": "legacy capsules come in writable, as in PyTorch and Paddle, whose manuals "
    "show it; NumPy takes them as read-only",
}
DIFFERENCES_OF_THE_PRODUCER = {}
if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
    DIFFERENCES_OF_THE_PRODUCER["test_dunder_dlpack_stream"] = "it looks for NumPy's own words"


def numpys_tests(replacements, differences):
    """NumPy's test class, loaded with an `np` in which some names are replaced."""
    proxy = types.ModuleType("numpy")
    proxy.__dict__.update(vars(np))
    proxy.__dict__.update(replacements)
    namespace = {"__name__": __name__}
    with open(_SOURCE) as f:
        code = f.read().replace("import numpy as np\n", "")
    namespace["np"] = proxy
    exec(compile(code, _SOURCE, "exec"), namespace)
    tests = namespace["TestDLPack"]
    for name, reason in differences.items():
        setattr(tests, name, pytest.mark.xfail(reason=reason, strict=True)(getattr(tests, name)))
    return tests


TestAsConsumer = numpys_tests(CONSUMER, DIFFERENCES_OF_THE_CONSUMER)
TestAsProducer = numpys_tests(PRODUCER, DIFFERENCES_OF_THE_PRODUCER)


def test_the_suite_is_whole():
    names = [name for name in dir(TestAsConsumer) if name.startswith("test_")]
    assert len(names) >= 18
    assert names == [name for name in dir(TestAsProducer) if name.startswith("test_")]
