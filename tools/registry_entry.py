#!/usr/bin/env python3
"""Writes the entry of a Bazel registry for a release's archive, from the files of .bcr.

    registry_entry.py ARCHIVE REGISTRY                    the archive where it lies, to try it
    registry_entry.py ARCHIVE REGISTRY OWNER/REPOSITORY   as the release's page on GitHub has it

The Bazel Central Registry has the versions before this one, too: keep them in its metadata.json.
"""

import base64
import hashlib
import pathlib
import shutil
import sys

import source_version

ROOT = pathlib.Path(__file__).absolute().parent.parent
LOCAL = "local/dovetail"  # stands for OWNER/REPOSITORY in an entry that is only tried


def write(archive, registry, repository=""):
    """Write registry/modules/dovetail for the version of this tree.

    repository  OWNER/REPOSITORY on GitHub; empty: the registry names the archive's path
    """
    version = source_version.read()
    digest = base64.b64encode(hashlib.sha256(archive.read_bytes()).digest()).decode()
    owner, _, name = (repository or LOCAL).partition("/")
    page = f"https://github.com/{owner}/{name}/releases/download/v{version}/{archive.name}"
    values = {
        "{OWNER}": owner,
        "{REPO}": name,
        "{VERSION}": version,
        "{INTEGRITY}": f"sha256-{digest}",
        "{URL}": page if repository else archive.resolve().as_uri(),
    }
    module = registry / "modules/dovetail"
    (module / version).mkdir(parents=True)
    shutil.copy(ROOT / "MODULE.bazel", module / version)
    shutil.copy(ROOT / ".bcr/presubmit.yml", module / version)
    for template, path in (("metadata", "metadata.json"), ("source", f"{version}/source.json")):
        text = (ROOT / f".bcr/{template}.template.json").read_text(encoding="utf-8")
        for place, value in values.items():
            text = text.replace(place, value)
        (module / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    write(*map(pathlib.Path, sys.argv[1:3]), *sys.argv[3:])
