"""What a check found, and the sum of a rule's checks."""

import dataclasses

from .processes import CRASHED
from .rules import BY_ID, LEVELS

KEPT, BROKEN, NOT_APPLICABLE = "kept", "broken", "not applicable"
STATUSES = (KEPT, BROKEN, CRASHED, NOT_APPLICABLE)
_WORST_FIRST = (CRASHED, BROKEN, KEPT, NOT_APPLICABLE)


@dataclasses.dataclass
class Result:
    """One case of one rule.

    seen            what was seen, or why the rule does not apply
    reproduction    the lines of a script that shows the fault; none if there is no fault
    errors          what the crashed process wrote to stderr
    struct          the last struct that was read or lent, as structs.dump() makes it
    """

    rule: str
    case: str | None
    status: str
    seen: str = ""
    reproduction: list = dataclasses.field(default_factory=list)
    errors: str = ""
    struct: dict | None = None

    @property
    def failed(self):
        return self.status in (BROKEN, CRASHED)


@dataclasses.dataclass
class Report:
    """The results of one library. `problem` tells why there are none: it can't be imported."""

    library: str
    version: str = ""
    results: list = dataclasses.field(default_factory=list)
    problem: str = ""

    def status(self, rule):
        """The worst status of the rule's cases."""
        found = [result.status for result in self.results if result.rule == rule]
        return min(found, key=_WORST_FIRST.index, default=NOT_APPLICABLE)

    def counts(self, rules):
        """How many of the rules have which status."""
        found = [self.status(rule.id) for rule in rules]
        return {status: found.count(status) for status in STATUSES}

    def failures(self, levels=LEVELS):
        return [r for r in self.results if r.failed and BY_ID[r.rule].level in levels]
