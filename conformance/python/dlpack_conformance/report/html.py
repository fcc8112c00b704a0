"""A page of HTML: a table of all rules and libraries, then the broken rules of each library.

The page loads nothing and has no scripts. Names and texts of libraries may hold anything, so that
every one is escaped.
"""

import platform
from html import escape

from ..results import CRASHED, NOT_APPLICABLE
from ..rules import LEVELS, RULES

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Rules of DLPack</title>
<style>
body {{ font: 16px/1.4 sans-serif; margin: 2em; max-width: 80em }}
table {{ border-collapse: collapse }} th {{ text-align: left }}
td, th {{ border: 1px solid #ccc; padding: 2px 8px }}
pre {{ background: #f4f4f4; padding: 8px; overflow: auto }} .broken, .crashed {{ background: #fdd }}
</style>
</head>
<body>
<h1>Rules of DLPack</h1>
<p>CPython {python} on {system}.</p>
{body}
</body>
</html>
"""


def render(reports, strict=False):
    body = [_table([report for report in reports if not report.problem])]
    body += [_library(f"library-{i}", report) for i, report in enumerate(reports, 1)]
    return _PAGE.format(
        python=platform.python_version(), system=escape(platform.system()), body="\n".join(body)
    )


def _tag(name, text, **attributes):
    shown = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{shown}>{text}</{name}>"


def _table(reports):
    names = (_tag("th", escape(f"{r.library} {r.version}"), scope="col") for r in reports)
    rows = [_tag("tr", _tag("th", "rule", scope="col") + "".join(names))]
    checked = {rule.id for report in reports for rule in report.rules()}
    for level in LEVELS:
        cells = ("{} of {}".format(*report.sums()[level]) for report in reports)
        rows.append(_row(level, (_tag("td", text) for text in cells)))
        for rule in RULES:
            if rule.level == level and rule.id in checked:
                numbered = enumerate(reports, 1)
                rows.append(_row(rule.id, (_cell(f"library-{i}", r, rule) for i, r in numbered)))
    return _tag("table", "\n".join(rows))


def _row(head, cells):
    return _tag("tr", _tag("th", escape(head), scope="row") + "".join(cells))


def _cell(id, report, rule):
    status = report.status(rule.id)
    if any(result.failed for result in report.of(rule.id)):
        return _tag("td", _tag("a", status, href=f"#{id}.{rule.id}"), class_=status)
    return _tag("td", "–" if status == NOT_APPLICABLE else status)


def _library(id, report):
    about = report.problem or f"{report.version}: {report.summary}"
    parts = [_tag("h2", escape(report.library)), _tag("p", escape(about))]
    parts += [_tag("p", escape(sentence)) for sentence in report.gone]
    for rule in report.rules():
        failed = [result for result in report.of(rule.id) if result.failed]
        if failed:
            parts.append(_tag("article", _fault(rule, failed), id=f"{id}.{rule.id}"))
    return _tag("section", "\n".join(parts), id=id)


def _fault(rule, failed):
    parts = [
        _tag("h3", escape(f"{rule.id} ({rule.level})")),
        _tag("p", escape(f"{rule.sentence} {rule.source}")),
        _tag("ul", "".join(_tag("li", escape(_seen(result))) for result in failed)),
    ]
    first, struct = failed[0], failed[0].struct
    if struct:
        fields = (f"{name} = {value}" for name, value in struct["fields"].items())
        parts.append(_tag("pre", escape("\n".join([struct["name"], *struct["hex"], *fields]))))
    texts = filter(None, [first.errors, "\n".join(first.reproduction)])
    return "\n".join([*parts, *(_tag("pre", escape(text)) for text in texts)])


def _seen(result):
    seen = f"crashed: {result.seen}" if result.status == CRASHED else result.seen
    expected = "" if result.expected is None else f" (expected: {result.expected})"
    return (f"{result.case}: " if result.case is not None else "") + seen + expected
