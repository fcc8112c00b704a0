"""The matrix of pairs: what becomes of one library's array when another one takes it in.

>>> import dlpack_conformance
>>> matrix = dlpack_conformance.run_pairs(["numpy", "torch"], ["reversed"])
>>> matrix.exchanges[0].pair, matrix.exchanges[0].status, matrix.exchanges[0].seen
('numpy → torch', 'crashed', 'SIGABRT')
"""

from . import expected, html_report, json_report, markdown, terminal
from .results import Exchange, Matrix
from .run import run_pairs

__all__ = [
    "Exchange",
    "Matrix",
    "expected",
    "html_report",
    "json_report",
    "markdown",
    "run_pairs",
    "terminal",
]
