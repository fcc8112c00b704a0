"""Runs pytest over the files given: the main program of every dovetail_py_test.

What Bazel asks of a test program is translated for pytest: the report file (XML_OUTPUT_FILE, one
entry a test case), the filter (--test_filter=EXPRESSION becomes `-k EXPRESSION`) and the scratch
directory.
"""

import os
import sys

import pytest


def main() -> int:
    arguments = ["-p", "no:cacheprovider", "--color=no", "-ra", f"--rootdir={os.getcwd()}"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        arguments.append(f"--junitxml={report}")
    if scratch := os.environ.get("TEST_TMPDIR"):
        arguments.append(f"--basetemp={scratch}/pytest")
    if selection := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        arguments += ["-k", selection]
    return pytest.main(arguments + sys.argv[1:])


if __name__ == "__main__":
    status = main()
    if "paddle" in sys.modules:
        # Paddle 3.3.1 frees statics twice when C++ ends, which may abort after all tests passed.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
