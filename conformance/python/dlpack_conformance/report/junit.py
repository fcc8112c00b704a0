"""JUnit XML, which CI systems show: a suite for each library, a test case for each case.

A test case fails if the exit status of the command is 1 for it. A recommendation that is broken is
skipped, with what was seen.
"""

import re
import xml.etree.ElementTree as ElementTree

from ..results import NOT_APPLICABLE
from ..rules import BY_ID

# Characters that XML can't have.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def render(reports, strict=False):
    root = ElementTree.Element("testsuites")
    for report in reports:
        suite = ElementTree.SubElement(root, "testsuite", name=f"dlpack.{report.library}")
        if report.problem:
            _add(suite, "import", "error", report.problem)
        for result in report.results:
            _add(suite, result.name, *_outcome(result, strict))
        for sentence in report.gone:
            _add(suite, sentence.partition(":")[0], "failure", sentence)
        suite.set("tests", str(len(suite)))
        for kind, count in (("errors", "error"), ("failures", "failure"), ("skipped", "skipped")):
            suite.set(kind, str(len(suite.findall(f"testcase/{count}"))))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode", xml_declaration=True)
    return _NO_XML.sub("?", text) + "\n"


def _add(suite, name, kind=None, message="", text=""):
    case = ElementTree.SubElement(suite, "testcase", name=name, classname=suite.get("name"))
    if kind:
        element = ElementTree.SubElement(case, kind, message=message)
        element.text = text or None


def _outcome(result, strict):
    rule = BY_ID[result.rule]
    text = "\n".join([f"{rule.sentence} ({rule.source})", *result.reproduction, result.errors])
    if result.status == NOT_APPLICABLE:
        return "skipped", result.seen
    if not result.failed:
        return ()
    if result.expected is not None:
        return "skipped", f"expected ({result.expected}): {result.seen}", text
    if rule.level == "must" or strict:
        return "failure", result.seen, text
    return "skipped", f"{rule.level}: {result.seen}", text
