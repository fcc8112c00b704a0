"""Prints which share of the lines of core/ and interop/ the corpora of the fuzz targets reach.

tools/fuzz_coverage.py PROGRAMS OUT TARGET…       (run by tools/fuzz --coverage)

PROGRAMS is the folder of the targets, built by --config=fuzz_coverage. OUT receives files.txt (the
share of each file) and lines.txt (how often each line ran).
"""

import collections
import json
import os
import re
import subprocess
import sys
from pathlib import Path

# Headers are seen through links: bazel-out/…/_virtual_includes/tensor/dovetail/core/tensor.h.
_IN_TREE = re.compile(r"(?:^/proc/self/cwd/|/dovetail/)((?:core|interop)/.*)$")
_COLUMNS = "{:<28}{:>8}{:>9}{:>8}"


def run_corpora(programs: Path, out: Path, targets: list[str]) -> Path:
    raw = []
    for target in targets:
        raw.append(out / f"{target}.profraw")
        subprocess.run(
            [programs / target, "-runs=0", programs / "corpus" / target],
            env={**os.environ, "LLVM_PROFILE_FILE": str(raw[-1])},
            check=True,
            stderr=subprocess.DEVNULL,
        )
    merged = out / "merged.profdata"
    subprocess.run(["llvm-profdata-19", "merge", *raw, "-o", merged], check=True)
    return merged


def path_in_tree(name: str) -> str | None:
    found = _IN_TREE.search(name)
    return None if found is None or "/testing/" in found[1] else found[1]


def lines_of_files(exported: dict) -> dict[str, tuple[int, int]]:
    """(lines, lines that ran) of each file. Of a header that is seen by several paths, the most."""
    files: dict[str, tuple[int, int]] = {}
    for file in exported["data"][0]["files"]:
        path = path_in_tree(file["filename"])
        if path is not None:
            lines = file["summary"]["lines"]
            files[path] = max(files.get(path, (0, 0)), (lines["count"], lines["covered"]))
    return files


def folder_of(path: str) -> str:
    """interop/dlpack, core/internal; core for its own files."""
    return "/".join(path.split("/")[:-1][:2])


def row(name: str, lines: int, covered: int) -> str:
    return _COLUMNS.format(name, lines, covered, f"{100 * covered / max(lines, 1):.0f} %")


def main() -> None:
    programs, out, targets = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    out.mkdir(parents=True, exist_ok=True)
    profile = run_corpora(programs, out, targets)
    objects = [str(programs / targets[0])]
    for target in targets[1:]:
        objects += ["-object", str(programs / target)]
    options = ["-ignore-filename-regex=external/|^/usr/", f"-instr-profile={profile}", *objects]
    execution_root = programs.parents[4]  # the compiler named the sources from there
    export = ["llvm-cov-19", "export", "-summary-only", *options]
    exported = subprocess.run(export, check=True, capture_output=True, cwd=execution_root)
    files = lines_of_files(json.loads(exported.stdout))
    folders: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for path, counts in files.items():
        for i in (0, 1):
            folders[folder_of(path)][i] += counts[i]
    (out / "files.txt").write_text(
        "".join(f"{row(path, *files[path])}\n" for path in sorted(files))
    )
    with open(out / "lines.txt", "wb") as text:
        show = ["llvm-cov-19", "show", *options]
        subprocess.run(show, check=True, stdout=text, cwd=execution_root)
    print(_COLUMNS.format("folder", "lines", "reached", "share"))
    for folder in sorted(folders):
        print(row(folder, *folders[folder]))
    print(f"By file: {out}/files.txt. By line: {out}/lines.txt.")


if __name__ == "__main__":
    main()
