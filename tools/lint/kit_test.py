"""kit.py: which lines of which files it finds."""

import pytest
from kit import check_kit


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("conformance/cpp/lent.cc", '#include "dovetail/core/tensor.h"'),
        ("conformance/python/dlpack_conformance/run.py", "    import dovetail as dt"),
        ("conformance/tests/python/BUILD", '        "//python:dovetail",'),
        ("interop/dlpack/BUILD", '        "//conformance/cpp:suite",'),
        ("core/tests/tensor_test.cc", '#include "dlpack_conformance/suite.h"'),
        ("python/tests/testing/managed.py", "from dlpack_conformance.structs import DLTensor"),
    ],
)
def test_a_use_in_either_direction_is_found(name, line):
    assert len(list(check_kit(name, [line]))) == 1


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("conformance/cpp/BUILD", 'load("//bazel:cc.bzl", "dovetail_cc_library")'),
        ("conformance/python/BUILD", '    readme = "//conformance:README.md",'),
        (
            "conformance/python/dlpack_conformance/adapters/dovetail.py",
            '    setup="import dovetail",',
        ),
        ("conformance/tests/dovetail/BUILD", '    "//python:dovetail",'),
        ("python/dovetail/conformance.py", 'importlib.import_module("dlpack_conformance")'),
        ("docs/support.md", '`"//conformance/cpp:suite"`'),
    ],
)
def test_what_is_allowed_passes(name, line):
    assert list(check_kit(name, [line])) == []
