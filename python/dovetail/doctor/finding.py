"""What a check finds."""

import dataclasses

FACT = "fact"
HINT = "hint"  # works, and could be better
FAULT = "fault"  # does not work: the exit status is 1


@dataclasses.dataclass
class Finding:
    """One sentence on one thing. `remedy` says what to do about a hint or a fault."""

    level: str
    check: str
    text: str
    remedy: str = ""
