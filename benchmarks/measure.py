"""How the Python benchmarks measure: nanoseconds a call, net of the call itself, and peers'.

    rows = [Row("take a NumPy array in", {"dovetail": f, "tvm-ffi": g}, baseline="tvm-ffi")]
    print(table(measure(rows)))

Each figure is the least of several repeats with the garbage collector off; all functions of a row
take turns, so that a machine whose speed drifts slows all of them. Only ratios within a run count.
"""

import dataclasses
import gc
import timeit
from collections.abc import Callable

REPEATS = 25


@dataclasses.dataclass
class Row:
    work: str
    functions: dict[str, Callable]  # by library; ours is "dovetail"
    baseline: str  # whose time the ratio is to
    goal: float | None = None  # the ratio to stay at or under
    nanoseconds: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def ratio(self):
        return self.nanoseconds["dovetail"] / self.nanoseconds[self.baseline]


def measure(rows, repeats=REPEATS):
    """Fills in the rows' nanoseconds and gives them back."""
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
    """How often to call it for some ten milliseconds, if nothing else holds the machine up."""
    calls, seconds = 1, 0.0
    while seconds < 0.002:
        calls *= 2
        seconds = min(timeit.repeat(function, number=calls, repeat=3))
    return max(int(calls * 0.01 / seconds), 1)


def table(rows):
    """A Markdown table: each row's times, and our ratio to its baseline."""
    lines = [
        "| work | ns | peers | ratio | goal |",
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
