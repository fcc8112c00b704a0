"""JSON: every result of every library, with the rules' texts."""

import dataclasses
import json

from ..rules import chosen


def render(reports, rules=None):
    libraries = []
    for report in reports:
        fields = dataclasses.asdict(report)
        for result in fields["results"]:
            result["reproduction"] = "\n".join(result["reproduction"])
        libraries.append(fields)
    document = {"rules": [rule._asdict() for rule in chosen(rules)], "libraries": libraries}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
