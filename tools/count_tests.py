#!/usr/bin/env python3
"""Counts the test cases of a `bazel test`: prints "<passed> <failed>".

Usage: count_tests.py EVENTS, where EVENTS is the file of --build_event_json_file. It counts the
cases in each test's report. A test that failed without naming a case counts as one.
"""

import json
import sys
import urllib.parse
import xml.etree.ElementTree as ET

BAD = ("failure", "error")


def cases_of(report: str) -> tuple[int, int]:
    """The numbers of passed and failed cases in one report; skipped cases count as neither."""
    passed = failed = 0
    for case in ET.parse(report).iter("testcase"):
        children = {child.tag for child in case}
        if children & set(BAD):
            failed += 1
        elif "skipped" not in children and case.get("status") != "notrun":
            passed += 1
    return passed, failed


def count(events: str) -> tuple[int, int]:
    outcomes = {}  # by test, shard and run; the last attempt replaces earlier ones
    tested, summarised = set(), {}
    with open(events, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            name = event.get("id", {})
            if "testResult" in name and "testResult" in event:
                key = name["testResult"]
                tested.add(key["label"])
                result = event["testResult"]
                good = result.get("status") in ("PASSED", "FLAKY")
                passed = failed = 0
                for output in result.get("testActionOutput", []):
                    if output["name"] == "test.xml":
                        passed, failed = cases_of(urllib.parse.urlsplit(output["uri"]).path)
                if not good and failed == 0:
                    failed = 1
                outcomes[key["label"], key.get("shard", 1), key.get("run", 1)] = passed, failed
            elif "testSummary" in name and "testSummary" in event:
                summarised[name["testSummary"]["label"]] = event["testSummary"]["overallStatus"]
    # Tests that never ran, because they or their dependencies did not build.
    unbuilt = [label for label in summarised if label not in tested]
    total_passed = sum(passed for passed, _ in outcomes.values())
    total_failed = sum(failed for _, failed in outcomes.values()) + len(unbuilt)
    return total_passed, total_failed


if __name__ == "__main__":
    print(*count(sys.argv[1]))
