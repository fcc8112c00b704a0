"""The text for the terminal: the sums, and a line for each rule that is broken, musts first."""

from ..results import CRASHED, NOT_APPLICABLE
from ..rules import LEVELS

WIDTH = 100


def render(reports, strict=False):
    return "\n".join("\n".join(_library(report)) + "\n" for report in reports)


def _library(report):
    if report.problem:
        yield f"{report.library}: {report.problem}"
        return
    yield f"{report.library} {report.version}: {report.summary or 'no rule applies'}"
    for level in LEVELS:
        lines = [_line(report, rule) for rule in report.rules() if rule.level == level]
        if any(lines):
            yield from [f"{level}:", *filter(None, lines)]
    yield from (_cut(f"  {sentence}") for sentence in report.gone)


def _line(report, rule):
    """What was seen of a rule; None if it is not broken."""
    results = [r for r in report.of(rule.id) if r.status != NOT_APPLICABLE]
    failed = [result for result in results if result.failed]
    if not failed:
        return None
    first = failed[0]
    words = [f"  {rule.id}:"]
    if len(results) > 1:
        words.append(
            f"{len(failed)} of {len(results)} cases:" if len(failed) < len(results) else ""
        )
    if all(result.expected is not None for result in failed):
        words.append("(expected)")
    words += ["crashed:" if first.status == CRASHED else "", first.seen]
    return _cut(" ".join(filter(None, words)), f" [{first.case}]" if first.case else "")


def _cut(line, end=""):
    """A line with its end, in WIDTH columns."""
    line = "  " + " ".join(line.split())
    room = WIDTH - len(end)
    return (line if len(line) <= room else line[: room - 1] + "…") + end


def script(report, result):
    """A script that shows the fault, and runs alone."""
    sentence = f"{result.name} of {report.library} {report.version}: {result.seen}"
    comment = [f"# {line}" for line in sentence.splitlines()]
    return "\n".join([*comment, *result.reproduction]) + "\n"
