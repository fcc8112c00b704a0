"""JUnit XML, which CI systems show: a suite for each library, a test case for each check."""

import xml.etree.ElementTree as ElementTree

from ..results import NOT_APPLICABLE
from ..rules import BY_ID


def render(reports, rules=None):
    root = ElementTree.Element("testsuites")
    for report in reports:
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"dlpack.{report.library}",
            tests=str(len(report.results) or 1),
            errors=str(int(bool(report.problem))),
            failures=str(len(report.failures(["must"]))),
        )
        if report.problem:
            case = ElementTree.SubElement(suite, "testcase", name="import")
            ElementTree.SubElement(case, "error", message=report.problem)
        for result in report.results:
            _add(suite, report, result)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(suite, report, result):
    rule = BY_ID[result.rule]
    name = result.rule if result.case is None else f"{result.rule}[{result.case}]"
    case = ElementTree.SubElement(
        suite, "testcase", name=name, classname=f"dlpack.{report.library}"
    )
    text = "\n".join([f"{rule.sentence} ({rule.source})", *result.reproduction, result.errors])
    if result.status == NOT_APPLICABLE:
        ElementTree.SubElement(case, "skipped", message=result.seen)
    elif result.failed and rule.level == "must":
        failure = ElementTree.SubElement(case, "failure", message=result.seen, type=result.status)
        failure.text = text
    elif result.failed:  # a recommendation: CI passes
        ElementTree.SubElement(case, "system-out").text = f"{result.seen}\n{text}"
