"""The results as a table for a terminal."""

from . import run

NOTE = """Ratios are Dovetail's time / the other library's: below 1, Dovetail is faster. "here" is
this machine; the others are published in docs/benchmarks. Times of two machines do not compare."""


class Table:
    """Prints a line for each result as soon as it is there."""

    def __init__(self, machines, width):
        self.machines = machines
        self.width = width  # of the longest name of a work

    def head(self):
        return self._line("operation", "Dovetail", "beside", "here", self.machines)

    def row(self, result):
        published = [_ratio(result.published.get(name)) for name in self.machines]
        time = duration(result.nanoseconds)
        return self._line(result.work, time, result.beside or "-", _ratio(result.ratio), published)

    def mean(self, results):
        found = run.means(results)
        if "" not in found:
            return ""
        besides = {one.beside for one in results if one.page == run.COPIES}
        published = [_ratio(found.get(name)) for name in self.machines]
        return self._line("copies, geometric mean", "", *besides, _ratio(found[""]), published)

    def _line(self, work, time, beside, here, published):
        columns = "".join(f"{text:>11}" for text in published)
        return f"{work:<{self.width}}{time:>11}  {beside:<8}{here:>6}{columns}".rstrip()


def circumstances(published):
    """When and where the published figures were measured: a line for each machine."""
    return [
        f"  {name}: {'; '.join(dict.fromkeys(page['measured'] for page in pages.values()))}"
        for name, pages in published.items()
    ]


def duration(nanoseconds):
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def _ratio(value):
    return "" if value is None else f"{value:.2f}"
