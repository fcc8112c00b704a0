"""The tests: one for each rule that applies to the library, named by the rule's id."""

import collections

import pytest

from dlpack_conformance import Report, adapters
from dlpack_conformance.results import NOT_APPLICABLE
from dlpack_conformance.rules import BY_ID
from dlpack_conformance.run import stream, tasks_of


class Rules:
    """Adds the tests of libraries to those that pytest collects itself."""

    def __init__(self, references, strict):
        self.references, self.strict = references, strict

    @pytest.hookimpl(tryfirst=True)  # -k and -m deselect later
    def pytest_collection_modifyitems(self, session, items):
        for reference in self.references:
            library = Library.from_parent(session, reference=reference, strict=self.strict)
            items += session.genitems(library)

    def pytest_collection_finish(self, session):
        for item in session.items:
            if isinstance(item, RuleTest):
                item.parent.selected.append(item.name)


class Library(pytest.Collector):
    """The tests of a library. Their checks run in a process that imports it once, in order, each
    when its test does."""

    def __init__(self, reference, strict, **more):
        try:
            adapter = adapters.load(reference)
        except LookupError as error:
            raise pytest.UsageError(str(error)) from None
        if not adapters.is_installed(adapter):
            raise pytest.UsageError(f"{adapter.name} is not installed")
        super().__init__(name=adapter.name, nodeid=f"dlpack::{adapter.name}", **more)
        self.reference, self.strict = reference, strict
        self.selected = []  # the ids of the rules that are tested
        self.report = Report(adapter.name)
        self._cases = collections.Counter(rule for rule, _, _ in tasks_of(adapter))
        self._stream = None
        self._found = collections.defaultdict(list)
        self._told = False

    def collect(self):
        return [RuleTest.from_parent(self, name=rule) for rule in self._cases]

    def results(self, rule):
        """The results of a rule. Raises an exception if the library can't be imported."""
        if self._stream is None:
            self._stream = stream(self.reference, self.report, self.selected)
        while len(self._found[rule]) < self._cases[rule]:
            result = next(self._stream, None)
            if result is None:
                self._report_problem()
            self._found[result.rule].append(result)
        return self._found[rule]

    def _report_problem(self):
        """The first test fails because of it, the others are skipped."""
        if self._told:
            pytest.skip(self.report.problem)
        self._told = True
        raise RuleBrokenError(f"{self.name}: {self.report.problem}")


class RuleBrokenError(Exception):
    """Its text is the whole report."""


class RuleTest(pytest.Item):
    def __init__(self, **more):
        super().__init__(**more)
        self.rule = BY_ID[self.name]
        self.add_marker("dlpack")

    def runtest(self):
        results = self.parent.results(self.name)
        failures = [result for result in results if result.failed]
        if failures and not (self.parent.strict or self.rule.level == "must"):
            seen = "; ".join(map(_seen, failures))
            pytest.xfail(f"{seen} ({self.rule.level}: {self.rule.sentence})")
        if failures:
            raise RuleBrokenError("\n\n".join(map(self._text, failures)))
        if all(result.status == NOT_APPLICABLE for result in results):
            pytest.skip("; ".join(dict.fromkeys(result.seen for result in results)))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, RuleBrokenError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"{self.parent.name} {self.name}"

    def _text(self, result):
        rule = self.rule
        lines = [
            _seen(result),
            f"{rule.sentence} ({rule.level}; {rule.source})",
            *(f"| {line}" for line in result.errors.splitlines()),
            "",
            *result.reproduction,
        ]
        return "\n".join(lines)


def _seen(result):
    return result.seen if result.case is None else f"{result.case}: {result.seen}"
