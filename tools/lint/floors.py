"""Includes go down: a folder includes folders before it in its list, and itself.

Bazel's visibility holds devices, interop and core apart. Here stand the folders of python/, whose
order it can't say.
"""

import re
from collections.abc import Iterator

# The lowest first. A file belongs to the longest folder of the list that it is under.
FLOORS = (
    "python/exchange/base",  # errors, names, owners, the GIL, classes of other libraries
    "python/exchange/protocols",  # a protocol each
    "python/exchange/peers",  # a library each; PyTorch has a folder
    "python/exchange/routes",  # import, borrow, make, explain
    "python/exchange",  # exchange.h
    "python/module/arguments",
    "python/module/objects",
    "python/module/values",
    "python/module/tensor",
    "python/module/descriptors",
    "python/module/ipc",
    "python/module/reshard",
    "python/module/streams",
    "python/module/trace",
    "python/module/functions",
    "python/module",
)
INCLUDE = re.compile(r'#include "dovetail/([^"]+)"')


def floor_of(path: str) -> int | None:
    """The number of the floor that a file is on, or None for a file of no floor."""
    under = [n for n, folder in enumerate(FLOORS) if path.startswith(folder + "/")]
    return max(under, key=lambda n: len(FLOORS[n]), default=None)


def check_floors(name: str, lines: list[str]) -> Iterator[str]:
    floor = floor_of(name)
    if floor is None:
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        other = floor_of(match[1]) if match else None
        if other is not None and other > floor:
            yield (
                f"{name}:{number}: {FLOORS[floor]} must not include {FLOORS[other]}, "
                "which stands above it (tools/lint/floors.py)"
            )
