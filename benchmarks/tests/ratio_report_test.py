"""The C++ benchmarks write one JSON document and nothing else, and no colors into pipes."""

import csv
import io
import json
import subprocess

import pytest

FLAGS = ["--benchmark_min_time=0.0001", "--benchmark_repetitions=3"]


def run(*arguments):
    return subprocess.run(
        ["benchmarks/tests/ratio_report_sample", *arguments, *FLAGS],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip


def fail(*arguments):
    done = subprocess.run(
        ["benchmarks/tests/ratio_report_sample", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr


def names(rows):
    return {row["name"].removesuffix("_median") for row in rows}


def test_json_is_one_document_of_both_states():
    runs = json.loads(run("--benchmark_format=json"))["benchmarks"]
    assert {"step/dovetail", "step/other"} <= names(runs)
    labels = {row["label"] for row in runs}
    assert len(labels) == 2 and "In a process that has had a second thread" in labels
    assert all(sum(row["label"] == label for row in runs) >= 6 for label in labels)


def test_json_is_one_document_with_what_was_registered_later():
    runs = json.loads(run("later", "--benchmark_format=json"))["benchmarks"]
    assert {"step/dovetail", "step/other", "later/dovetail"} <= names(runs)


def test_json_of_no_benchmark_is_no_table():
    assert run("--benchmark_format=json", "--benchmark_filter=nothing").strip() in ("", "{}")


def test_the_file_of_json_has_every_repetition_of_both_states(tmp_path):
    assert "ns (Dovetail / theirs)" in run(f"--json={tmp_path / 'a.json'}", "--filter=step/other")
    document = json.loads((tmp_path / "a.json").read_text())
    runs = [row for row in document["benchmarks"] if row["run_type"] == "iteration"]
    assert {row["run_name"] for row in runs} == {"step/other"}
    assert len(runs) == 6 and len({row["label"] for row in runs}) == 2
    assert document["context"]["executable"].endswith("ratio_report_sample")
    assert int(document["context"]["processors_usable"]) >= 1


def test_the_file_is_relative_to_the_users_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    run("--json=a.json", "--filter=nothing")
    assert json.loads((tmp_path / "a.json").read_text())["benchmarks"] == []


def test_repetitions_are_google_benchmarks_own():
    text = subprocess.check_output(
        ["benchmarks/tests/ratio_report_sample", "later", "--repetitions=2", FLAGS[0],
         "--benchmark_format=json"], text=True,
    )  # fmt: skip
    assert {row["repetitions"] for row in json.loads(text)["benchmarks"]} == {2}


def test_help_names_the_flags():
    text = run("--help")
    assert all(
        flag in text for flag in ("--filter", "--repetitions", "--json", "--benchmark_filter")
    )


def test_unknown_flags_and_files_that_cannot_be_written_are_refused(tmp_path):
    assert "--unknown" in fail("--unknown")
    assert "none/a.json can't be written: No such file" in fail(f"--json={tmp_path}/none/a.json")


def test_csv_is_a_table_of_its_own():
    rows = list(csv.DictReader(io.StringIO(run("--benchmark_format=csv"))))
    assert {"step/dovetail", "step/other"} <= names(rows)
    assert all(row["iterations"] for row in rows if row["name"] == "step/dovetail")


@pytest.mark.parametrize("arguments", [[], ["later"]])
def test_a_pipe_has_no_colors_and_both_tables(arguments):
    text = run(*arguments)
    assert "\x1b" not in text
    assert text.count("ns (Dovetail / theirs)") == (1 if arguments else 2)


def test_colors_are_had_for_the_asking():
    assert "\x1b" in run("--benchmark_color=true")
