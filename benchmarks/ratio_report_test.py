"""The C++ benchmarks write one JSON document and nothing else, and no colors into pipes."""

import csv
import io
import json
import subprocess

import pytest

FLAGS = ["--benchmark_min_time=0.0001", "--benchmark_repetitions=3"]


def run(*arguments):
    return subprocess.run(
        ["benchmarks/ratio_report_sample", *arguments, *FLAGS],
        check=True, stdout=subprocess.PIPE, text=True,
    ).stdout  # fmt: skip


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
