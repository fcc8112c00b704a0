"""Whether .github is what GitHub reads, and its steps call what there is.

check-jsonschema has GitHub's schemas of workflows and issue forms. The rules here are our own:
least permissions, time limits, actions pinned by their commit, and steps that call one script or
target of the tree without any shell of their own.
"""

import os
import pathlib
import re
import shlex
import subprocess
from collections.abc import Iterator

WORKFLOWS = ".github/workflows/"
FORMS = ".github/ISSUE_TEMPLATE/"
PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
SHELL = re.compile(r"[;|&<>`\n]|\$\(")
# Files that an earlier step copies from the tree.
COPIES = {"pack/gpu_check.py": "tools/gpu_check/gpu_check.py"}


def actions(workflow: dict) -> set[str]:
    """The actions and workflows that the jobs and steps use."""
    jobs = list(workflow["jobs"].values())
    users = [*jobs, *(step for job in jobs for step in job.get("steps", []))]
    return {one["uses"] for one in users if "uses" in one}


def check_pins(name: str, workflow: dict, text: str) -> Iterator[str]:
    """Each action is named by a commit, with the version as a comment."""
    for used in sorted(actions(workflow)):
        lines = [line.split(used, 1)[1] for line in text.splitlines() if used in line]
        pinned = [PINNED.fullmatch(used + rest) is not None for rest in lines]
        if not used.startswith("./") and not (pinned and all(pinned)):
            yield f"{name}: {used}: pin the action: OWNER/NAME@COMMIT # v1.2.3"


def check_rules(name: str, workflow: dict) -> Iterator[str]:
    """Permissions, concurrency, time limits, and who may start a job on a machine of ours."""
    if workflow.get("permissions") != {"contents": "read"}:
        yield f"{name}: the workflow's permissions must be contents: read; jobs ask for more"
    if "concurrency" not in workflow:
        yield f"{name}: the workflow has no concurrency group"
    strangers = "pull_request" in str(workflow.get("on"))
    for job, body in workflow["jobs"].items():
        if body.get("permissions") == "write-all":
            yield f"{name}: the job {job} asks for all permissions: name those that it needs"
        if strangers and "self-hosted" in str(body.get("runs-on")):
            yield f"{name}: the job {job} would run a stranger's pull request on a machine of ours"
        if "uses" not in body and "timeout-minutes" not in body:
            yield f"{name}: the job {job} has no timeout-minutes"


def commands(workflow: dict) -> list[str]:
    """The commands of all steps."""
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    return [step["run"].strip() for step in steps if "run" in step]


def check_command(name: str, command: str, is_program) -> Iterator[str]:
    """A command is one call of a program of the tree; is_program tells whether a path is one."""
    if "${{" in command:
        yield f"{name}: {command}: pass the value by env, so that the shell does not read it"
    elif SHELL.search(command):
        yield f"{name}: {command}: a step calls one script or target, without shell of its own"
    else:
        words = shlex.split(command)
        program = words[1] if words[0] == "python3" and len(words) > 1 else words[0]
        if not is_program(COPIES.get(program, program)):
            yield f"{name}: {command}: {program} is no program of the tree"


def targets(command: str) -> list[str]:
    """The Bazel targets that a command names."""
    return [word for word in shlex.split(command) if word.startswith("//")]


def check_steps(name: str, workflow: dict, names: list[str]) -> Iterator[str]:
    """Each step of .ci/run, which `names` lists, is in one entry of the matrices."""
    matrices = [job.get("strategy", {}).get("matrix", {}) for job in workflow["jobs"].values()]
    patterns = [pattern for matrix in matrices for pattern in matrix.get("steps", [])]
    for step in names:
        found = sum(re.fullmatch(pattern, step) is not None for pattern in patterns)
        if found != 1:
            yield f"{name}: {found} entries of `steps` run the step {step!r} of .ci/run, not 1"
    for pattern in patterns:
        if not any(re.fullmatch(pattern, step) for step in names):
            yield f"{name}: .ci/run has no step {pattern!r}"


def _valid(tools: pathlib.Path, workspace: pathlib.Path, schema: str, files: list[str]) -> bool:
    command = [str(tools / "check-jsonschema"), "--quiet", "--builtin-schema", f"vendor.{schema}"]
    return not files or subprocess.run([*command, *files], cwd=workspace).returncode == 0


def check(workspace: pathlib.Path, tools: pathlib.Path, files: list[str]) -> Iterator[str]:
    """The problems of the files of .github among `files`, one line each."""
    from ruamel.yaml import YAML  # of the lint tools

    workflows = [name for name in files if name.startswith(WORKFLOWS)]
    forms = [name for name in files if name.startswith(FORMS)]
    config = [name for name in forms if name.endswith("/config.yml")]
    for schema, group in (
        ("github-workflows", workflows),
        ("github-issue-forms", [name for name in forms if name not in config]),
        ("github-issue-config", config),
    ):
        if not _valid(tools, workspace, schema, group):
            yield f"{', '.join(group)}: not as GitHub's schema says (above)"

    def is_program(path: str) -> bool:
        file = workspace / path
        return file.is_file() and os.access(file, os.X_OK)

    named: dict[str, str] = {}
    for name in workflows:
        text = (workspace / name).read_text(encoding="utf-8")
        workflow = YAML(typ="safe").load(text)
        yield from check_pins(name, workflow, text)
        yield from check_rules(name, workflow)
        for command in commands(workflow):
            yield from check_command(name, command, is_program)
            named |= dict.fromkeys(targets(command), name)
        if name.endswith("/ci.yml"):
            listed = subprocess.run(
                [".ci/run", "--list"], cwd=workspace, check=True, stdout=subprocess.PIPE, text=True
            )
            yield from check_steps(name, workflow, listed.stdout.splitlines())
    if named:
        query = ["./bazelw", "query", "--keep_going", f"set({' '.join(named)})"]
        answer = subprocess.run(query, cwd=workspace, capture_output=True, text=True)
        found = set(answer.stdout.split())
        yield from (
            f"{named[one]}: there is no target {one}" for one in sorted(named.keys() - found)
        )
