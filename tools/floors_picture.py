#!/usr/bin/env python3
"""Draws docs/images/floors.svg, the picture of docs/architecture.md, from the build's dependencies.

    ./bazelw run //tools:floors_picture        # after a folder has come, gone or moved

A folder stands one floor above the highest of those that its libraries use. A line leads from a
folder to each that it uses and that none of these uses for it.
"""

import os
import pathlib
import re
import subprocess
from xml.etree import ElementTree

PICTURE = "docs/images/floors.svg"
LIBRARIES = (
    "//core/... + //devices/... + //interop/... + //python/exchange/... + //python/module/..."
)
HIDDEN = re.compile(r"/testing[:/]|:library$|:no_library$")  # tests' own, and users' libraries
# Folders that are drawn one by one; each other one is part of the folder above it.
SEPARATE = ("devices", "interop", "python/exchange", "python/module")

WIDTH, HEIGHT, GAP, TEXT = 156, 34, 12, 13


def folder_of(label):
    """ "interop/dlpack" of "//interop/dlpack:import"."""
    path = label.removeprefix("//").partition(":")[0]
    for parent in SEPARATE:
        if path.startswith(parent + "/"):
            return "/".join(path.split("/")[: parent.count("/") + 2])
    return path if path in SEPARATE else path.split("/")[0]


def uses(rules):
    """Returns {folder: the folders that it uses} of the XML of `bazel query`."""
    libraries = {
        rule.get("name"): [used.get("name") for used in rule.iter("rule-input")]
        for rule in ElementTree.fromstring(rules).iter("rule")
        if not HIDDEN.search(rule.get("name"))
        and rule.find("boolean[@name='testonly'][@value='true']") is None
    }
    found = {folder_of(label): set() for label in libraries}
    for label, used in libraries.items():
        found[folder_of(label)] |= {folder_of(other) for other in used if other in libraries}
        found[folder_of(label)].discard(folder_of(label))
    return found


def floors(found):
    """Returns {folder: floor}. Raises SystemExit for folders that use each other."""
    floor = {}

    def climb(folder, path):
        if folder in path:
            raise SystemExit(f"these folders use each other: {' -> '.join([*path, folder])}")
        if folder not in floor:
            below = [climb(other, [*path, folder]) for other in found[folder]]
            floor[folder] = max(below, default=-1) + 1
        return floor[folder]

    for folder in found:
        climb(folder, [])
    return floor


def reached(found, folder):
    """All folders below one."""
    return found[folder].union(*(reached(found, other) for other in found[folder]))


def draw(found):
    floor = floors(found)
    top = max(floor.values())
    rows = [sorted(f for f in floor if floor[f] == level) for level in range(top + 1)]
    widest = max(map(len, rows))
    width, height = widest * (WIDTH + GAP) + GAP, (top + 1) * (HEIGHT + 3 * GAP)
    place = {}
    for level, row in enumerate(rows):
        left = (width - len(row) * (WIDTH + GAP) + GAP) / 2
        for i, folder in enumerate(row):
            place[folder] = (left + i * (WIDTH + GAP), (top - level) * (HEIGHT + 3 * GAP) + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="{TEXT}" text-anchor="middle">',
        "<title>The folders, each above those that its libraries use</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for folder in sorted(found):
        direct = found[folder] - set().union(*(reached(found, other) for other in found[folder]))
        for other in sorted(direct):
            (x, y), (u, v) = place[folder], place[other]
            parts.append(
                f'<line x1="{x + WIDTH / 2:g}" y1="{y + HEIGHT}" x2="{u + WIDTH / 2:g}" y2="{v}" '
                'stroke="#9aa5b1"/>'
            )
    for folder, (x, y) in sorted(place.items()):
        parts += [
            f'<rect x="{x:g}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#eef3f8" '
            'stroke="#52606d"/>',
            f'<text x="{x + WIDTH / 2:g}" y="{y + HEIGHT / 2 + TEXT / 3:.0f}" fill="#1f2933">'
            f"{folder.removeprefix('python/')}</text>",
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    workspace = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    query = f'kind("cc_library rule", {LIBRARIES})'
    command = [workspace / "bazelw", "query", "--output=xml", "--noimplicit_deps", query]
    rules = subprocess.run(command, cwd=workspace, check=True, stdout=subprocess.PIPE, text=True)
    (workspace / PICTURE).write_text(draw(uses(rules.stdout)), encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
