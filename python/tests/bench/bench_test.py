"""`python -m dovetail bench`: its table, its files, and libraries that are not installed."""

import json
import os
import sys

import pytest

from dovetail.bench import __main__ as command
from dovetail.bench import machine, picture, run, strided_layouts, table

# Two small layouts, under the names of published ones.
SMALL = [
    ("transpose 4096 x 4096 f32", "f4", (64, 64), (1, 0), None),
    ("transpose 512 x 512 f32", "f4", (32, 32), (1, 0), None),
]
EXCHANGES = 10


@pytest.fixture(scope="module")
def small():
    """Small layouts in place of those that take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strided_layouts, "LAYOUTS", SMALL)
        yield
    os.sched_setaffinity(0, machine.ALLOWED)


@pytest.fixture(scope="module")
def results(small):
    return list(run.measure_all(1))


def call(monkeypatch, results, *arguments):
    """Run the command with results that are there."""
    monkeypatch.setattr(run, "measure_all", lambda _: iter(results))
    monkeypatch.setattr(sys, "argv", ["bench", *map(str, arguments)])
    return command.main()


@pytest.mark.parametrize("number", ["-1", "0", "many"])
def test_a_number_of_repetitions_is_at_least_one(monkeypatch, capsys, number):
    with pytest.raises(SystemExit) as ended:
        call(monkeypatch, [], "--repetitions", number)
    assert ended.value.code == 2 and f"invalid number from 1 on value: '{number}'" in (
        capsys.readouterr().err
    )


def test_the_table_has_this_machine_beside_the_published_ones(
    monkeypatch, results, capsys, tmp_path
):
    assert call(monkeypatch, results, f"--json={tmp_path / 'results.json'}") == 0
    lines = capsys.readouterr().out.splitlines()
    machines = list(run.read_published())
    assert lines[0].split() == ["operation", "Dovetail", "beside", "here", *machines]
    assert "xeon" in machines and len(machines) >= 4
    for line, result in zip(lines[1:], results, strict=False):
        assert line.startswith(result.work) and f"{result.ratio:.2f}" in line
    assert lines[len(results) + 1].startswith("copies, geometric mean")
    document = json.loads((tmp_path / "results.json").read_text())
    assert [run.Result(**one) for one in document["results"]] == results
    assert document["context"]["torch"][0].isdigit()


# The published figures are of an earlier way to take PyTorch's tensors; the page says so.
UNPUBLISHED = {"from_dlpack(torch tensor)", "torch tensor to numpy array"}


def test_every_row_has_the_published_ratios_of_the_same_work_and_library(results):
    figures = run.read_published()
    assert len(results) == EXCHANGES + len(SMALL)
    for result in results:
        assert result.published.keys() <= figures.keys()
        assert ("xeon" in result.published) == (result.work not in UNPUBLISHED)
        for name, ratio in result.published.items():
            times = figures[name][result.page]["rows"][result.work]
            assert ratio == times["dovetail"] / times[result.beside]


def test_without_pytorch_and_tvm_ffi_numpy_is_beside(monkeypatch, small):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "tvm_ffi", None)
    results = list(run.measure_all(1))
    assert {one.beside for one in results} == {"numpy", ""}
    assert all("torch" not in one.work for one in results)
    lines = [table.Table(["xeon"], 40).row(one) for one in results]
    assert any(" -" in line for line in lines)  # nothing to compare with


@pytest.mark.parametrize(("suffix", "head"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_drawn(monkeypatch, results, tmp_path, suffix, head):
    file = tmp_path / f"picture.{suffix}"
    assert call(monkeypatch, results, f"--picture={file}") == 0
    data = file.read_bytes()
    assert data.startswith(head)
    if suffix == "svg":
        text = data.decode()
        assert "this machine (" in text and ">xeon<" in text and "t[2:5] / numpy" in text


def test_without_matplotlib_it_says_so_before_it_measures(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert call(monkeypatch, None, f"--picture={tmp_path / 'x.svg'}") == 2
    assert "pip install matplotlib" in capsys.readouterr().err


def test_geometric_means_are_of_what_both_measured():
    results = [
        run.Result("a", run.COPIES, 1.0, "torch", 0.25, {"here": 0.5, "half": 0.5}),
        run.Result("b", run.COPIES, 1.0, "torch", 1.0, {"here": 2.0}),
        run.Result("c", run.EXCHANGES, 1.0, "torch", 100.0, {"here": 100.0}),
    ]
    assert run.means(results) == {"": 0.5, "here": 1.0}  # "half" lacks a row


@pytest.mark.parametrize(
    ("nanoseconds", "text"), [(26.64, "26.6 ns"), (1234, "1.23 µs"), (5.88e6, "5.88 ms")]
)
def test_durations_have_units(nanoseconds, text):
    assert table.duration(nanoseconds) == text


def test_matplotlib_is_there_for_these_tests():
    assert picture.why_not() == ""
