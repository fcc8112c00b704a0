"""dovetail.Reshard over MPI: each test is a function of mpi_reshard_ranks.py, on four ranks."""

import pathlib
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("mpi_reshard_ranks.py")
BIN = pathlib.Path(sys.prefix) / "bin"
RANKS = 4

# mpi4py's own runner ends all ranks if an exception ends one.
COMMAND = [str(BIN / "mpirun"), "-n", str(RANKS), sys.executable, "-m", "mpi4py"]
if (BIN / "ompi_info").exists():  # Open MPI
    COMMAND[1:1] = ["--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]


@pytest.mark.parametrize(
    "name",
    [
        "exchanges_bring_what_each_rank_passed",
        "ranks_of_one_host_share_memory",
        "ranks_of_different_hosts_send_messages",
        "both_at_once",
        "elements_come_from_the_own_host_if_it_has_them",
        "shards_of_any_memory_and_strides_are_sent",
        "plans_that_differ_are_refused_on_all_ranks",
        "an_error_of_one_rank_reaches_all",
        "a_tensor_without_a_message_is_an_error_of_all",
        "hosts_that_differ_are_refused_on_all_ranks",
    ],
)
def test_on_four_ranks(name):
    result = run(name)
    done = result.stdout.count("done")
    assert (result.returncode, done) == (0, RANKS), result.stdout + result.stderr


@pytest.mark.parametrize(
    "name",
    [
        "a_rank_that_does_not_come_is_a_timeout_of_the_others",
        "messages_that_are_pending_keep_their_memory",
    ],
)
def test_with_messages_that_stay_pending(name):
    result = run(name)
    # (mpirun takes the end without MPI_Finalize for a failure.)
    assert result.stdout.count("done") == RANKS, result.stdout + result.stderr


def run(name):
    command = [*COMMAND, str(PROGRAM), name]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)
