"""Compares two JSON files of benchmarks, C++ or Python: which of them became faster or slower?

./bazelw run //benchmarks:compare -- OLD.json NEW.json

For each benchmark in both files it prints the ratio of the medians of the repetitions, new / old,
and a bootstrap confidence interval of it. A ratio differs significantly if the interval excludes 1.
The interval covers only what varies within a run; docs/benchmarks.md says what else varies.
"""

import argparse
import collections
import json
import sys

import numpy as np
import report
import scipy.stats

NANOSECONDS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# What must be the same for a comparison to be of the code alone.
SAME = ("host_name", "processor", "processors_usable", "compiler", "python", "numpy", "torch")


def load(file, clock):
    """Return a file's context, and nanoseconds of each repetition by benchmark."""
    try:
        document = json.loads(file.read_text())
        found = document["benchmarks"]
    except OSError as error:
        sys.exit(f"{file} can't be read: {error.strerror}")
    except ValueError as error:
        sys.exit(f"{file} is not JSON: {error}")
    except (KeyError, TypeError):
        sys.exit(f'{file} is not the JSON of a benchmark: it has no list "benchmarks"')
    times = collections.defaultdict(list)
    for run in found:
        if run.get("run_type") == "iteration" and not run.get("error_occurred"):
            name = run.get("run_name", run["name"])
            if label := run.get("label"):
                name += f" [{label}]"
            times[name].append(run[f"{clock}_time"] * NANOSECONDS[run["time_unit"]])
    if not times:
        sys.exit(f"{file} has no repetition of any benchmark")
    if all(len(repetitions) == 1 for repetitions in times.values()):
        sys.exit(
            f"{file} has a single repetition of each benchmark, which says nothing of how much "
            "times vary: run with --repetitions=11"
        )
    return document.get("context", {}), dict(times)


def ratio(new, old, axis=-1):
    return np.median(new, axis=axis) / np.median(old, axis=axis)


def interval(new, old, confidence):
    """Return the ends of the bootstrap's confidence interval of ratio(new, old)."""
    found = scipy.stats.bootstrap(
        (new, old), ratio, vectorized=True, method="percentile", confidence_level=confidence,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    return found.confidence_interval


def verdict(low, high):
    return "slower" if low > 1 else "faster" if high < 1 else ""


def compare(old, new, confidence):
    """Print a line for each benchmark in both, and a summary."""
    common = sorted(old.keys() & new.keys())
    if not common:
        sys.exit(
            f"the files have no benchmark in common: one has {next(iter(old))!r}, for example, the "
            f"other {next(iter(new))!r}"
        )
    single = [name for name in common if min(len(old[name]), len(new[name])) == 1]
    rows = []
    for name in common:
        if name in single:
            continue
        low, high = interval(new[name], old[name], confidence)
        rows.append((name, np.median(old[name]), np.median(new[name]), low, high))
    if not rows:
        sys.exit("no benchmark in both files has more than one repetition in each")
    width = max(len(row[0]) for row in rows)
    span = f"{confidence:.0%} interval"
    print(f"{'':{width}}{'old, ns':>14}{'new, ns':>14}{'new / old':>11}  {span}")
    for name, before, after, low, high in rows:
        print(
            f"{name:{width}}{before:14,.1f}{after:14,.1f}{after / before:11.3f}  "
            f"{low:.3f} to {high:.3f}  {verdict(low, high)}".rstrip()
        )
    verdicts = [verdict(low, high) for *_, low, high in rows]
    mean = scipy.stats.gmean([after / before for _, before, after, _, _ in rows])
    print(
        f"\n{len(rows)} benchmarks, geometric mean of new / old: {mean:.3f}; significantly faster: "
        f"{verdicts.count('faster')}, slower: {verdicts.count('slower')}"
    )
    if single:
        print(f"left out, because of a single repetition: {', '.join(single)}")
    for which, names in (("old", old.keys() - new.keys()), ("new", new.keys() - old.keys())):
        if names:
            print(f"only in the {which} file: {', '.join(sorted(names))}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=report.path, metavar="OLD.json")
    parser.add_argument("new", type=report.path, metavar="NEW.json")
    parser.add_argument("--confidence", type=float, default=0.99, help="default: 0.99")
    parser.add_argument("--time", choices=("real", "cpu"), default="real", help="default: real")
    options = parser.parse_args()
    if not 0 < options.confidence < 1:
        parser.error("--confidence is a number between 0 and 1")
    (old_context, old), (new_context, new) = (
        load(file, options.time) for file in (options.old, options.new)
    )
    for key in SAME:
        if old_context.get(key) != new_context.get(key):
            print(
                f"***WARNING*** {key} differs: {old_context.get(key)} and {new_context.get(key)}",
                file=sys.stderr,
            )
    compare(old, new, options.confidence)


if __name__ == "__main__":
    main()
