"""The checks: functions that are bound to a rule, and run once for each of their cases."""

import importlib
import pkgutil
from typing import NamedTuple

from . import consumer, exchange, producer, protocols
from .rules import BY_ID, RULES


class Check(NamedTuple):
    rule: str
    function: object  # called with a Script and the case, if there are cases
    cases: object  # a sequence, or a function that makes one of an Adapter and a seed
    devices: tuple  # where the arrays may be

    def cases_of(self, adapter, seed):
        return tuple(self.cases(adapter, seed) if callable(self.cases) else self.cases)


_CHECKS: dict = {}


def check(rule, cases=(None,), devices=("cpu", "cuda")):
    """Declare a function to be the check of a rule. A rule has one check."""
    if rule not in BY_ID or rule in _CHECKS:
        raise KeyError(rule)

    def declare(function):
        _CHECKS[rule] = Check(rule, function, cases, devices)
        return function

    return declare


def all_checks():
    """All checks by their rules, in the order of the rules."""
    for package in (producer, consumer, exchange, protocols):
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return {rule.id: _CHECKS[rule.id] for rule in RULES if rule.id in _CHECKS}


def rules_of(device="cpu", protocol="dlpack", ids=None):
    """The rules that are checked with arrays on a device. The protocol is "dlpack" or "all"; rules
    that are named are checked whatever their protocol."""
    checks = all_checks()
    return [
        rule
        for rule in RULES
        if device in checks[rule.id].devices
        and (rule.id in ids if ids else protocol in ("all", rule.protocol))
    ]
