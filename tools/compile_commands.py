#!/usr/bin/env python3
"""Writes compile_commands.json, which tells clangd and clang-tidy how each file is compiled.

    ./bazelw run //tools:compile_commands            # every C++ target, as a build compiles it
    ./bazelw run //tools:compile_commands -- -c dbg  # passes further flags to Bazel

Build once first: the include paths are links that a build creates.
"""

import json
import os
import pathlib
import subprocess
import sys

# Flags that g++ knows and clang's tools do not.
GCC_ONLY = {
    "-fno-canonical-system-headers",
    "-Wunused-but-set-parameter",
    "-Wno-free-nonheap-object",
}


def bazel(workspace: str, *arguments: str) -> str:
    command = ["bazel", *arguments]
    return subprocess.run(
        command, cwd=workspace, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def for_clang(arguments: list[str]) -> list[str]:
    """The arguments without g++'s own flags, and with external headers as system headers."""
    known = [word for word in arguments if word not in GCC_ONLY]
    return [
        "-isystem" if word == "-iquote" and following.startswith("external/") else word
        for word, following in zip(known, [*known[1:], ""], strict=True)
    ]


def compile_commands(workspace: str, flags: list[str], targets: str = "//...") -> list[dict]:
    """One entry for each of our own source files that some of the targets (a query) compiles."""
    query = ["aquery", "--ui_event_filters=-info", "--noshow_progress", "--output=jsonproto"]
    answer = bazel(workspace, *query, *flags, f"mnemonic('CppCompile', {targets})")
    execution_root = bazel(workspace, "info", *flags, "execution_root").strip()
    entries = {}
    for action in json.loads(answer)["actions"]:
        arguments = action["arguments"]
        if "-c" not in arguments:
            continue
        source = arguments[arguments.index("-c") + 1]
        if source.startswith(("external/", "bazel-out/")) or source in entries:
            continue
        path = str(pathlib.Path(workspace, source))
        entries[source] = {
            "directory": execution_root,
            "file": path,
            "arguments": [path if word == source else word for word in for_clang(arguments)],
        }
    return [entries[source] for source in sorted(entries)]


def write(workspace: str, flags: list[str]) -> int:
    entries = compile_commands(workspace, flags)
    output = pathlib.Path(workspace, "compile_commands.json")
    output.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    return len(entries)


def main() -> None:
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd())
    count = write(workspace, sys.argv[1:])
    print(f"compile_commands.json: {count} files")


if __name__ == "__main__":
    main()
