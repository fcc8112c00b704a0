"""Kernels called from Python: lifetimes and threads."""

import gc
import sys
import threading

import numpy as np
import pytest
from libraries import k

import dovetail as dt


def floats(*values):
    return np.array(values, np.float32)


def test_calls_leak_nothing():
    x = floats(1, 2)
    tensor = dt.asarray(x)
    count = sys.getrefcount(x), sys.getrefcount(tensor)
    for _ in range(300):
        k.scale_add(x, x, 2.0)
        k.scale_add(tensor, tensor, 2.0, tensor)
        k.total([x, x])
        for arguments in [(x, x), (x, x[:1], 1), (x, "y", 1), (x, x, "a")]:
            with pytest.raises((TypeError, ValueError)):
                k.scale_add(*arguments)
    del arguments
    gc.collect()
    assert (sys.getrefcount(x), sys.getrefcount(tensor)) == count


def test_many_threads_call_at_once():
    x = np.arange(100_000, dtype=np.float32)
    wrong = []

    def work():
        for _ in range(30):
            if not np.array_equal(k.on_threads(x), 2 * x) or k.scale_add(x[:3], x[:3], 1)[1] != 2:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_stream_of_host_memory_is_null():
    assert k.stream_of(floats(1)).tolist() == [0, 1]
