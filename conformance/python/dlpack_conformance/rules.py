"""The rules of rules.toml and other_rules.toml, and the documents that state them.

>>> BY_ID["producer.copy-true"].level
'must'
"""

import pathlib
from typing import NamedTuple

try:
    import tomllib
except ImportError:  # before Python 3.11
    import tomli as tomllib

LEVELS = ("must", "should", "hardening")
# Maps a role, which a rule's id begins with, to the field of the Adapter without which a library
# does not have it. The roles after exchange are other protocols', out and in.
ROLES = {
    "producer": "array",
    "consumer": "take",
    "exchange": "array",
    "buffer": "array",
    "array-interface": "array",
    "cuda-array-interface": "array",
    "arrow": "array",
    "from-buffer": "take_buffer",
    "from-array-interface": "take_interface",
    "from-arrow": "take_arrow",
}
DLPACK = ("producer", "consumer", "exchange")


class Document(NamedTuple):
    name: str
    file: str  # in its repository
    url: str
    version: str = ""
    sha256: str = ""  # of the file; "": unknown


class Rule(NamedTuple):
    id: str
    level: str
    sentence: str
    document: str = ""  # a key of DOCUMENTS; "": no document
    quote: str = ""
    why: str = ""

    @property
    def role(self):
        """Whom the rule binds: one of ROLES."""
        return self.id.partition(".")[0]

    @property
    def protocol(self):
        return "dlpack" if self.role in DLPACK else "others"

    @property
    def source(self):
        if not self.document:
            return f"no document; {self.why}"
        return f'{DOCUMENTS[self.document].name}: "{self.quote}"'


def load(name):
    """A TOML file of this folder."""
    return tomllib.loads(pathlib.Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _rule(id, fields):
    (level,) = fields.keys() & set(LEVELS)
    (document, *_) = [*(fields.keys() & DOCUMENTS.keys()), ""]
    quote = fields.get(document, "")
    return Rule(id, level, fields[level], document, quote, fields.get("why", ""))


_TABLES = {**load("rules.toml"), **load("other_rules.toml")}
DOCUMENTS = {key: Document(**fields) for key, fields in _TABLES.pop("documents").items()}
RULES = tuple(
    _rule(f"{role}.{name}", fields)
    for role, table in _TABLES.items()
    for name, fields in table.items()
)
BY_ID = {rule.id: rule for rule in RULES}
