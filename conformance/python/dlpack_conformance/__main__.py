"""`dlpack-conformance numpy torch` checks which rules of DLPack libraries keep.

Without a library it checks every installed one that it knows. The exit status is 1 if a must is
broken, with --strict any rule, or if a fault that --expected lists is gone.
"""

import argparse
import io
import os
import pathlib
import shlex
import sys
import time

from . import adapters, expected, quotes
from .cases import WHOLE
from .checks import rules_of
from .report import FORMATS, text
from .results import Report
from .rules import BY_ID
from .run import stream


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["quotes"]:
        return quotes.main(arguments[1:])
    options = _parse(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # libraries' texts may have any character
    try:
        return _run_command(options)
    except BrokenPipeError:  # the reader wants no more
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except (LookupError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run_command(options):
    if options.list_rules:
        for rule in rules_of(options.device, options.protocol):
            print(f"{rule.id} ({rule.level}): {rule.sentence} [{rule.source}]")
        return 0
    path = options.expected and expected.path_of(options.expected)
    # A file that --update makes need not be there.
    entries = [] if not path or (options.update and not path.exists()) else expected.read(path)
    references = [*options.libraries, *options.adapter] or adapters.installed(options.device)
    adapters_ = [adapters.load(reference) for reference in references]  # all have to be known
    reports = [
        _run(reference, adapter.name, options)
        for reference, adapter in zip(references, adapters_, strict=True)
    ]
    for report in reports:
        expected.apply(report, entries)
    if options.script:
        return _print_script(reports)
    print(text.render(reports), end="")
    if hint := _hint(references, reports, options):
        print(hint)
    for name, view in FORMATS.items():
        if target := getattr(options, name):
            _write(target, view.render(reports, options.strict))
    if options.scripts:
        _write_scripts(pathlib.Path(options.scripts), reports)
    if options.update:
        changed = expected.updated(entries, reports, options.strict)
        _write(path, expected.render(changed))
        return 1 if any(report.problem for report in reports) else 0
    return 1 if any(report.fails(options.strict) for report in reports) else 0


def _hint(references, reports, options):
    """The command that shows a fault; None: there is none."""
    for reference, report in zip(references, reports, strict=True):
        if report.failures():
            given = ["--adapter"] if reference.endswith(".py") else []
            given += [reference, "--script", report.failures()[0].rule]
            given += ["--device", options.device] if options.device != "cpu" else []
            given += ["--all"] if options.all else []
            given += ["--seed", str(options.seed)] if options.seed else []
            return f"To see one alone: dlpack-conformance {shlex.join(given)} > fault.py"
    return None


def _run(reference, name, options):
    """The report of a library. Tells the progress on stderr."""
    report, start, shown = Report(name), time.monotonic(), 0.0
    print(f"checking {name} …", file=sys.stderr, flush=True)
    seed = WHOLE if options.all else options.seed
    rules = [options.script] if options.script else options.rule
    for result in stream(reference, report, rules, options.device, options.protocol, seed):
        now = time.monotonic()
        if now - shown > (0.1 if sys.stderr.isatty() else 5):
            line = f"{name}: {len(report.results)} cases, {result.rule}"
            print(f"\r{line:78}" if sys.stderr.isatty() else line, end=_END, file=sys.stderr)
            shown = now
    line = f"{name}: {len(report.results)} cases in {time.monotonic() - start:.1f} s"
    print(f"\r{line:78}" if sys.stderr.isatty() else line, file=sys.stderr, flush=True)
    return report


_END = "" if sys.stderr.isatty() else "\n"


def _print_script(reports):
    failures = [(report, result) for report in reports for result in report.failures()]
    if not failures:
        raise LookupError("the rule is not broken")
    print(text.script(*failures[0]), end="")
    return 0


def _write_scripts(folder, reports):
    """Write a script for each broken rule of each library."""
    folder.mkdir(exist_ok=True)
    for report in reports:
        first = {}
        for result in report.failures():
            first.setdefault(result.rule, result)
        for rule, result in first.items():
            script = text.script(report, result)
            _write(folder / f"{report.library}.{rule}.py", script)


def _write(path, content):
    pathlib.Path(path).write_text(content, encoding="utf-8", errors="replace")


def _parse(arguments):
    parser = argparse.ArgumentParser(
        prog="dlpack-conformance",
        description="Check which rules of DLPack libraries keep, as producers and as consumers.",
        epilog=f"Libraries: {', '.join(adapters.names())}. `dlpack-conformance quotes --help` "
        "tells how to look the rules' quotes up in the documents.",
    )
    add = parser.add_argument
    add("libraries", nargs="*", metavar="LIBRARY", help="default: all installed")
    add("--adapter", action="append", default=[], metavar="FILE", help="check a library of yours")
    add("--rule", action="append", choices=BY_ID, metavar="ID", help="check these rules only")
    add("--protocol", choices=["dlpack", "all"], default="dlpack", help="all: buffers, Arrow, too")
    add("--device", choices=["cpu", "cuda"], default="cpu", help="where the arrays are")
    add("--seed", type=int, default=0, metavar="N", help="chooses the cases; default: 0")
    add("--all", action="store_true", help="try every case")
    add("--list-rules", action="store_true", help="print the rules")
    add("--strict", action="store_true", help="fail for every rule that is broken")
    add("--expected", metavar="FILE", help="faults that do not count; or a library's name")
    add("--update", action="store_true", help="write the faults that are found to --expected")
    add("--script", choices=BY_ID, metavar="ID", help="print a script that shows a rule's fault")
    add("--scripts", metavar="FOLDER", help="write such a script for each fault")
    for name in FORMATS:
        add(f"--{name}", metavar="FILE", help="write the report to a file")
    options = parser.parse_args(arguments)
    if options.update and not options.expected:
        parser.error("--update needs --expected FILE")
    for name in ("scripts", "expected", *FORMATS):
        path = pathlib.Path(getattr(options, name) or ".")
        if not path.parent.is_dir():
            parser.error(f"--{name} {path}: there is no folder {path.parent}")
    return options


if __name__ == "__main__":
    sys.exit(main())
