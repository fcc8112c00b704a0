"""`python -m dlpack_conformance numpy torch` checks which rules of DLPack libraries keep.

Without a library it checks every installed one that it knows. The exit status is 1 if a rule is
broken that a document requires, or with --strict any rule.

With --pairs it shows what becomes of each one's arrays when each other one takes them in.
"""

import argparse
import importlib.util
import pathlib
import sys

from . import adapters, pairs
from .report import html_report, json_report, junit, markdown, terminal
from .rules import BY_ID, LEVELS, rules_of
from .run import run

_FORMATS = {
    "--json": json_report,
    "--junit": junit,
    "--markdown": markdown,
    "--html": html_report,
}
_FORMATS_OF_PAIRS = {
    "--json": pairs.json_report,
    "--markdown": pairs.markdown,
    "--html": pairs.html_report,
}


def main():
    options = _parse()
    if options.list_rules:
        for rule in rules_of(options.device):
            print(f"{rule.id} ({rule.level}): {rule.sentence} [{rule.source}]")
        return 0
    references = [*options.libraries, *options.adapter]
    try:
        if options.pairs:
            return _run_pairs(options, references)
        if not references:
            references = adapters.installed(options.device)
        reports = [_run(reference, options) for reference in references]
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    shown = options.rule or [rule.id for rule in rules_of(options.device)]
    print(terminal.render(reports, shown), end="")
    _write(options, _FORMATS, reports, shown)
    levels = LEVELS if options.strict else ["must"]
    failed = any(report.failures(levels) or report.problem for report in reports)
    return 1 if failed else 0


def _run(reference, options):
    print(f"checking {reference} …", file=sys.stderr, flush=True)
    return run(reference, options.rule, options.device)


def _run_pairs(options, references):
    matrix = pairs.run_pairs(references or None)
    print(pairs.terminal.render(matrix), end="")
    _write(options, _FORMATS_OF_PAIRS, matrix)
    if not options.expect:
        return 0
    page = pathlib.Path(options.expect).read_text(encoding="utf-8")
    changes = pairs.expected.changes(matrix, page)
    print(*changes, sep="\n")
    return 1 if changes else 0


def _write(options, formats, *arguments):
    """Write the reports that are asked for."""
    for option, form in formats.items():
        if path := getattr(options, option.strip("-")):
            pathlib.Path(path).write_text(form.render(*arguments), encoding="utf-8")


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m dlpack_conformance",
        description="Check which rules of DLPack libraries keep, as producers and as consumers.",
        epilog=f"Libraries: {', '.join(adapters.names())}.",
    )
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="default: all installed")
    parser.add_argument(
        "--adapter", action="append", default=[], metavar="FILE", help="check a library of yours"
    )
    parser.add_argument(
        "--rule", action="append", choices=BY_ID, metavar="ID", help="check these rules only"
    )
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], default="cpu", help="where the arrays are"
    )
    parser.add_argument("--list-rules", action="store_true", help="print the rules")
    parser.add_argument("--strict", action="store_true", help="fail for every rule that is broken")
    for option in _FORMATS:
        parser.add_argument(option, metavar="FILE", help="write the report to a file")
    parser.add_argument("--pairs", action="store_true", help="give arrays to each other instead")
    parser.add_argument(
        "--expect", metavar="FILE", help="fail if pairs differ from this page of --markdown"
    )
    options = parser.parse_args()
    without = ("rule", "strict", "junit") if options.pairs else ("expect",)
    for name in filter(options.__getattribute__, without):
        parser.error(f"--{name} is {'not for' if options.pairs else 'for'} --pairs")
    if options.html and importlib.util.find_spec("jinja2") is None:
        parser.error("--html needs Jinja2: pip install jinja2")
    return options


if __name__ == "__main__":
    sys.exit(main())
