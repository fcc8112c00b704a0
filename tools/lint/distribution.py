"""The name of the Python distribution: dovetail-dlpack. PyPI's dovetail is another project, whose
code runs where a page, an example or an error tells someone to install it."""

import re
from collections.abc import Iterator

# A requirement, such as dovetail>=0.1, and not dovetail-dlpack, dovetail_dlpack-….whl or dovetail/.
_REQUIREMENT = r"dovetail(?![\w./-]|::)(?=[\s\"'`\[\]<>=~!,;:)]|$)"
_INSTALL = re.compile(
    r"\b(?:pip|uv|pipx|conda|mamba)\d?\b.*?\b(?:add|download|install|wheel)\b([^#]*)"
)
_FOREIGN = re.compile(r"(?:^|[\s\"'`])(?:dovetail-\S*\.tar\.gz|" + _REQUIREMENT + ")")
# What tells pip to leave PyPI alone.
_SOURCE = re.compile(r"--index-url|--no-index")

# A requirement that has a line of its own.
_ONE = re.compile(r"\s*[\"']?" + _REQUIREMENT + r"[^\"']*[\"']?,?")
_REQUIREMENTS = (".cfg", ".in", ".toml", ".txt")

_WRONG = [
    (
        re.compile(r"\b(?:requires|dependencies)\s*=\s*\[.*[\"']" + _REQUIREMENT),
        "a requirement is dovetail-dlpack",
    ),
    (re.compile(r"\bdovetail\[[a-z]+\]"), "an extra is one of dovetail-dlpack"),
    (
        re.compile(r"\bdovetail[-…][^\s\"'`]*(?:whl|\.dist-info)"),
        "wheels and their information are called dovetail_dlpack-…",
    ),
    (
        re.compile(
            r"\b(?:version|distributions?|discover|from_name)\((?:name=)?[\"']dovetail[\"']"
        ),
        "the distribution is dovetail-dlpack",
    ),
]


def check_distribution(name: str, lines: list[str]) -> Iterator[str]:
    if name == "docs/site/distribution_test.py":  # it has what is wrong
        return
    for number, line in enumerate(lines, 1):
        for command in _INSTALL.finditer(line):
            if _FOREIGN.search(command[1]):
                yield f"{name}:{number}: pip's dovetail is another project: dovetail-dlpack is ours"
            elif "dovetail-dlpack" in command[1] and not _SOURCE.search(command[1]):
                yield f"{name}:{number}: dovetail-dlpack is not on PyPI: name a file or an index"
        if name.endswith(_REQUIREMENTS) and _ONE.fullmatch(line):
            yield f"{name}:{number}: a requirement is dovetail-dlpack"
        for pattern, rule in _WRONG:
            if pattern.search(line):
                yield f"{name}:{number}: {rule}"
