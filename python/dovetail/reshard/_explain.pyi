"""Type stub of dovetail.reshard._explain."""

from dovetail.reshard import Reshard

class Explanation:
    plan: Reshard
    def __init__(self, plan: Reshard) -> None: ...
