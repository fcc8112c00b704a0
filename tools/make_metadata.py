#!/usr/bin/env python3
"""Writes the metadata of a Python distribution (METADATA of a wheel, PKG-INFO of an sdist).

    make_metadata.py --output=METADATA --distribution=dovetail-dlpack --version=0.1.0 --summary=… \\
        --requires-python='>=3.10' --readme=README.md --license=LICENSE \\
        --classifier='Typing :: Typed' --keyword=dlpack --extra=mpi:mpi4py \\
        --repository=OWNER/NAME

The build calls it (bazel/wheel.bzl). With --repository, the project's on GitHub, the metadata have
its addresses, and links of the readme to files of the repository become absolute. Without one they
become plain text and pictures go, since PyPI's page has no files beside it. It needs only Python.
"""

import argparse
import os
import pathlib
import posixpath
import re

METADATA = """Metadata-Version: 2.4
Name: {distribution}
Version: {version}
Summary: {summary}
License-Expression: Apache-2.0
Requires-Python: {requires_python}
"""


def fields(options):
    """The lines of the fields that may occur several times."""
    if options.keyword:
        yield f"Keywords: {','.join(options.keyword)}"
    yield from (f"License-File: {os.path.normpath(path)}" for path in options.license)
    if options.repository:
        site = f"https://github.com/{options.repository}"
        for name, page in {
            "Homepage": "",
            "Documentation": f"/tree/v{options.version}/docs",
            "Changelog": f"/blob/v{options.version}/CHANGELOG.md",
            "Issues": "/issues",
        }.items():
            yield f"Project-URL: {name}, {site}{page}"
    yield from (f"Classifier: {classifier}" for classifier in options.classifier)
    extras = {}
    for extra in sorted(options.extra):
        name, _, requirement = extra.partition(":")
        extras.setdefault(name, []).append(requirement)
    for name, requirements in extras.items():
        yield f"Provides-Extra: {name}"
        yield from (f'Requires-Dist: {one}; extra == "{name}"' for one in requirements)


def long_description(readme, folder, repository, version):
    """The readme of a folder of the repository as it stands alone: no link leads to a file beside
    it."""
    text = pathlib.Path(readme).read_text(encoding="utf-8")
    local = r"\]\((?!https?:|#)([^)\s]+)\)"
    if not repository:
        text = re.sub(r"!\[[^\]]*" + local + r"\n*", "", text)
        return re.sub(r"\[([^\]]*)" + local, r"\1", text)
    site = f"https://github.com/{repository}"

    def absolute(match):
        start, target = match.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        return f"{start or ''}]({site}/{'raw' if start else 'blob'}/v{version}/{path})"

    return re.sub(r"(!\[[^\]]*)?" + local, absolute, text)


def metadata(options):
    text = METADATA.format(**vars(options)) + "".join(f"{line}\n" for line in fields(options))
    if not options.readme:
        return text
    body = long_description(options.readme, options.folder, options.repository, options.version)
    return f"{text}Description-Content-Type: text/markdown\n\n{body}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Writes the metadata of a Python distribution.")
    for name in ["output", "distribution", "version", "summary", "requires-python"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--readme")
    parser.add_argument("--folder", default="", help="of the readme; default: the root")
    parser.add_argument("--repository", default="", metavar="OWNER/NAME")
    for name in ["license", "classifier", "extra", "keyword"]:
        parser.add_argument(f"--{name}", action="append", default=[])
    options = parser.parse_args(arguments)
    pathlib.Path(options.output).write_text(metadata(options), encoding="utf-8")


if __name__ == "__main__":
    main()
