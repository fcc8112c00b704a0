"""What does one exchange cost in Python, beside what the peers take for the same, in one run?

    ./bazelw run -c opt //benchmarks:exchange_peers [-- --repeats N]

Prints a Markdown table. Each pair is measured in turns, several times over, with the garbage
collector off; the least of each counts, less what calling an empty lambda takes. Only the ratios mean
something on another machine: the target is the most that one should be.
"""

import argparse
import gc
import os
import subprocess
import sys
import timeit
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import tvm_ffi

import dovetail as dt


class Row(NamedTuple):
    work: str
    ours: Callable[[], object]
    peer: str
    theirs: Callable[[], object]
    target: float = 1.0


def make_rows():
    """Each over 16 float32 elements, so that what is measured is the exchange."""
    array, tensor = np.arange(16, dtype=np.float32), torch.arange(16.0)
    t, f = dt.arange(16.0), tvm_ffi.from_dlpack(tensor)
    float32, np_float32 = dt.float32, np.float32
    return [
        Row(
            "from_dlpack(torch tensor)",
            lambda: dt.from_dlpack(tensor),
            "tvm_ffi.from_dlpack",
            lambda: tvm_ffi.from_dlpack(tensor),
        ),
        Row(
            "from_dlpack(NumPy array)",
            lambda: dt.from_dlpack(array),
            "tvm_ffi.from_dlpack",
            lambda: tvm_ffi.from_dlpack(array),
        ),
        Row(
            "from_dlpack(NumPy array)",
            lambda: dt.from_dlpack(array),
            "torch.from_dlpack",
            lambda: torch.from_dlpack(array),
        ),
        Row(
            "from_dlpack(own tensor)",
            lambda: dt.from_dlpack(t),
            "tvm_ffi.from_dlpack",
            lambda: tvm_ffi.from_dlpack(f),
        ),
        Row("t.__dlpack__()", lambda: t.__dlpack__(), "tvm_ffi's", lambda: f.__dlpack__()),
        Row("t.numpy()", lambda: t.numpy(), "torch's", lambda: tensor.numpy()),
        Row(
            "np.from_dlpack(t)",
            lambda: np.from_dlpack(t),
            "of tvm_ffi's",
            lambda: np.from_dlpack(f),
        ),
        Row(
            "torch.from_dlpack(t)",
            lambda: torch.from_dlpack(t),
            "of tvm_ffi's",
            lambda: torch.from_dlpack(f),
        ),
        Row(
            "frombuffer",
            lambda: dt.frombuffer(array, dtype=float32),
            "np.frombuffer",
            lambda: np.frombuffer(array, dtype=np_float32),
        ),
        Row("t[2:5]", lambda: t[2:5], "NumPy's", lambda: array[2:5]),
        Row("t[2:5]", lambda: t[2:5], "torch's", lambda: tensor[2:5]),
        Row(
            "empty(16)",
            lambda: dt.empty(16, dtype=float32),
            "np.empty",
            lambda: np.empty(16, dtype=np_float32),
        ),
        Row("empty(16)", lambda: dt.empty(16), "torch.empty", lambda: torch.empty(16)),
    ]


def nanoseconds(function, seconds=0.02):
    """What one call takes, the mean over about `seconds`."""
    once = max(timeit.timeit(function, number=100) / 100, 1e-9)
    number = max(1, int(seconds / once))
    return timeit.timeit(function, number=number) / number * 1e9


def measure(row, repeats):
    """(ours, theirs) in nanoseconds, net."""
    gc.disable()
    turns = [
        (nanoseconds(lambda: None), nanoseconds(row.ours), nanoseconds(row.theirs))
        for _ in range(repeats)
    ]
    gc.enable()
    empty, ours, theirs = map(min, zip(*turns, strict=True))
    return ours - empty, theirs - empty


def import_nanoseconds(module, repeats):
    """What `import module` takes in a fresh process."""
    code = f"import time; t = time.perf_counter_ns(); import {module}; print(time.perf_counter_ns() - t)"
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    command = [sys.executable, "-c", code]
    return min(int(subprocess.check_output(command, env=environment)) for _ in range(repeats))


def print_line(work, ours, peer, theirs, target):
    ratio = ours / theirs
    verdict = "met" if ratio <= target else "MISSED"
    print(
        f"| {work:<25} | {ours:>10,.0f} | {peer:<19} | {theirs:>11,.0f} "
        f"| {ratio:>5.2f} | ≤ {target:.2f} {verdict:<6} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=9, help="turns of each pair")
    repeats = parser.parse_args().repeats
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (dt, np, torch, tvm_ffi))
    print(f"{versions}; Python {sys.version.split()[0]}\n")
    print("| work                      |    ours ns | peer                |    theirs ns | ratio | target        |")
    print("|---------------------------|-----------:|---------------------|------------:|------:|---------------|")
    for row in make_rows():
        print_line(row.work, *measure(row, repeats)[:1], row.peer, measure(row, repeats)[1], 1)
    print_line(
        "import dovetail",
        import_nanoseconds("dovetail", repeats),
        "import numpy",
        import_nanoseconds("numpy", repeats),
        1.0,
    )


if __name__ == "__main__":
    main()
