"""Small folders: at most 45 files each, those of its subfolders not counted."""

import collections
import pathlib
from collections.abc import Iterable, Iterator

MOST = 45


def check_folders(names: Iterable[str]) -> Iterator[str]:
    """`names` are the paths of all files."""
    counts = collections.Counter(pathlib.PurePosixPath(name).parent.as_posix() for name in names)
    for folder, count in sorted(counts.items()):
        if count > MOST:
            yield (
                f"{folder}: {count} files, more than {MOST}: move those of one concept to a "
                "subfolder (tools/lint/folders.py)"
            )
