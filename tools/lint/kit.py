"""The conformance kit and Dovetail stand apart: conformance/ uses nothing of Dovetail, and nothing
of Dovetail uses conformance/.

The build's own rules (//bazel) and third-party libraries are for both.
"""

import re
from collections.abc import Iterator

KIT = "conformance/"
# Looks at Dovetail by the kit, and knows both.
BETWEEN = "conformance/tests/dovetail/"
# What else may name the kit: the list of who may depend on it, pages, another repository that
# builds its example, and the pack that runs it on a GPU.
OTHERS = (
    "bazel/visibility/BUILD",
    "docs/site/",
    "tests/consumer/BUILD",
    "tools/gpu_check/",
    "tools/lint/",
)
CODE = re.compile(r"\.(bzl|cc|h|inc|py)$|(^|/)(BUILD|CMakeLists\.txt)$")
OF_DOVETAIL = re.compile(
    r'#include "dovetail/'
    r"|^\s*(?:import|from) dovetail\b"
    r'|"//(?!bazel|conformance|docs/site|visibility|:LICENSE)[\w/:.]+"'
)
OF_KIT = re.compile(
    r'#include "dlpack_conformance/'
    r"|^\s*(?:import|from) dlpack_conformance\b"
    r'|"(?:@dovetail)?//conformance(?!/tests/dovetail:__pkg__)'
)


def check_kit(name: str, lines: list[str]) -> Iterator[str]:
    if not CODE.search(name) or name.startswith((BETWEEN, *OTHERS)):
        return
    inside = name.startswith(KIT)
    for number, line in enumerate(lines, 1):
        if (OF_DOVETAIL if inside else OF_KIT).search(line):
            what = "the kit needs nothing of Dovetail" if inside else "Dovetail needs no kit"
            yield f"{name}:{number}: {what} (tools/lint/kit.py)"
