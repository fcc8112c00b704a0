"""What the rows are checked with: whether two tensors share memory, and frozen arrays."""

import inspect
import os
import subprocess
import sys
import textwrap

import numpy as np

import dovetail as dt


def shared(x, y):
    """Whether tensors of any library begin at the same address."""
    return dt.asarray(x).data_ptr() == dt.asarray(y).data_ptr()


def frozen_array():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    return array


def array_at(offset):
    """A NumPy array of zeros, `offset` bytes behind a multiple of 64."""
    memory = np.zeros(192, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    return memory[start : start + 64].view(np.float32)


def ends_the_process(function):
    """Whether a signal ends a process that has NumPy and PyTorch and calls the function."""
    source = textwrap.dedent(inspect.getsource(function))
    program = f"import numpy as np, torch\n{source}\n{function.__name__}()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.run(
        [sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.returncode <= 0, process.stderr
    return process.returncode < 0
