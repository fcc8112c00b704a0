"""The matrix of pairs: what becomes of one library's array when another one takes it in.

>>> import pairs
>>> matrix = pairs.run_pairs(["numpy", "torch"], ["reversed"])
>>> matrix.exchanges[0].pair, matrix.exchanges[0].status, matrix.exchanges[0].seen
('numpy → torch', 'crashed', 'SIGABRT')
"""

from . import expected, markdown
from .results import Exchange, Matrix
from .run import run_pairs

__all__ = [
    "Exchange",
    "Matrix",
    "expected",
    "markdown",
    "run_pairs",
]
