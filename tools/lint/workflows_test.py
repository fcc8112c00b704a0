"""workflows.py: what it finds in workflows."""

import pytest
import workflows

COMMIT = "3d3c42e5aac5ba805825da76410c181273ba90b1"


def _pins(line, used):
    job = {"uses": used} if "steps" not in line else {"steps": [{"uses": used}]}
    return list(workflows.check_pins("ci.yml", {"jobs": {"a": job}}, line))


@pytest.mark.parametrize(
    "line",
    ["steps: - uses: {}", "steps: [{{uses: {}}}]", 'steps: - "uses":   {}', "uses : {}"],
)
@pytest.mark.parametrize(
    "used", ["actions/checkout@v7", f"actions/checkout@{COMMIT}", f"actions/checkout@{COMMIT[:7]}"]
)
def test_an_action_without_commit_or_version_is_found(line, used):
    assert len(_pins(line.format(used), used)) == 1


def test_a_part_of_a_commit_is_no_pin():
    used = f"actions/checkout@{COMMIT[:7]}"
    assert len(_pins(f"uses: {used} # v7.0.1", used)) == 1


def test_a_pinned_action_passes():
    used = f"actions/checkout@{COMMIT}"
    assert not _pins(f"steps: - uses: {used} # v7.0.1", used)
    assert not _pins("uses: ./.github/workflows/wheels.yml", "./.github/workflows/wheels.yml")


@pytest.mark.parametrize("events", ["pull_request", ["push", "pull_request"], {"pull_request": {}}])
def test_a_pull_request_on_a_machine_of_ours_is_found(events):
    jobs = {"a": {"timeout-minutes": 5, "runs-on": ["self-hosted", "gpu"]}}
    workflow = {
        "on": events,
        "permissions": {"contents": "read"},
        "concurrency": "gpu",
        "jobs": jobs,
    }
    assert len(list(workflows.check_rules("gpu.yml", workflow))) == 1
    assert not list(workflows.check_rules("gpu.yml", workflow | {"on": "workflow_dispatch"}))


def test_a_job_with_all_permissions_is_found():
    jobs = {"a": {"timeout-minutes": 5, "permissions": "write-all"}}
    workflow = {"permissions": {"contents": "read"}, "concurrency": "ci", "jobs": jobs}
    assert len(list(workflows.check_rules("ci.yml", workflow))) == 1


def test_missing_limits_are_found():
    job = {"steps": [{"run": "tools/fuzz"}]}
    found = list(workflows.check_rules("ci.yml", {"permissions": "write-all", "jobs": {"a": job}}))
    assert len(found) == 3
    for word, line in zip(("permissions", "concurrency", "timeout"), found, strict=True):
        assert word in line


def test_a_workflow_with_its_limits_passes():
    jobs = {"a": {"timeout-minutes": 5}, "b": {"uses": "./.github/workflows/wheels.yml"}}
    workflow = {"permissions": {"contents": "read"}, "concurrency": "ci", "jobs": jobs}
    assert list(workflows.check_rules("ci.yml", workflow)) == []


@pytest.mark.parametrize(
    "command",
    [
        "tools/gone",
        "python3 tools/gone.py",
        "pip install x",
        "tools/fuzz && tools/release",
        "tools/fuzz\ntools/release",
        "tools/fuzz $(date)",
        "tools/fuzz ${{ github.ref }}",
    ],
)
def test_a_step_that_is_no_call_of_a_program_is_found(command):
    assert len(list(workflows.check_command("ci.yml", command, {"tools/fuzz"}.__contains__))) == 1


@pytest.mark.parametrize(
    "command",
    [
        'tools/fuzz --minutes "$MINUTES"',
        "./bazelw run //docs:site -- --strict",
        "python3 pack/gpu_check.py --report report.md",
    ],
)
def test_a_call_of_a_program_passes(command):
    programs = {"tools/fuzz", "./bazelw", "tools/gpu_check/gpu_check.py"}
    assert list(workflows.check_command("ci.yml", command, programs.__contains__)) == []


def test_targets_are_the_words_that_begin_with_two_slashes():
    command = "./bazelw run //docs:site -- --source-url https://x//y"
    assert workflows.targets(command) == ["//docs:site"]


def _with_steps(*patterns):
    return {"jobs": {"a": {"strategy": {"matrix": {"steps": list(patterns)}}}, "b": {}}}


def test_a_step_of_ci_that_no_runner_has_is_found():
    found = list(workflows.check_steps("ci.yml", _with_steps("tests"), ["tests", "lint"]))
    assert len(found) == 1 and "'lint'" in found[0]


def test_a_step_that_two_runners_have_is_found():
    assert len(list(workflows.check_steps("ci.yml", _with_steps("tests", "te.*"), ["tests"]))) == 1


def test_a_name_that_is_no_step_is_found():
    found = list(workflows.check_steps("ci.yml", _with_steps("tests", "gone"), ["tests"]))
    assert len(found) == 1 and "'gone'" in found[0]


def test_commands_are_those_of_all_jobs():
    jobs = {"a": {"steps": [{"uses": "x"}, {"run": "one\n"}]}, "b": {"uses": "y"}}
    assert workflows.commands({"jobs": jobs}) == ["one"]
