"""A page of HTML: for each way a table of all pairs, then what was refused or wrong.

report/pairs.html is the template, which extends that of the other page.
"""

import platform

from ..report.html_report import environment
from .notes import notes, sources
from .results import DONE, STATUSES, WAYS


def render(matrix):
    ways = [_Way(matrix, way) for way in WAYS if matrix.rows(way)]
    template = environment().get_template("pairs.html")
    return template.render(
        matrix=matrix,
        ways=ways,
        inputs=matrix.inputs(),
        statuses=STATUSES,
        done=DONE,
        python=platform.python_version(),
        system=platform.system(),
    )


class _Way:
    """What the page shows of one way. The ids are numbered, because names may be anything."""

    def __init__(self, matrix, way):
        self.id, self.title = f"way-{way}", WAYS[way]
        self.rows = matrix.rows(way)
        self.notes = [
            self._note(number, *note) for number, note in enumerate(notes(matrix, way), 1)
        ]

    def _note(self, number, consumer, text, inputs):
        status, _, seen = text.partition(": ")
        found = [
            exchange
            for _, exchanges in self.rows
            for exchange in exchanges.values()
            if exchange.consumer == consumer
            and exchange.status == status
            and exchange.input in inputs.get(exchange.producer, ())
        ]
        return {
            "id": f"{self.id}.{number}",
            "consumer": consumer,
            "status": status,
            "seen": seen,
            "sources": sources(inputs),
            "keys": {(exchange.producer, exchange.consumer, exchange.input) for exchange in found},
            "errors": found[0].errors,
            "reproduction": found[0].reproduction,
        }

    def id_of(self, exchange):
        """The id of the entry about an exchange."""
        key = exchange.producer, exchange.consumer, exchange.input
        return next(note["id"] for note in self.notes if key in note["keys"])

    def time_of(self, exchanges):
        times = [exchange.nanoseconds for exchange in exchanges.values() if exchange.nanoseconds]
        return f"{times[0]:,} ns".replace(",", " ") if times else ""
