"""The DLPack conformance kit: which rules of DLPack does a library keep, as producer and consumer?

    python -m dlpack_conformance numpy torch     # a table; the exit status is 1 for a broken rule

>>> import dlpack_conformance
>>> report = dlpack_conformance.run("numpy", rules=["producer.device"])
>>> report.status("producer.device")
'kept'

A check runs in a process of its own, so that one that crashes is a result. The kit is Python and
ctypes alone, and the checks use the library alone. conformance/README.md is its guide.
"""

from .adapter import Adapter
from .pairs import Exchange, Matrix, run_pairs
from .results import Report, Result
from .rules import RULES, Rule
from .run import run

__all__ = [
    "RULES",
    "Adapter",
    "Exchange",
    "Matrix",
    "Report",
    "Result",
    "Rule",
    "run",
    "run_pairs",
]
