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
    expected        why the fault is expected; None: it is not
    """

    rule: str
    case: str | None
    status: str
    seen: str = ""
    reproduction: list = dataclasses.field(default_factory=list)
    errors: str = ""
    struct: dict | None = None
    expected: str | None = None

    @property
    def failed(self):
        return self.status in (BROKEN, CRASHED)

    @property
    def level(self):
        return BY_ID[self.rule].level

    @property
    def name(self):
        return f"{self.rule} [{self.case}]" if self.case else self.rule


@dataclasses.dataclass
class Report:
    """The results of one library. `problem` tells why they say nothing: it can't be imported.
    `gone` are sentences on faults that were expected and not found."""

    library: str
    version: str = ""
    results: list = dataclasses.field(default_factory=list)
    problem: str = ""
    gone: list = dataclasses.field(default_factory=list)

    def of(self, rule):
        return [result for result in self.results if result.rule == rule]

    def status(self, rule):
        """The worst status of the rule's cases."""
        return min(
            (result.status for result in self.of(rule)),
            key=_WORST_FIRST.index,
            default=NOT_APPLICABLE,
        )

    def rules(self):
        """The rules that were checked, musts first."""
        found = {result.rule: BY_ID[result.rule] for result in self.results}.values()
        return sorted(found, key=lambda rule: LEVELS.index(rule.level))

    def failures(self, levels=LEVELS):
        """The results that failed, whether they were expected or not."""
        return [result for result in self.results if result.failed and result.level in levels]

    def fails(self, strict=False):
        """Whether the exit status is 1: for a must that is broken, with `strict` for any rule, and
        for a fault that was expected and is gone."""
        levels = LEVELS if strict else ["must"]
        unexpected = [r for r in self.failures(levels) if r.expected is None]
        return bool(self.problem or self.gone or unexpected)

    def sums(self):
        """Maps each level to (rules kept, rules that apply)."""
        sums = {}
        for level in LEVELS:
            found = [self.status(rule.id) for rule in self.rules() if rule.level == level]
            applied = [status for status in found if status != NOT_APPLICABLE]
            sums[level] = (applied.count(KEPT), len(applied))
        return sums

    @property
    def summary(self):
        names = {"must": "musts", "should": "shoulds", "hardening": "hardening"}
        sums = self.sums().items()
        return ", ".join(f"{names[k]} {kept} of {all_}" for k, (kept, all_) in sums if all_)
