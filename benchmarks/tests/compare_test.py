"""The comparison of two runs: what it calls faster, and what it refuses."""

import json
import random
import re

import compare
import programs
import pytest

COMPARE = "benchmarks/compare"
SAMPLE = "benchmarks/tests/ratio_report_sample"
EXCHANGE = "benchmarks/exchange_peers"


def write(path, times, unit="ns", run_type="iteration", **context):
    benchmarks = [
        {
            "name": name, "run_name": name, "run_type": run_type, "repetition_index": index,
            "real_time": time, "cpu_time": 7.0, "time_unit": unit,
        }
        for name, repetitions in times.items()
        for index, time in enumerate(repetitions)
    ]  # fmt: skip
    path.write_text(json.dumps({"context": context, "benchmarks": benchmarks}))
    return path


def around(time, seed=0):
    generator = random.Random(seed)
    return [time * generator.uniform(0.98, 1.02) for _ in range(11)]


def line_of(name, output):
    (line,) = (line for line in output.splitlines() if line.startswith(f"{name} "))
    return line


@pytest.fixture
def old(tmp_path):
    return write(tmp_path / "old.json", {"a/x": around(100), "b/x": around(50), "c/x": around(9)})


@pytest.fixture
def run(monkeypatch, capsys):
    """Return a function that compares two files and returns what is printed."""

    def compared(*arguments, fails=False):
        monkeypatch.setattr("sys.argv", ["compare", *map(str, arguments)])
        if not fails:
            compare.main()
            return capsys.readouterr().out
        with pytest.raises(SystemExit) as error:
            compare.main()
        assert error.value.code not in (0, None)
        return str(error.value.code)

    return compared


def test_a_clear_difference_is_significant_and_noise_is_not(run, old, tmp_path):
    times = {"a/x": around(50, 1), "b/x": around(50, 2), "c/x": around(18, 3)}
    output = run(old, write(tmp_path / "new.json", times))
    assert line_of("a/x", output).endswith("faster")
    assert line_of("b/x", output).split()[-2] == "to"
    assert line_of("c/x", output).endswith("slower")
    assert re.search(
        r"3 benchmarks, geometric mean of new / old: (0\.99|1\.00)\d; "
        r"significantly faster: 1, slower: 1\n",
        output,
    )


def test_a_file_compared_with_itself_has_no_difference(run, old):
    output = run(old, old)
    assert "geometric mean of new / old: 1.000; significantly faster: 0, slower: 0" in output


def test_units_are_converted(run, old, tmp_path):
    times = {"a/x": [time / 1e3 for time in around(100)]}
    output = run(old, write(tmp_path / "new.json", times, unit="us"))
    assert line_of("a/x", output).split()[3] == "1.000"
    assert "only in the old file: b/x, c/x" in output


def test_cpu_time_is_had_for_the_asking(run, old, tmp_path):
    new = write(tmp_path / "new.json", {"a/x": around(300)})
    assert line_of("a/x", run(old, new, "--time=cpu")).split()[3] == "1.000"


def test_a_missing_file_is_named(run, old, tmp_path):
    error = run(old, tmp_path / "none.json", fails=True)
    assert error.strip().endswith("none.json can't be read: No such file or directory")


def test_a_file_that_is_not_json_is_named(run, old, tmp_path):
    (tmp_path / "text.json").write_text("a table")
    assert "text.json is not JSON" in run(tmp_path / "text.json", old, fails=True)


@pytest.mark.parametrize("text", ["[]", "{}", "3"])
def test_other_json_is_refused(run, old, tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    error = run(old, tmp_path / "other.json", fails=True)
    assert "is not the JSON of a benchmark" in error and "Traceback" not in error


def test_files_without_a_common_benchmark_are_refused(run, old, tmp_path):
    new = write(tmp_path / "new.json", {"d/x": around(1)})
    assert "no benchmark in common" in run(old, new, fails=True)


def test_a_single_repetition_is_refused_with_what_to_do(run, old, tmp_path):
    error = run(old, write(tmp_path / "new.json", {"a/x": [100]}), fails=True)
    assert "a single repetition" in error and "--repetitions=" in error


def test_aggregates_alone_are_refused(run, old, tmp_path):
    new = write(tmp_path / "new.json", {"a/x": around(100)}, run_type="aggregate")
    assert "no repetition" in run(old, new, fails=True)


def test_it_reads_what_a_cpp_benchmark_writes(tmp_path):
    file = tmp_path / "cpp.json"
    programs.run(
        SAMPLE, f"--json={file}", "--repetitions=3", "--filter=step", "--benchmark_min_time=0.0001"
    )
    runs = json.loads(file.read_text())["benchmarks"]
    singles = [run for run in runs if run["run_type"] == "iteration"]
    assert len(singles) == 2 * 2 * 3  # thread states, benchmarks, repetitions
    assert "4 benchmarks" in programs.run(COMPARE, file, file)


def test_it_reads_what_a_python_benchmark_writes(tmp_path):
    file = tmp_path / "python.json"
    programs.run(EXCHANGE, f"--json={file}", "--repetitions=3", r"--filter=^t\[2:5\]/(d|n)")
    document = json.loads(file.read_text())
    names = {run["name"] for run in document["benchmarks"]}
    assert names == {"t[2:5]/dovetail", "t[2:5]/numpy"}
    assert [run["repetition_index"] for run in document["benchmarks"]] == [0, 1, 2] * 2
    assert document["context"]["processor"] and document["context"]["numpy"]
    assert "2 benchmarks" in programs.run(COMPARE, file, file)
