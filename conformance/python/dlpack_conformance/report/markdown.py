"""A page of Markdown: a row for each rule that one of the libraries does not keep, musts first."""

import platform
import re

from ..results import BROKEN, CRASHED, KEPT, NOT_APPLICABLE
from ..rules import LEVELS, RULES

SIGNS = {KEPT: "✓", BROKEN: "broken", CRASHED: "crashed", NOT_APPLICABLE: "–"}
_INTRODUCTION = """\
# Rules of DLPack that libraries break

Which rules each library breaks, and in how many cases. Made by `dlpack-conformance --markdown FILE`
with CPython {python} on {system}. ✓: kept; –: the rule does not apply; a rule that all keep has no
row. What follows a colon is how many cases are broken, and the first one.
"""


def render(reports, strict=False):
    shown = [report for report in reports if not report.problem]
    lines = [_INTRODUCTION.format(python=platform.python_version(), system=platform.system())]
    names = [f"{report.library} {report.version}" for report in shown]
    for level in LEVELS:
        lines += [f"| {level} | | {' | '.join(names)} |", "|---|---|" + "---|" * len(shown)]
        for rule in RULES:
            if rule.level == level and any(r.status(rule.id) in (BROKEN, CRASHED) for r in shown):
                cells = " | ".join(_cell(report, rule.id) for report in shown)
                lines.append(f"| `{rule.id}` | {_with_code(rule.sentence)} | {cells} |")
        sums = [report.sums()[level] for report in shown]
        cells = " | ".join(f"{kept} of {all_}" for kept, all_ in sums)
        lines += [f"| kept, of those that apply | | {cells} |", ""]
    return "\n".join(lines)


def _with_code(sentence):
    """The sentence with names such as __dlpack__() as code; Markdown would make them bold."""
    return re.sub(r"__\w+__(\(\))?", r"`\g<0>`", sentence)


def _cell(report, rule):
    sign = SIGNS[report.status(rule)]
    results = [r for r in report.of(rule) if r.status != NOT_APPLICABLE]
    failed = [result for result in results if result.failed]
    if not failed or len(failed) == len(results):
        return sign
    return f"{sign}: {len(failed)} of {len(results)}, {failed[0].case}"
