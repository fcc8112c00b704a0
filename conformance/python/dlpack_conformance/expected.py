"""Faults that are expected, in a file of TOML:

    [[fault]]
    library = "torch"
    versions = "2.13, 2.14"      # what the version begins with; left out: any
    rule = "consumer.strides"
    case = "reversed*"           # a pattern, as of file names; left out: any
    reason = "negative strides are not supported"
    link = "https://…"           # left out: none

An expected fault does not count. One that is not found counts: the entry is out of date.
"""

import fnmatch
import json
import pathlib

from .rules import BY_ID, tomllib

FIELDS = ("library", "versions", "rule", "case", "reason", "link")
_FOLDER = pathlib.Path(__file__).with_name("known")


def path_of(name):
    """The path of a file, or of that which ships for a library of this name."""
    shipped = _FOLDER / f"{name}.toml"
    return shipped if shipped.is_file() and not pathlib.Path(name).exists() else pathlib.Path(name)


def read(path):
    """The entries of a file. Raises LookupError if it is none."""
    try:
        tables = tomllib.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LookupError(f"{path}: there is no such file; --update makes it") from None
    except (OSError, ValueError) as error:
        raise LookupError(f"{path}: {error}") from None
    entries = tables.get("fault", [])
    if tables.keys() - {"fault"} or not isinstance(entries, list):
        raise LookupError(f"{path}: it has other tables than [[fault]]")
    for entry in entries:
        if not isinstance(entry, dict) or {str} != {*map(type, entry.values())}:
            raise LookupError(f"{path}: {entry} is no table of texts")
        if unknown := entry.keys() - set(FIELDS):
            raise LookupError(f"{path}: a fault has no field {', '.join(sorted(unknown))}")
        if not entry.get("library") or entry.get("rule") not in BY_ID:
            raise LookupError(f"{path}: {entry} names no library or no rule of the kit")
    return entries


def _is_of(entry, report):
    versions = [version.strip() for version in entry.get("versions", "").split(",")]
    return entry["library"] == report.library and report.version.startswith(tuple(versions))


def _cases(entry, report):
    """The results that an entry speaks of."""
    pattern = entry.get("case", "*")
    return [r for r in report.of(entry["rule"]) if fnmatch.fnmatchcase(str(r.case), pattern)]


def apply(report, entries):
    """Mark the results that are expected, and list in report.gone what is not found."""
    for entry in filter(lambda entry: _is_of(entry, report), entries):
        for result in filter(lambda result: result.failed, _cases(entry, report)):
            result.expected = entry.get("reason") or "expected"
        if _is_gone(entry, report):
            case = f" [{entry['case']}]" if "case" in entry else ""
            report.gone.append(f"{entry['rule']}{case}: an expected fault is gone")


def updated(entries, reports, strict=False):
    """The entries without those that are gone, and with a new one for each rule that counts."""
    kept = [entry for entry in entries if not any(_is_gone(entry, r) for r in reports)]
    levels = ("must", "should", "hardening") if strict else ("must",)
    for report in reports:
        found = {}
        for result in report.failures(levels):
            if result.expected is None:
                found.setdefault(result.rule, result)
        kept += [
            {
                "library": report.library,
                "versions": report.version,
                "rule": rule,
                "reason": f"not explained yet: {result.seen}",
            }
            for rule, result in found.items()
        ]
    return kept


def _is_gone(entry, report):
    results = _cases(entry, report) if _is_of(entry, report) else []
    return bool(results) and not any(result.failed for result in results)


def render(entries):
    """The file of these entries."""
    tables = (
        "\n".join(
            ["[[fault]]"]
            + [
                f"{field} = {json.dumps(entry[field], ensure_ascii=False)}"
                for field in FIELDS
                if field in entry
            ]
        )
        for entry in entries
    )
    return "\n\n".join(tables) + "\n" if entries else ""
