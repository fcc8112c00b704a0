"""`python -m dovetail doctor`. The exit status is 1 if something is wrong."""

import argparse
import dataclasses
import json
import pathlib
import sys
import types

if not __package__:  # run by its path: `import dovetail` need not work
    package = types.ModuleType("dovetail")
    package.__path__ = [str(pathlib.Path(__file__).absolute().parent.parent)]
    sys.modules["dovetail"] = package
    sys.path[0] = ""  # as in the user's own programs, and not this folder

from dovetail.doctor import driver, installation, packages, peers, processors, shared_memory, system
from dovetail.doctor.child import TIMEOUT, ask
from dovetail.doctor.finding import FAULT, HINT


def examine(timeout=TIMEOUT):
    """Return all findings."""
    about = ask("probe_dovetail.py", timeout=timeout)
    findings = [*system.check(), *installation.check(about), *shared_memory.check()]
    if about.values is None:
        return findings  # the other checks ask Dovetail
    values = about.values
    answers = peers.probe(values["peers"], timeout)
    torch = answers["torch"].values if "torch" in answers else None
    findings += processors.check(values["threads"])
    findings += driver.check(
        values["backends"], torch and torch["cuda"], files=values["library_files"]
    )
    findings += driver.check_copies(answers)
    findings += packages.check(values["peers"], answers)
    return findings + peers.check(answers)


def render(findings):
    lines = []
    for finding in findings:
        lines.append(f"{finding.level:<6}{finding.check}: {finding.text}")
        if finding.remedy:
            lines.append(f"      -> {finding.remedy}")
    faults, hints = (sum(one.level == level for one in findings) for level in (FAULT, HINT))
    lines.append(f"{_count(faults, 'fault')}, {_count(hints, 'hint')}")
    return "\n".join(lines)


def _count(number, name):
    return f"{number} {name}" + "s" * (number != 1)


def main():
    parser = argparse.ArgumentParser(
        prog="python -m dovetail doctor",
        description="Say what is installed, what is wrong with it and how to mend it. The exit "
        "status is 1 if something is wrong.",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT, metavar="SECONDS",
        help="for the import of each library (%(default)g)",
    )  # fmt: skip
    options = parser.parse_args()
    findings = examine(options.timeout)
    if options.json:
        print(json.dumps([dataclasses.asdict(finding) for finding in findings], indent=1))
    else:
        print(render(findings))
    return 1 if any(finding.level == FAULT for finding in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
