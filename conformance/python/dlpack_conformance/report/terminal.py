"""A table for the terminal: a row for each rule, a column for each library; then the faults."""

from ..results import BROKEN, CRASHED, KEPT, NOT_APPLICABLE
from ..rules import BY_ID, chosen

SIGNS = {KEPT: "kept", BROKEN: "BROKEN", CRASHED: "CRASHED", NOT_APPLICABLE: "-"}


def render(reports, rules=None):
    shown = [report for report in reports if not report.problem]
    listed = chosen(rules)
    rows = [["rule", "level", *(report.library for report in shown)]]
    for rule in listed if shown else []:
        signs = [SIGNS[report.status(rule.id)] for report in shown]
        rows.append([rule.id, rule.level, *signs])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    for report in reports:
        lines += ["", *_library(report, listed)]
    return "\n".join(lines) + "\n"


def _library(report, rules):
    if report.problem:
        return [f"{report.library}: {report.problem}"]
    lines = [f"{report.library} {report.version}: {_summary(report, rules)}"]
    for result in report.failures():
        rule = BY_ID[result.rule]
        case = f" [{result.case}]" if result.case is not None else ""
        lines += ["", f"  {rule.id}{case}: {result.seen}"]
        lines += [f"    {rule.sentence} ({rule.level}; {rule.source})"]
        lines += [f"    | {line}" for line in result.errors.splitlines()]
        for line in result.reproduction:
            lines += [f"      {part}" for part in line.splitlines()]
    return lines


def _summary(report, rules):
    """How many rules have which status, in words."""
    counts = report.counts(rules).items()
    return ", ".join(f"{count} {status}" for status, count in counts if count)
