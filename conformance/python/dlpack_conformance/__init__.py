"""The DLPack conformance kit: which rules of DLPack does a library keep, as producer and consumer?

    dlpack-conformance numpy torch     # the exit status is 1 for a must that is broken

>>> import dlpack_conformance
>>> report = dlpack_conformance.run("numpy", rules=["producer.device"])
>>> report.status("producer.device")
'kept'

A check runs in a process of its own, so that one that crashes is a result. The kit is Python and
ctypes alone, and the checks use the library alone. conformance/README.md is its guide.
"""

from .adapter import Adapter
from .results import Report, Result
from .rules import RULES, Rule
from .run import run

__all__ = [
    "RULES",
    "Adapter",
    "Report",
    "Result",
    "Rule",
    "run",
]
