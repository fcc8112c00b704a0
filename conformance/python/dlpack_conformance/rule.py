"""What a rule is: a sentence of a document, and how binding it is."""

from typing import NamedTuple

HEADER = "dlpack.h 1.3, "
PYTHON = "DLPack's Python specification, "
ARRAY_API = "Python array API standard, "
NONE = "no document"
LEVELS = ("must", "should", "hardening")


class Rule(NamedTuple):
    id: str
    level: str
    number: int | None
    sentence: str
    source: str

    @property
    def role(self):
        """Whom the rule binds: one of rules.ROLES."""
        return self.id.partition(".")[0]


def rule(id, level, number, sentence, source):
    return Rule(id, level, number, " ".join(sentence.split()), source)
