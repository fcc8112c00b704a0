"""JSON: every exchange, with its time."""

import dataclasses
import json

from .results import STATUSES, WAYS


def render(matrix):
    document = {"statuses": STATUSES, "ways": WAYS, **dataclasses.asdict(matrix)}
    for exchange in document["exchanges"]:
        exchange["reproduction"] = "\n".join(exchange["reproduction"])
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
