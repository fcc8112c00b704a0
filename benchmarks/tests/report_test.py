"""The flags and files of the Python benchmarks, on functions that do nothing."""

import os
import subprocess
import sys
import types

import machine
import measure
import pytest
import report


@pytest.fixture
def program(tmp_path):
    """Return a function that makes a Program from flags."""
    before = os.sched_getaffinity(0)

    def make(*flags):
        return report.Program(report.parser("").parse_args([*map(str, flags)]))

    yield make
    os.sched_setaffinity(0, before)


def rows():
    nothing = {"dovetail": lambda: None, "torch": lambda: None}
    return [measure.Row(work, dict(nothing), "torch") for work in ("one", "two")]


def timed(*times):
    row = measure.Row("one", {}, "torch")
    row.times = {name: [measure.Time(t, t) for t in ts] for name, ts in times}
    return row


def names(measured):
    return [f"{row.work}/{library}" for row in measured for library in row.times]


@pytest.mark.parametrize(
    ("regex", "selected"),
    [
        ("one", ["one/dovetail", "one/torch"]),
        ("t.*/dove", ["two/dovetail"]),
        ("-torch", ["one/dovetail", "two/dovetail"]),
        ("nothing", []),
    ],
)
def test_the_filter_is_a_regular_expression_and_a_minus_negates_it(program, regex, selected):
    made = program(f"--filter={regex}", "--repetitions=1")
    assert names(made.measure(rows())) == selected


def test_repetitions_are_counted_and_the_default_yields(program):
    (row, _) = program("--repetitions=2").measure(rows(), repetitions=5)
    assert len(row.times["torch"]) == 2


def test_a_row_without_its_baseline_has_no_ratio(program, capsys):
    made = program("--filter=dovetail", "--repetitions=1")
    made.publish("name", "Title", "Note.", made.measure(rows()))
    assert "| one |" in capsys.readouterr().out


def test_a_filter_that_matches_nothing_says_so(program, capsys):
    made = program("--filter=nothing")
    made.publish("name", "Title", "Note.", made.measure(rows()))
    assert "No benchmark matches 'nothing'" in capsys.readouterr().out


def test_paths_are_relative_to_the_users_directory(program, tmp_path, monkeypatch):
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    made = program("--json=a.json", "docs", "--repetitions=1")
    made.publish("name", "Title", "Note.", made.measure(rows()))
    assert (tmp_path / "a.json").exists()
    assert (tmp_path / "docs/name.md").read_text().startswith("# Title\n\nNote.\n\nMeasured")


def test_the_same_rows_make_the_same_picture(program, tmp_path):
    row = timed(("dovetail", [10]), ("torch", [20]))
    for folder in ("a", "b"):
        program(tmp_path / folder).publish("name", "Title", "Note.", [row])
    pictures = [(tmp_path / folder / "name.svg").read_text() for folder in ("a", "b")]
    assert pictures[0] == pictures[1]
    assert "dovetail 10 ns" in pictures[0] and "<dc:date>" not in pictures[0]


def test_repetitions_that_differ_much_are_named(program, capsys):
    steady, unsteady = [100, 100, 101, 102, 100], [100, 150, 200, 120, 90]
    program().publish("name", "Title", "", [timed(("dovetail", steady), ("torch", unsteady))])
    noise = capsys.readouterr().out.partition("***WARNING***")[2]
    assert "one/torch" in noise and "one/dovetail" not in noise


def test_the_program_prints_the_machine_and_uses_one_pinned_thread(program, monkeypatch, capsys):
    threads = []
    library = types.SimpleNamespace(set_num_threads=threads.append)
    monkeypatch.setitem(sys.modules, "torch", library)
    program()
    assert "processor: " in capsys.readouterr().err
    assert len(os.sched_getaffinity(0)) == 1
    machine.use_threads(2)
    assert os.sched_getaffinity(0) == machine.ALLOWED
    assert threads == [1, 2]


def test_a_benchmark_without_a_plot_needs_no_package():
    code = "import report; report.Program(report.parser('').parse_args([])); import sys; " + (
        "sys.exit(any(name in sys.modules for name in ('numpy', 'matplotlib', 'scipy')))"
    )
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(report.__file__))
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
