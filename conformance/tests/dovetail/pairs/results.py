"""What became of the exchanges."""

import dataclasses

from dlpack_conformance.processes import CRASHED

from .inputs import INPUTS

SHARED, COPIED, TAKEN, REFUSED, WRONG = "shared", "copied", "taken", "refused", "wrong"
NONE = "–"
STATUSES = {
    SHARED: "the result has the array's memory",
    COPIED: "the result has memory of its own",
    TAKEN: "the result does not tell its address, or has no elements",
    REFUSED: "an exception",
    WRONG: "other elements or another type than the array's, or a write to read-only memory",
    CRASHED: "the process died",
    NONE: "the library can't make the array, or takes none in this way",
}
DONE = (SHARED, COPIED, TAKEN)
OWN, DOVETAIL = "own", "dovetail"
WAYS = {OWN: "the consumer's own from_dlpack()", DOVETAIL: "dovetail.convert()"}


@dataclasses.dataclass
class Exchange:
    """An array of the library `producer`, as the library `consumer` takes it in.

    way             one of WAYS
    input           the name of the array in inputs.INPUTS
    status          one of STATUSES
    seen            the exception, or what is wrong
    nanoseconds     an exchange takes, the median of many; None where there is no result
    reproduction    the lines of a script that does the same; none where there is a good result
    errors          what the crashed process wrote to stderr
    """

    producer: str
    consumer: str
    way: str
    input: str
    status: str
    seen: str = ""
    nanoseconds: int | None = None
    reproduction: list = dataclasses.field(default_factory=list)
    errors: str = ""

    @property
    def pair(self):
        return f"{self.producer} → {self.consumer}"


@dataclasses.dataclass
class Matrix:
    """The exchanges between libraries.

    versions    of the libraries, by name
    problems    sentences about pairs of libraries that could not be tried
    """

    libraries: list
    versions: dict = dataclasses.field(default_factory=dict)
    problems: list = dataclasses.field(default_factory=list)
    exchanges: list = dataclasses.field(default_factory=list)

    def add(self, other):
        self.versions.update(other.versions)
        self.problems += other.problems
        self.exchanges += other.exchanges

    def rows(self, way):
        """Pairs of (name of two libraries, their exchanges by input), in order, of those libraries
        where there is an exchange."""
        rows = {}
        for exchange in self.exchanges:
            if exchange.way == way:
                key = exchange.producer, exchange.consumer
                rows.setdefault(key, {})[exchange.input] = exchange
        order = self.libraries.index
        keys = sorted(rows, key=lambda key: (order(key[0]), order(key[1])))
        rows = {" → ".join(key): rows[key] for key in keys}
        return [row for row in rows.items() if any(e.status != NONE for e in row[1].values())]

    def inputs(self):
        """The names of the arrays that were tried, in order."""
        tried = {exchange.input for exchange in self.exchanges}
        return [name for name in INPUTS if name in tried]
