"""A page of Markdown: a row for each rule that one of the libraries does not keep."""

import platform
import re

from ..results import BROKEN, CRASHED, KEPT, NOT_APPLICABLE
from ..rules import chosen

_INTRODUCTION = """\
# Rules of DLPack that libraries break

Made by `python -m dlpack_conformance --markdown FILE` with CPython {python} on {system}. ✓: kept;
–: the rule does not apply; a rule that all keep has no row. What follows a colon are the cases.
"""

SIGNS = {KEPT: "✓", BROKEN: "broken", CRASHED: "crashed", NOT_APPLICABLE: "–"}


def render(reports, rules=None):
    shown = [report for report in reports if not report.problem]
    names = [f"{report.library} {report.version}" for report in shown]
    lines = [_INTRODUCTION.format(python=platform.python_version(), system=platform.system())]
    lines += ["| rule | | " + " | ".join(names) + " |", "|---|---|" + "---|" * len(shown)]
    for rule in chosen(rules):
        statuses = [report.status(rule.id) for report in shown]
        if {BROKEN, CRASHED} & {*statuses}:
            cells = " | ".join(_cell(report, rule.id) for report in shown)
            lines.append(f"| `{rule.id}` ({rule.level}) | {_with_code(rule.sentence)} | {cells} |")
    counts = []
    for report in shown:
        found = report.counts(chosen(rules))
        counts.append(f"{found[KEPT]} of {sum(found.values()) - found[NOT_APPLICABLE]}")
    lines.append("| rules kept, of those that apply | | " + " | ".join(counts) + " |")
    return "\n".join(lines) + "\n"


def _with_code(sentence):
    """The sentence with names such as __dlpack__() as code; Markdown would make them bold."""
    return re.sub(r"__\w+__(\(\))?", r"`\g<0>`", sentence)


def _cell(report, rule):
    sign = SIGNS[report.status(rule)]
    results = [result for result in report.results if result.rule == rule]
    cases = [str(result.case) for result in results if result.failed and result.case is not None]
    return f"{sign}: {', '.join(cases)}" if cases and len(cases) < len(results) else sign
