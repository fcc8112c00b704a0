"""`python -m dovetail.conformance numpy torch` checks which rules of DLPack libraries keep.

Without a library it checks every installed one that it knows. The exit status is 1 if a rule is
broken that a document requires, or with --strict any rule.
"""

import argparse
import importlib.util
import sys

from . import adapters
from .report import html_report, json_report, junit, markdown, terminal
from .rules import BY_ID, LEVELS, rules_of
from .run import run

_FORMATS = {
    "--json": json_report,
    "--junit": junit,
    "--markdown": markdown,
    "--html": html_report,
}


def main():
    options = _parse()
    if options.list_rules:
        for rule in rules_of(options.device):
            print(f"{rule.id} ({rule.level}): {rule.sentence} [{rule.source}]")
        return 0
    references = [*options.libraries, *options.adapter]
    try:
        if not references:
            known = {name: adapters.load(name) for name in adapters.names()}
            references = [
                name
                for name, adapter in known.items()
                if adapters.is_installed(adapter) and adapter.on(options.device)
            ]
        reports = [_run(reference, options) for reference in references]
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    shown = options.rule or [rule.id for rule in rules_of(options.device)]
    print(terminal.render(reports, shown), end="")
    for option, form in _FORMATS.items():
        if path := getattr(options, option.strip("-")):
            with open(path, "w", encoding="utf-8") as file:
                file.write(form.render(reports, shown))
    levels = LEVELS if options.strict else ["must"]
    failed = any(report.failures(levels) or report.problem for report in reports)
    return 1 if failed else 0


def _run(reference, options):
    print(f"checking {reference} …", file=sys.stderr, flush=True)
    return run(reference, options.rule, options.device)


def _parse():
    parser = argparse.ArgumentParser(
        prog="python -m dovetail.conformance",
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
    options = parser.parse_args()
    if options.html and importlib.util.find_spec("jinja2") is None:
        parser.error("--html needs Jinja2: pip install jinja2")
    return options


if __name__ == "__main__":
    sys.exit(main())
