"""The tests: one for each rule that applies to the library, named by the rule's id."""

import collections

import pytest

from dlpack_conformance import Report, adapters, expected
from dlpack_conformance.cases import WHOLE
from dlpack_conformance.report import text
from dlpack_conformance.results import NOT_APPLICABLE
from dlpack_conformance.rules import BY_ID
from dlpack_conformance.run import stream, tasks_of


class Rules:
    """Adds the tests of libraries to those that pytest collects itself."""

    def __init__(self, references, options):
        self.references, self.options = references, options

    @pytest.hookimpl(tryfirst=True)  # -k and -m deselect later
    def pytest_collection_modifyitems(self, session, items):
        for reference in self.references:
            library = Library.from_parent(session, reference=reference, options=self.options)
            items += session.genitems(library)

    def pytest_collection_finish(self, session):
        for item in session.items:
            if isinstance(item, RuleTest):
                item.parent.selected.append(item.name)


class Library(pytest.Collector):
    """The tests of a library. Their checks run in a process that imports it once, in order, each
    when its test does."""

    def __init__(self, reference, options, **more):
        path = options["expected"]
        try:
            adapter = adapters.load(reference)
            self.entries = expected.read(expected.path_of(path)) if path else []
        except LookupError as error:
            raise pytest.UsageError(str(error)) from None
        if not adapters.is_installed(adapter):
            raise pytest.UsageError(f"{adapter.name} is not installed")
        super().__init__(name=adapter.name, nodeid=f"dlpack::{adapter.name}", **more)
        self.reference, self.strict = reference, options["strict"]
        self.selected = []  # the ids of the rules that are tested
        self.report = Report(adapter.name)
        seed = WHOLE if options["all"] else options["seed"]
        self._how = {key: options[key] for key in ("device", "protocol")} | {"seed": seed}
        on_device = adapter.on(options["device"])
        if on_device is None:
            raise pytest.UsageError(f"{adapter.name} makes no arrays on {options['device']}")
        tasks = tasks_of(on_device, protocol=options["protocol"], seed=seed)
        self._cases = collections.Counter(rule for rule, _ in tasks)
        self._stream, self._told = None, False

    def collect(self):
        return [RuleTest.from_parent(self, name=rule) for rule in self._cases]

    def rule_report(self, rule):
        """A Report of this rule alone. Raises an exception if the library can't be imported."""
        if self._stream is None:
            self._stream = stream(self.reference, self.report, self.selected, **self._how)
        while len(self.report.of(rule)) < self._cases[rule]:
            if next(self._stream, None) is None:
                self._report_problem()
        if rule == self.selected[-1] and next(self._stream, None) is None and self.report.problem:
            self._report_problem()
        report = Report(self.name, self.report.version, self.report.of(rule))
        expected.apply(report, [entry for entry in self.entries if entry["rule"] == rule])
        return report

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
        report = self.parent.rule_report(self.name)
        failures = report.failures()
        if report.fails(self.parent.strict):
            raise RuleBrokenError("\n\n".join([*report.gone, *map(self._text, failures)]))
        if failures:
            seen = "; ".join(_seen(result) for result in failures[:3])
            why = failures[0].expected or f"{self.rule.level}: {self.rule.sentence}"
            pytest.xfail(f"{seen} ({why})")
        if all(result.status == NOT_APPLICABLE for result in report.results):
            pytest.skip("; ".join(dict.fromkeys(result.seen for result in report.results)))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, RuleBrokenError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"{self.parent.name} {self.name}"

    def _text(self, result):
        rule = self.rule
        lines = [_seen(result), f"{rule.sentence} ({rule.level}; {rule.source})"]
        lines += [f"| {line}" for line in result.errors.splitlines()]
        return "\n".join([*lines, "", text.script(self.parent.report, result)])


def _seen(result):
    return f"{result.case}: {result.seen}" if result.case else result.seen
