"""Adds inputs to the corpus of a fuzz target, and unpacks one.

    python3 tests/fuzz/corpus.py add tests/fuzz/corpus/copy_fuzz.zip INPUT…
    python3 tests/fuzz/corpus.py unpack tests/fuzz/corpus/copy_fuzz.zip FOLDER

A corpus is a zip archive, one file an input, as OSS-Fuzz takes it. `add` makes the archive if
there is none, and gives an input the name of its file. The same inputs always make the same bytes:
entries are in the order of their names, uncompressed, and have a fixed time and mode. To remove an
input, unpack the archive, delete it, and add the other files.
"""

import sys
import zipfile
from pathlib import Path


def write(archive: Path, inputs: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for name in sorted(inputs):
            entry = zipfile.ZipInfo(name)  # of 1980-01-01
            entry.create_system = 3  # Unix, wherever this runs
            entry.external_attr = 0o100644 << 16
            packed.writestr(entry, inputs[name])


def read(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            if name in ("", ".", "..") or "/" in name or "\\" in name:
                sys.exit(f"{archive}: {name!r} is no name of an input")
        return {name: packed.read(name) for name in packed.namelist()}


def add(archive: Path, files: list[Path]) -> None:
    inputs = read(archive) if archive.exists() else {}
    names = [file.name for file in files]
    for name in {name for name in names if names.count(name) > 1}:
        sys.exit(f"two of the inputs are named {name!r}")
    for file in files:
        inputs[file.name] = file.read_bytes()
    write(archive, inputs)


def unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in read(archive).items():
        (folder / name).write_bytes(content)


def main(arguments: list[str]) -> None:
    match arguments:
        case ["add", archive, _, *_]:
            add(Path(archive), [Path(file) for file in arguments[2:]])
        case ["unpack", archive, folder]:
            unpack(Path(archive), Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
