"""JSON: every result of every library, with the rules' texts. README.md has the schema."""

import dataclasses
import json

SCHEMA = 1


def render(reports, strict=False):
    rules = {rule.id: rule for report in reports for rule in report.rules()}
    libraries = []
    for report in reports:
        fields = {**dataclasses.asdict(report), "fails": report.fails(strict)}
        fields["sums"] = {
            level: {"kept": kept, "of": all_} for level, (kept, all_) in report.sums().items()
        }
        for result in fields["results"]:
            result["reproduction"] = "\n".join(result["reproduction"])
        libraries.append(fields)
    document = {
        "schema": SCHEMA,
        "rules": [{**rule._asdict(), "source": rule.source} for rule in rules.values()],
        "libraries": libraries,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
