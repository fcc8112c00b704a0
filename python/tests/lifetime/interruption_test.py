"""Signals are handled, and may stop the work, in the midst of loops over many elements."""

import gc
import signal

import numpy as np
import pytest
from process import run_python

import dovetail as dt

COUNT = 20_000_000


class StoppedError(Exception):
    pass


@pytest.fixture
def alarms():
    """Sets the handler of SIGALRM, and sends one every millisecond."""

    def start(handler):
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)

    before = signal.getsignal(signal.SIGALRM)
    gc.disable()  # the error of a handler within a callback of the collector goes nowhere
    yield start
    gc.enable()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_handler_may_look_at_the_list_that_is_being_made():
    run_python("""
import gc, signal
import dovetail as dt

count = 3_000_000
def look(*_):
    for found in gc.get_objects():
        if type(found) is list and len(found) == count:
            found[-1]

big = dt.arange(count)
signal.signal(signal.SIGALRM, look)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.02)
assert big.tolist()[-1] == count - 1
signal.setitimer(signal.ITIMER_REAL, 0)
""")


def work_on(name):
    """Return a function without arguments that treats many elements."""
    numbers = np.zeros(COUNT, np.int64)
    floats = numbers.astype(np.float64)
    some = dt.from_dlpack(numbers[: COUNT // 4])
    pairs = some[: COUNT // 16].reshape(-1, 2)
    flat, nested = [1] * (COUNT // 4), [[1.5]] * (COUNT // 16)
    return {
        "arange of integers": lambda: dt.arange(COUNT),
        "arange of floats": lambda: dt.arange(float(COUNT)),
        "arange of bfloat16": lambda: dt.arange(COUNT // 4, dtype="bfloat16"),
        "checked cast": lambda: dt.tensor(numbers, dtype="int8"),
        "checked cast of floats": lambda: dt.tensor(floats, dtype="int8"),
        "list": lambda: dt.tensor(flat),
        "list of lists": lambda: dt.tensor(nested),
        "tolist": some.tolist,
        "tolist of pairs": pairs.tolist,
    }[name]


NAMES = ["arange of integers", "arange of floats", "arange of bfloat16", "checked cast",
         "checked cast of floats", "list", "list of lists", "tolist", "tolist of pairs",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_signals_are_handled_in_the_midst(alarms, name):
    calls = []
    work = work_on(name)
    alarms(lambda *_: calls.append(1))
    calls.clear()
    work()
    handled = len(calls)
    # One before the work and one after it; a signal that arrives several times before it is handled
    # is handled once.
    assert handled >= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_handler_that_raises_stops_the_work(alarms, name):
    def stop(*_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise StoppedError

    work = work_on(name)
    with pytest.raises(StoppedError):
        alarms(stop)
        work()
    assert work() is not None
