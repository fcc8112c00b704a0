"""Runs clang-tidy on the changed files, with the flags that the build compiles them with."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import compile_commands


def changed_files(git, base: str | None) -> set[str]:
    """Files that differ from `base`, by default the last common commit with the main branch."""
    if base is None:
        branches = ["refs/remotes/origin/main", "refs/heads/main"]  # --sort puts the remote first
        there = git("for-each-ref", "--sort=-refname", "--format=%(refname)", *branches)
        for candidate in there.split():
            try:
                base = git("merge-base", "HEAD", candidate).strip()
            except subprocess.CalledProcessError:
                continue
            if base != git("rev-parse", "HEAD").strip():
                break
        else:
            base = "HEAD~1"  # on the main branch itself: the last commit's changes
    try:
        names = git("diff", "--name-only", base)
    except subprocess.CalledProcessError:
        names = git("ls-files")  # a repository of one commit
    return set(names.split("\n"))


def translation_units(
    entries: list[dict], workspace: pathlib.Path, changed: set[str] | None
) -> list[dict]:
    """The entries of changed sources and of the sources of changed headers.

    Unit tests are left to the compiler's warnings: their macros take clang-tidy most of its time.
    """
    units = [entry for entry in entries if not entry["file"].endswith("_test.cc")]
    if changed is None:
        return units
    stems = {name.rsplit(".", 1)[0] for name in changed if name.endswith((".h", ".cc", ".inc"))}
    return [e for e in units if os.path.relpath(e["file"], workspace).rsplit(".", 1)[0] in stems]


def check(workspace: pathlib.Path, clang_tidy: str, changed: set[str] | None) -> bool:
    """Runs clang-tidy and prints its findings. `changed` is None for every file."""
    entries = compile_commands.compile_commands(str(workspace), [])
    units = translation_units(entries, workspace, changed)
    if not units:
        return True
    # The compiler's include paths lead to links that a build creates.
    build = ["bazel", "build", "--ui_event_filters=-info", "--noshow_progress", "//..."]
    if subprocess.run(build, cwd=workspace).returncode != 0:
        print("clang-tidy: not run, because the tree does not build")
        return False
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory, "compile_commands.json").write_text(
            json.dumps(entries), encoding="utf-8"
        )

        def run(unit: dict) -> tuple[int, str]:
            command = [
                clang_tidy,
                "--quiet",
                f"--config-file={workspace}/.clang-tidy",
                "-p",
                directory,
                "--extra-arg=-Wthread-safety",
                unit["file"],
            ]
            result = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            return result.returncode, result.stdout

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(run, units))
    # A finding in a header appears for every file that includes it; each is printed once.
    findings = dict.fromkeys(
        finding
        for code, output in results
        if code
        for finding in re.split(
            r"^(?=\S+:\d+:\d+: (?:error|warning): )", output, flags=re.MULTILINE
        )
    )
    print(*findings, sep="", end="")
    return not any(code for code, _ in results)
