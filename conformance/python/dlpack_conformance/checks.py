"""The checks: functions that are bound to a rule, and run once for each of their cases."""

import importlib
import pkgutil
from typing import NamedTuple

from . import consumer, exchange, producer, protocols
from .rules import BY_ID


class Check(NamedTuple):
    rule: str
    function: object  # called with a Script and the case, if there are cases
    cases: object  # a tuple, or a function that makes one of an Adapter
    devices: tuple  # where the arrays may be

    def cases_of(self, adapter):
        return tuple(self.cases(adapter) if callable(self.cases) else self.cases)


_CHECKS: list[Check] = []


def check(rule, cases=(None,), devices=("cpu", "cuda")):
    """Declare a function to be the check of a rule."""
    if rule not in BY_ID:
        raise KeyError(rule)

    def declare(function):
        _CHECKS.append(Check(rule, function, cases, devices))
        return function

    return declare


def all_checks():
    """All checks, in the order of the rules."""
    for package in (producer, consumer, exchange, protocols):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    order = list(BY_ID)
    return sorted(_CHECKS, key=lambda check: order.index(check.rule))
