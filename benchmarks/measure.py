"""Measures the Python benchmarks: nanoseconds per call, without the cost of an empty call.

    rows = [Row("import a NumPy array", {"dovetail": f, "tvm-ffi": g}, baseline="tvm-ffi")]
    print(table(measure(rows)))

Each time in the table is the minimum of several repetitions with the garbage collector off. The
functions of a row are interleaved, so that a drift of the machine's speed affects all of them.
Compare only ratios within one run.
"""

import dataclasses
import gc
import statistics
import time
import timeit
from collections.abc import Callable

REPETITIONS = 25
NOISY = 0.1  # the highest spread() of repetitions to be trusted
FEWEST = 4  # repetitions, to have a spread


@dataclasses.dataclass
class Time:
    """One repetition: nanoseconds per call, by the clock and of all the process's threads."""

    real: float
    cpu: float
    calls: int = 1

    def without(self, empty):
        """This time without that of an empty call."""
        return Time(max(self.real - empty.real, 0.1), max(self.cpu - empty.cpu, 0.1), self.calls)


@dataclasses.dataclass
class Row:
    work: str
    functions: dict[str, Callable]  # by library; one of them is "dovetail"
    baseline: str  # the ratio is Dovetail's time divided by this library's
    goal: float | None = None  # the highest acceptable ratio
    times: dict[str, list[Time]] = dataclasses.field(default_factory=dict)

    @property
    def nanoseconds(self):
        """The minimum of each library's repetitions."""
        return {name: min(t.real for t in times) for name, times in self.times.items()}

    @property
    def ratio(self):
        """None if one of the two was not measured."""
        least = self.nanoseconds
        if "dovetail" not in least or self.baseline not in least:
            return None
        return least["dovetail"] / least[self.baseline]

    @property
    def spreads(self):
        """The distance of the quartiles of each library's repetitions, as a part of the median."""
        return {
            name: spread([t.real for t in times])
            for name, times in self.times.items()
            if len(times) >= FEWEST
        }


def spread(values):
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return (upper - lower) / median


def measure(rows, repetitions=REPETITIONS):
    """Fill in the rows' times, and return the rows."""
    gc.collect()
    gc.disable()
    try:
        empties = _times({"": lambda: None}, repetitions)[""]
        empty = Time(min(t.real for t in empties), min(t.cpu for t in empties))
        for row in rows:
            gross = _times(row.functions, repetitions)
            row.times = {name: [t.without(empty) for t in times] for name, times in gross.items()}
    finally:
        gc.enable()
    return rows


def _times(functions, repetitions):
    timers = {name: timeit.Timer(function) for name, function in functions.items()}
    calls = {name: _calls(timer) for name, timer in timers.items()}
    times = {name: [] for name in functions}
    for _ in range(repetitions):
        for name, timer in timers.items():
            # The first calls pay for what the function before left to do, in other processes, too.
            timer.timeit(calls[name] // 4 + 1)
            busy = time.process_time()
            seconds = timer.timeit(calls[name])
            busy = time.process_time() - busy
            per_call = 1e9 / calls[name]
            times[name].append(Time(seconds * per_call, busy * per_call, calls[name]))
    return times


def _calls(timer):
    """Return the number of calls that take about ten milliseconds on an otherwise idle machine."""
    calls, seconds = 1, 0.0
    while seconds < 0.002:
        calls *= 2
        seconds = min(timer.repeat(number=calls, repeat=3))
    return max(int(calls * 0.01 / seconds), 1)


def table(rows):
    """Return a Markdown table of each row's times and Dovetail's ratio to its baseline."""
    lines = [
        "| operation | Dovetail, ns | others, ns | Dovetail's time / other's | goal |",
        "|---|---:|---|---:|---:|",
    ]
    for row in rows:
        least = row.nanoseconds
        peers = ", ".join(
            f"{name} {time:,.0f}" for name, time in least.items() if name != "dovetail"
        )
        ours = f"{least['dovetail']:,.0f}" if "dovetail" in least else ""
        ratio = "" if row.ratio is None else f"{row.ratio:.2f} x {row.baseline}"
        goal = "" if row.goal is None or not ratio else f"<= {row.goal:.2f}"
        lines.append(f"| {row.work} | {ours} | {peers} | {ratio} | {goal} |")
    return "\n".join(lines)


def noise(rows):
    """Return lines that name the times whose repetitions differ much; empty if there are none."""
    noisy = [
        f"  {row.work}/{name}: {part:.0%}"
        for row in rows
        for name, part in row.spreads.items()
        if part > NOISY
    ]
    if not noisy:
        return ""
    head = (
        "***WARNING*** Noisy, not to be trusted (the middle half of the repetitions spreads over "
        "this much of the median):"
    )
    return "\n".join([head, *noisy])
