"""JSON: every result of every library, with the rules' texts."""

import dataclasses
import json

from ..rules import RULES


def render(reports, rules=None):
    shown = [rule for rule in RULES if rules is None or rule.id in rules]
    libraries = []
    for report in reports:
        fields = dataclasses.asdict(report)
        for result in fields["results"]:
            result["reproduction"] = "\n".join(result["reproduction"])
        libraries.append(fields)
    document = {"rules": [rule._asdict() for rule in shown], "libraries": libraries}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
