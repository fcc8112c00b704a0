"""The version that bazel/version.bzl defines: source_version.read()"""

import pathlib
import re

FILE = pathlib.Path(__file__).absolute().parent.parent / "bazel/version.bzl"


def read():
    text = FILE.read_text(encoding="utf-8")
    return re.search(r'^VERSION = "(.+)"$', text, re.MULTILINE)[1]


if __name__ == "__main__":
    print(read())
