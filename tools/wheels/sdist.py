#!/usr/bin/env python3
"""Makes archives of the committed tree: the source distribution, and that of a release.

    ./bazelw run //python:sdist [-- FOLDER]      dovetail_dlpack-0.1.0.tar.gz; FOLDER: dist
    tools/wheels/sdist.py --plain FOLDER         dovetail-0.1.0.tar.gz

Both have all committed files but those that .gitattributes leaves out. The source distribution has
the metadata as PKG-INFO, and pip builds it by dovetail_build.py. A commit gives the same bytes,
whatever git's configuration, the time and the path are.
"""

import argparse
import gzip
import io
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import source_version  # noqa: E402

# Override a user's settings that would change the archive.
SETTINGS = ("tar.umask=0022", "core.autocrlf=false", f"core.attributesFile={os.devnull}")


def write(folder, name, *options):
    """Write FOLDER/NAME.tar.gz, with all files below NAME/, and return its path."""
    git = ["git", *(word for setting in SETTINGS for word in ("-c", setting))]
    command = [*git, "archive", f"--prefix={name}/", *options, "HEAD"]
    tar = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    compressed = io.BytesIO()
    # (gzip.compress() writes a header that depends on the version of Python.)
    with gzip.GzipFile("", "wb", fileobj=compressed, mtime=0) as file:
        file.write(tar)
    archive = pathlib.Path(folder) / f"{name}.tar.gz"
    archive.write_bytes(compressed.getvalue())
    return archive


def make(folder, metadata):
    """Write the source distribution, and return its path.

    metadata  the text of PKG-INFO
    """
    with tempfile.TemporaryDirectory() as scratch:
        information = pathlib.Path(scratch) / "PKG-INFO"
        information.write_text(metadata, encoding="utf-8")
        information.chmod(0o644)
        name = f"dovetail_dlpack-{source_version.read()}"
        return write(folder, name, f"--add-file={information}")


def metadata():
    """The text of //python:METADATA."""
    subprocess.run(["./bazelw", "build", "//python:METADATA"], cwd=ROOT, check=True)
    return (ROOT / "bazel-bin/python/METADATA").read_text(encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="dist")
    parser.add_argument("--plain", action="store_true", help="the archive of a release")
    options = parser.parse_args()
    folder = pathlib.Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."), options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    if options.plain:
        print(write(folder, f"dovetail-{source_version.read()}"))
    else:
        print(make(folder, metadata()))


if __name__ == "__main__":
    main()
