"""Measures, and sets the results beside the published ones.

for result in measure_all():
    result.ratio, result.published["xeon"]    # Dovetail's time / the other library's
"""

import dataclasses
import importlib
import json
import pathlib
import statistics

from . import exchange_rows, machine, measure, strided_copies, strided_layouts

REPETITIONS = 7
_REPETITIONS_OF_COPIES = 3  # a row takes up to a second

EXCHANGES, COPIES = "exchange_peers", "strided_copy_peers"  # pages of docs/benchmarks


@dataclasses.dataclass
class Result:
    work: str
    page: str
    nanoseconds: float  # Dovetail's
    beside: str  # the other library; "" if there is none
    ratio: float | None
    published: dict[str, float]  # {machine: ratio to the same library}


def measure_all(repetitions=None):
    """Yield a Result for each row. One thread is used, which is pinned."""
    torch, tvm_ffi = _library("torch"), _library("tvm_ffi")
    figures = read_published()
    machine.use_threads(1)
    for row in exchange_rows.exchange_rows(torch, tvm_ffi):
        yield _result(measure.Row(*row), EXCHANGES, figures, repetitions or REPETITIONS)
    for name, *layout in strided_layouts.LAYOUTS[: strided_layouts.TEN]:
        functions = strided_copies.copies(strided_layouts.view(*layout), torch)
        for dense in strided_copies.DENSE:
            del functions[dense]
        row = measure.Row(name, functions, "torch" if torch else "numpy")
        yield _result(row, COPIES, figures, repetitions or _REPETITIONS_OF_COPIES)


def read_published():
    """Return {machine: {page: {"measured": text, "rows": {work: {library: nanoseconds}}}}}."""
    file = pathlib.Path(__file__).with_name("published.json")
    return json.loads(file.read_text(encoding="utf-8"))


def means(results):
    """Return {machine: geometric mean of the ratios of copies}; this machine's name is ""."""
    copies = [one for one in results if one.page == COPIES and one.ratio]
    columns = {"": [one.ratio for one in copies]}
    for name in machines(results):
        columns[name] = [one.published[name] for one in copies if name in one.published]
    return {
        name: statistics.geometric_mean(ratios)
        for name, ratios in columns.items()
        if len(ratios) == len(copies) > 0
    }


def machines(results):
    """The names of the machines that have a published ratio."""
    return list(dict.fromkeys(name for one in results for name in one.published))


def _library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _result(row, page, figures, repetitions):
    measure.measure([row], repetitions)
    row.functions = {}  # frees their memory
    times = row.nanoseconds
    others = [name for name in times if name != "dovetail"]
    beside = row.baseline if row.baseline in others else next(iter(others), "")
    published = {}
    for name, pages in figures.items():
        known = pages.get(page, {}).get("rows", {}).get(row.work, {})
        if beside in known:
            published[name] = known["dovetail"] / known[beside]
    ratio = times["dovetail"] / times[beside] if beside else None
    return Result(row.work, page, times["dovetail"], beside, ratio, published)
