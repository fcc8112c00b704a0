#!/usr/bin/env python3
"""Makes the source distribution of the committed tree: ./bazelw run //python:sdist [-- FOLDER]

It has all committed files, and the metadata as PKG-INFO. pip builds it by dovetail_build.py.
"""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def version():
    text = (ROOT / "bazel/version.bzl").read_text(encoding="utf-8")
    return re.search(r'^VERSION = "(.+)"$', text, re.MULTILINE)[1]


def make(folder, metadata):
    """Writes dovetail_dlpack-….tar.gz into the folder, and returns its path.

    metadata  the text of PKG-INFO
    """
    name = f"dovetail_dlpack-{version()}"
    with tempfile.TemporaryDirectory() as scratch:
        information = pathlib.Path(scratch) / "PKG-INFO"
        information.write_text(metadata, encoding="utf-8")
        information.chmod(0o644)
        git_archive = ["git", "-c", "tar.umask=0022", "archive"]
        command = [*git_archive, f"--prefix={name}/", f"--add-file={information}", "HEAD"]
        tar = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    archive = pathlib.Path(folder) / f"{name}.tar.gz"
    archive.write_bytes(gzip.compress(tar, mtime=0))
    return archive


def metadata():
    """The text of //python:METADATA."""
    subprocess.run(["./bazelw", "build", "//python:METADATA"], cwd=ROOT, check=True)
    return (ROOT / "bazel-bin/python/METADATA").read_text(encoding="utf-8")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "dist"
    folder = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), folder)
    folder.mkdir(parents=True, exist_ok=True)
    print(make(folder, metadata()))


if __name__ == "__main__":
    main()
