"""What was seen of exchanges that have no good result, each text once."""

import re

from .results import NONE


def notes(matrix, way):
    """Triples of (consumer, text, {producer: its inputs}) of the exchanges in one way."""
    found = {}
    for _, exchanges in matrix.rows(way):
        for exchange in exchanges.values():
            if exchange.seen and exchange.status != NONE:
                text = f"{exchange.status}: {re.sub('0x[0-9a-f]{6,}', '0x…', exchange.seen)}"
                inputs = found.setdefault((exchange.consumer, text), {})
                inputs.setdefault(exchange.producer, []).append(exchange.input)
    return [(consumer, text, inputs) for (consumer, text), inputs in sorted(found.items())]


def sources(inputs):
    """The producers and inputs of a note, in words."""
    return "; ".join(f"{producer}: {', '.join(names)}" for producer, names in inputs.items())
