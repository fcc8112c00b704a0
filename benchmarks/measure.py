"""Measures the Python benchmarks: nanoseconds per call, without the cost of an empty call.

    rows = [Row("import a NumPy array", {"dovetail": f, "tvm-ffi": g}, baseline="tvm-ffi")]
    print(table(measure(rows)))

Each time is the minimum of several repeats with the garbage collector off. The functions of a row
are interleaved, so that a drift of the machine's speed affects all of them. Compare only ratios
within one run.
"""

import dataclasses
import gc
import timeit
from collections.abc import Callable

REPEATS = 25


@dataclasses.dataclass
class Row:
    work: str
    functions: dict[str, Callable]  # by library; one of them is "dovetail"
    baseline: str  # the ratio is Dovetail's time divided by this library's
    goal: float | None = None  # the highest acceptable ratio
    nanoseconds: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def ratio(self):
        return self.nanoseconds["dovetail"] / self.nanoseconds[self.baseline]


def measure(rows, repeats=REPEATS):
    """Fill in the rows' nanoseconds, and return the rows."""
    gc.collect()
    gc.disable()
    try:
        empty = _least({"": lambda: None}, repeats)[""]
        for row in rows:
            gross = _least(row.functions, repeats)
            row.nanoseconds = {name: max(t - empty, 0.1) for name, t in gross.items()}
    finally:
        gc.enable()
    return rows


def _least(functions, repeats):
    calls = {name: _calls(function) for name, function in functions.items()}
    least = dict.fromkeys(functions, float("inf"))
    for _ in range(repeats):
        for name, function in functions.items():
            seconds = timeit.timeit(function, number=calls[name])
            least[name] = min(least[name], seconds / calls[name] * 1e9)
    return least


def _calls(function):
    """Return the number of calls that take about ten milliseconds on an otherwise idle machine."""
    calls, seconds = 1, 0.0
    while seconds < 0.002:
        calls *= 2
        seconds = min(timeit.repeat(function, number=calls, repeat=3))
    return max(int(calls * 0.01 / seconds), 1)


def table(rows):
    """Return a Markdown table of each row's times and Dovetail's ratio to its baseline."""
    lines = [
        "| operation | Dovetail, ns | others, ns | Dovetail's time / other's | goal |",
        "|---|---:|---|---:|---:|",
    ]
    for row in rows:
        peers = ", ".join(
            f"{name} {time:,.0f}" for name, time in row.nanoseconds.items() if name != "dovetail"
        )
        goal = "" if row.goal is None else f"<= {row.goal:.2f}"
        lines.append(
            f"| {row.work} | {row.nanoseconds['dovetail']:,.0f} | {peers} "
            f"| {row.ratio:.2f} x {row.baseline} | {goal} |"
        )
    return "\n".join(lines)
