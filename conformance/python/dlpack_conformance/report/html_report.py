"""A page of HTML: a table of all libraries and rules, then the broken rules of each library.

The page loads nothing and has no scripts. Names and texts of libraries may hold anything, so Jinja2
escapes them all. html_report.html is the template.
"""

import pathlib
import platform

from ..results import NOT_APPLICABLE
from ..rules import chosen


def environment():
    """The templates of this folder."""
    import jinja2  # no other form needs it

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(reports, rules=None):
    shown = chosen(rules)
    libraries = [_Library(number, report, shown) for number, report in enumerate(reports, 1)]
    template = environment().get_template("html_report.html")
    return template.render(
        libraries=libraries,
        checked=[library for library in libraries if not library.report.problem],
        rules=shown,
        python=platform.python_version(),
        system=platform.system(),
    )


class _Library:
    """What the page shows of a report.

    id        of the library's section; it is numbered, because names may be anything
    counts    how many rules have which status
    broken    pairs of (rule, the results of its broken cases)
    """

    def __init__(self, number, report, rules):
        self.report, self.id = report, f"library-{number}"
        self.statuses = {rule.id: report.status(rule.id) for rule in rules}
        self.counts = report.counts(rules)
        failures = report.failures()
        cases = {rule: [r for r in failures if r.rule == rule.id] for rule in rules}
        self.broken = [(rule, results) for rule, results in cases.items() if results]

    @property
    def applicable(self):
        return sum(self.counts.values()) - self.counts[NOT_APPLICABLE]

    def id_of(self, rule):
        """The id of a broken rule's entry."""
        return f"{self.id}.{rule.id}"
