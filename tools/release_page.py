#!/usr/bin/env python3
"""Checks a release's tag, and writes its notes and checksums: tools/release_page.py v0.2.0

    --notes FILE        writes the release's section of CHANGELOG.md
    --checksums FOLDER  writes FOLDER/SHA256SUMS, for `sha256sum --check`
    --draft             checks only the tag and that CHANGELOG.md has the section

Fails if the tag is not that of bazel/version.bzl, if the commit is not one of origin/main, if
CHANGELOG.md calls the version unreleased or says nothing of it, or if tests/released/names.txt is
the list of another version.
"""

import argparse
import hashlib
import pathlib
import re
import subprocess
import sys

import source_version

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUMS = "SHA256SUMS"


def notes(changelog, tag, version, draft=False):
    """The section of the change log for the tag. Raises ValueError if there is none to publish."""
    if tag != f"v{version}":
        raise ValueError(f"the tag {tag} is not v{version}, the version of bazel/version.bzl")
    section = re.search(
        rf"^## {re.escape(version)}( .*)?\n((?:(?!## ).*\n?)*)", changelog, re.MULTILINE
    )
    if section is None or not section[2].strip():
        raise ValueError(f"CHANGELOG.md has no section {version}, or nothing in it")
    if "unreleased" in (section[1] or "") and not draft:
        raise ValueError(f"CHANGELOG.md calls {version} unreleased: write the date")
    return section[2].strip() + "\n"


def check_names(text, version):
    """Raises ValueError if names.txt lists the public names of another version."""
    if not text.startswith(f"# The public names of {version}. "):
        raise ValueError(
            f"tests/released/names.txt is not of {version}: ./bazelw run //tests/released:renew"
        )


def check_on_main():
    """Raises ValueError if the commit is not one of origin/main."""
    command = ["git", "merge-base", "--is-ancestor", "HEAD", "origin/main"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise ValueError("the commit is not on origin/main: merge it, git fetch, then tag it")


def checksums(folder):
    """The lines of SHA256SUMS for the files of the folder, sorted by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    if not files:
        raise ValueError(f"{folder} has no files")
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files
    )


def main():
    parser = argparse.ArgumentParser(description="Check a release's tag, write its notes.")
    parser.add_argument("tag")
    parser.add_argument("--notes", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--checksums", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--draft", action="store_true")
    options = parser.parse_args()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = source_version.read()
    try:
        if not options.draft:
            names = (ROOT / "tests/released/names.txt").read_text(encoding="utf-8")
            check_names(names, version)
            check_on_main()
        text = notes(changelog, options.tag, version, options.draft)
        if options.notes:
            options.notes.write_text(text, encoding="utf-8")
        if options.checksums:
            sums = checksums(options.checksums)
            (options.checksums / SUMS).write_text(sums, encoding="utf-8")
    except ValueError as error:
        sys.exit(f"release_page: {error}")


if __name__ == "__main__":
    main()
