"""The examples in docs/benchmarks.md are the files of examples/benchmark, which work."""

import pathlib

import programs
import pytest

EXAMPLES = pathlib.Path("examples/benchmark")


@pytest.mark.parametrize("name", ["BUILD", "my_transpose.cc", "my_views.py", "jax_arrays.py"])
def test_the_page_shows_the_file(name):
    page = pathlib.Path("docs/benchmarks.md").read_text()
    shown, _, _ = (EXAMPLES / name).read_text().partition("\n# For this repository's tests")
    assert f"\n{shown}```\n" in page


def test_the_cpp_example_prints_a_table_with_its_own_column():
    output = programs.run(
        EXAMPLES / "my_transpose", "--repetitions=1", "--benchmark_min_time=0.0001"
    )
    head, row = output.splitlines()[-2:]
    assert "dovetail" in head and "my_loop" in head
    assert row.startswith("transpose ") and row.endswith(")")


def test_the_python_example_prints_a_table():
    output = programs.run("benchmarks/python", EXAMPLES / "my_views.py", "--repetitions=1")
    assert "| one row | " in output and "x numpy" in output


def test_the_file_of_a_peer_adds_a_column():
    output = programs.run(
        "benchmarks/exchange_peers", f"--peer={EXAMPLES / 'jax_arrays.py'}", "--repetitions=1",
        "--filter=jax_arrays",
    )  # fmt: skip
    for work in ("from_dlpack(numpy array)", "np.from_dlpack(t)", "frombuffer(array)", "empty(16)"):
        assert f"| {work} |  | jax_arrays " in output


def test_a_peer_without_the_required_function_is_refused(tmp_path):
    file = tmp_path / "half.py"
    file.write_text("empty = list\n")
    error = programs.run("benchmarks/exchange_peers", f"--peer={file}", fails=True)
    assert error.strip().endswith("half.py has no from_dlpack")
