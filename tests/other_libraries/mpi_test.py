"""mpi4py and dovetail.mpi: each test is a function of mpi_ranks.py, run by mpirun on two ranks."""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("mpi_ranks.py")
BIN = pathlib.Path(sys.prefix) / "bin"

# mpi4py's own runner ends all ranks if an exception ends one.
COMMAND = [str(BIN / "mpirun"), "-n", "2", sys.executable, "-m", "mpi4py"]
if (BIN / "ompi_info").exists():  # Open MPI
    COMMAND[1:1] = ["--allow-run-as-root", "--oversubscribe"]


def run(*arguments, program=PROGRAM):
    command = [*COMMAND, str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def check(name, *arguments):
    result = run(name, *arguments)
    done = result.stdout.count("done")
    assert (result.returncode, done) == (0, 2), result.stdout + result.stderr


@pytest.mark.parametrize(
    "name",
    [
        "tensors_go_as_they_are",
        "strided_tensors_keep_their_order",
        "only_the_elements_of_a_view_are_written",
        "random_layouts_travel",
        "alltoallw_takes_views_of_any_memory",
        "more_elements_than_mpi_counts_are_one_derived_type",
        "gathers_count_the_elements_of_each_rank",
        "types_of_mpi_have_its_own_operations",
        "an_operation_that_a_type_lacks_is_an_error",
        "a_reduction_finds_its_type_while_others_are_made",
        "packed_elements_go_as_bytes",
        "read_only_tensors_are_not_received_into",
        "tensors_that_require_gradients_are_refused",
        "pending_messages_keep_the_memory",
        "a_message_that_is_too_long_is_an_error",
        "datatypes_are_freed_once",
        "memory_of_a_gpu_is_refused_unless_mpi_can_access_it",
        "pickles_bring_type_and_shape",
    ],
)
def test_on_two_ranks(name):
    check(name)


def test_messages_of_an_emulated_gpu_wait_for_its_work(monkeypatch):
    monkeypatch.setenv("DOVETAIL_BACKENDS", "cpu")  # the emulated one takes the place of CUDA's
    check("messages_of_an_emulated_gpu_wait_for_its_work")


def test_every_type_keeps_its_bits():
    check(
        "every_type_keeps_its_bits",
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bfloat16 "
        "complex32 complex64 complex128 bcomplex32 "
        "float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
        "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float32x4 "
        "int2 int4 uint2 uint4 float6_e2m3fn float6_e3m2fn float4_e2m1fn",
    )


def test_reductions_round_to_nearest_and_even():
    check(
        "reductions_round_to_nearest_and_even",
        "float16 bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
        "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu",
    )


def test_an_operation_on_bytes_ends_all_ranks():
    assert run("an_operation_on_bytes_ends_all_ranks").returncode != 0


def test_a_killed_rank_ends_the_others():
    result = run("a_killed_rank_ends_the_others")
    assert result.returncode != 0 and "done" not in result.stdout


def test_the_example_of_the_page_runs(tmp_path):
    page = (PROGRAM.parents[2] / "docs" / "distributed" / "mpi.md").read_text()
    example = page.split("```python\n")[1].split("```")[0]
    checks = """
assert t.tolist() == [[1.0] * 6] * 4
assert received.tolist() == [[float(6 * i + j) for j in (0, 2, 4)] for i in (3, 2, 1, 0)]
assert theirs[0].tolist() == theirs[1].tolist() == [[1.0] * 3] * 4
assert half.tolist() == [[2.0 * (6 * i + j) for j in range(6)] for i in range(4)]
print("done")
"""
    program = tmp_path / "example.py"
    program.write_text(example + checks)
    result = run(program=program)
    assert (result.returncode, result.stdout.count("done")) == (0, 2), result.stderr


def test_the_stubs_say_what_the_module_has(tmp_path):
    stubtest = [sys.executable, "-m", "mypy.stubtest", "dovetail.mpi", "--concise"]
    result = subprocess.run(stubtest, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
