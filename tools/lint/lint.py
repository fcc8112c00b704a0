"""Runs every formatter and linter over the tree; with --fix, repairs what they can repair.

    ./bazelw run //tools:lint                       # every check; clang-tidy on changed files
    ./bazelw run //tools:lint -- --fix              # formats, and applies ruff's fixes
    ./bazelw run //tools:lint -- --tidy=all         # clang-tidy on every file (minutes)
    ./bazelw run //tools:lint -- --base=origin/main # files changed since that commit

Exits with 1 if there is a problem. The tools come from third_party/lint.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import file_checks
import tidy
import types_known
import workflows

CXX = (".h", ".cc", ".inc", ".cu", ".hip")
STARLARK = ("BUILD", ".bzl", "WORKSPACE", "MODULE.bazel")
PYTHON = (".py", ".pyi")

# Disabled checks: they ask for obvious comments.
BUILDIFIER_WITHOUT = (
    "constant-glob",
    "function-docstring-args",
    "function-docstring-return",
    "module-docstring",
    "unnamed-macro",
)


class Lint:
    """The tree, the tools, and the checks that failed so far."""

    def __init__(self, workspace: pathlib.Path, tools: pathlib.Path, fix: bool):
        self.workspace = workspace
        self.tools = tools
        self.fix = fix
        self.failed = []
        listing = self.git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        self.files = sorted(
            name for name in listing.split("\0") if name and (workspace / name).is_file()
        )

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.workspace), *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def ending(self, endings: tuple[str, ...]) -> list[str]:
        return [name for name in self.files if name.endswith(endings)]

    def run(self, tool: str, *arguments: str) -> bool:
        return (
            subprocess.run([str(self.tools / tool), *arguments], cwd=self.workspace).returncode == 0
        )

    def report(self, what: str, passed: bool, start: float) -> None:
        print(
            f"lint: {'ok  ' if passed else 'FAIL'} {what} ({time.monotonic() - start:.1f} s)",
            flush=True,
        )
        if not passed:
            self.failed.append(what)

    def clang_format(self) -> bool:
        files = self.ending(CXX)
        if self.fix:
            return self.run("clang-format", "-i", *files)
        command = [str(self.tools / "clang-format"), "--dry-run", "--Werror", *files]
        result = subprocess.run(command, cwd=self.workspace, stderr=subprocess.PIPE, text=True)
        first = {}
        for match in re.finditer(r"^([^:\n]+):(\d+):\d+: error: ", result.stderr, re.MULTILINE):
            first.setdefault(match[1], match[2])
        for name, line in first.items():
            print(f"{name}:{line}: clang-format formats the file differently from here on")
        return result.returncode == 0

    def buildifier(self) -> bool:
        mode = ["-mode=fix", "-lint=fix"] if self.fix else ["-mode=check", "-lint=warn"]
        warnings = "-warnings=" + ",".join("-" + warning for warning in BUILDIFIER_WITHOUT)
        return self.run("buildifier", *mode, warnings, *self.ending(STARLARK))

    def ruff(self) -> bool:
        files = ["--quiet", "--no-cache", *self.ending(PYTHON)]
        check = ["--fix"] if self.fix else ["--output-format=concise"]
        form = [] if self.fix else ["--check", "--output-format=concise"]
        checked = self.run("ruff", "check", *check, *files)
        formatted = self.run("ruff", "format", *form, *files)
        return checked and formatted

    def own_checks(self) -> bool:
        problems = file_checks.check(self.workspace, self.files)
        print(*problems, sep="\n", end="\n" if problems else "")
        return not problems

    def types_known(self) -> bool:
        problems = [*types_known.unknown_types(self.workspace, self.tools)]
        print(*problems, sep="\n", end="\n" if problems else "")
        return not problems

    def workflows(self) -> bool:
        problems = [*workflows.check(self.workspace, self.tools, self.files)]
        print(*problems, sep="\n", end="\n" if problems else "")
        return not problems

    def clang_tidy(self, which: str, base: str | None) -> bool:
        changed = None if which == "all" else tidy.changed_files(self.git, base)
        return tidy.check(self.workspace, str(self.tools / "clang-tidy"), changed)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lint", description="Checks the form of the whole tree.")
    parser.add_argument("--tools", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--fix", action="store_true", help="repair what can be repaired")
    parser.add_argument(
        "--tidy", choices=["all", "changed", "none"], default="changed", help="files for clang-tidy"
    )
    parser.add_argument(
        "--base", help="commit that changes are measured against (default: the last common one)"
    )
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    workspace = pathlib.Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    lint = Lint(workspace, options.tools.absolute(), options.fix)
    checks = {
        "clang-format": lint.clang_format,
        "buildifier": lint.buildifier,
        "ruff": lint.ruff,
        "length, opening, guards": lint.own_checks,
        "types of public names": lint.types_known,
        "workflows and issue forms": lint.workflows,
        "clang-tidy": lambda: lint.clang_tidy(options.tidy, options.base),
    }
    if options.tidy == "none":
        del checks["clang-tidy"]
    for what, run in checks.items():
        start = time.monotonic()
        lint.report(what, run(), start)
    if lint.failed:
        print(f"lint: {', '.join(lint.failed)} failed; `-- --fix` repairs what can be repaired")
    return bool(lint.failed)


if __name__ == "__main__":
    sys.exit(main())
