"""dovetail.Reshard.run with processes that end, wait or disagree, and tensors that do not fit."""

import os
import re
import textwrap
import time

import fault_workers
import process
import pytest
from ranks import FOREVER, PATIENCE, Raised, Rank, call_all, unique_name

from dovetail.reshard import Mesh, Replicate, Reshard, Shard

SIZE = 3


@pytest.fixture
def crew():
    ranks = [Rank() for _ in range(SIZE)]
    prepare(ranks)
    yield ranks
    for rank in ranks:
        rank.end()


@pytest.fixture(scope="module")
def lasting_crew():
    ranks = [Rank() for _ in range(SIZE)]
    prepare(ranks)
    yield ranks
    for rank in ranks:
        rank.end()


def prepare(ranks, width=5):
    size = len(ranks)
    call_all(ranks, fault_workers.prepare, [(rank, size, width) for rank in range(size)])
    join(ranks)


def join(ranks):
    name, size = unique_name(), len(ranks)
    assert call_all(ranks, fault_workers.join, [(name, rank, size) for rank in range(size)]) == (
        [None] * size
    )


def assert_works(ranks):
    assert call_all(ranks, fault_workers.run, [()] * len(ranks)) == [True] * len(ranks)


def survivors(ranks, victim):
    return [rank for number, rank in enumerate(ranks) if number != victim]


@pytest.mark.parametrize("victim", range(SIZE))
@pytest.mark.parametrize("when", ["before", 0, 1, 2, "after"])
def test_when_a_rank_is_killed_the_others_raise_and_have_their_shards(crew, victim, when):
    others = survivors(crew, victim)
    for rank in others:
        rank.begin(fault_workers.run, FOREVER)
    if when == "before":
        crew[victim].kill()
    elif when == "after":
        crew[victim].begin(fault_workers.run_with_fault_at, "kill", "_raise_failures")
    else:
        crew[victim].begin(fault_workers.run_with_fault, "kill", when)
    for rank in others:
        answer = rank.result()
        assert answer == Raised(
            "ConnectionError", f"rank {victim} has ended or left the group"
        ) or (when == "after" and answer is True)
        assert rank.call(fault_workers.is_whole)
    crew[victim].kill()
    crew[victim] = Rank()
    prepare(crew)
    assert_works(crew)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_that_is_killed_during_a_long_copy_leaves_the_others_whole(victim, tmp_path):
    ranks = [Rank() for _ in range(2)]
    prepare(ranks, width=1500)
    path = str(tmp_path / "copies")
    ranks[1 - victim].begin(fault_workers.run, FOREVER)
    ranks[victim].begin(fault_workers.run_and_tell, path)
    deadline = time.monotonic() + PATIENCE
    while not os.path.exists(path):
        assert time.monotonic() < deadline
    ranks[victim].kill()
    answer = ranks[1 - victim].result()
    assert answer is True or answer.kind == "ConnectionError"
    assert ranks[1 - victim].call(fault_workers.is_whole)
    for rank in ranks:
        rank.end()


def test_killed_ranks_leave_nothing_in_the_folder_of_shared_memory():
    """In a program that has a /dev/shm of its own, of 8 MB."""
    code = """
        import ctypes, os, sys

        libc = ctypes.CDLL(None)
        CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
        if (
            libc.unshare(CLONE_NEWNS)
            or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
            or libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=8m")
        ):
            print("only root may mount a /dev/shm")
            sys.exit()

        import dovetail as dt
        import fault_workers
        from ranks import FOREVER, Raised, Rank, call_all, unique_name
        from run_faults_test import assert_works, prepare

        ranks = [Rank() for _ in range(3)]
        prepare(ranks, 50)
        assert_works(ranks)
        for rank in ranks[:2]:
            rank.begin(fault_workers.run, FOREVER)
        ranks[2].begin(fault_workers.run_with_fault, "kill", 1)
        assert [rank.result().kind for rank in ranks[:2]] == ["ConnectionError"] * 2
        for rank in ranks:
            rank.end()
        kept = dt.ipc.empty(1)  # takes away what killed processes left
        names = os.listdir("/dev/shm")
        assert len({name.split(".")[1] for name in names}) == 1, names  # this process's

        # A rank whose shard finds no room has none in shared memory.
        kept = dt.ipc.empty(7 << 20, dtype="uint8")
        ranks = [Rank() for _ in range(2)]
        call = ranks[0].call(fault_workers.prepare, 0, 2, 300)
        assert call.kind == "MemoryError" and "--shm-size" in call.text, call
        del kept
        prepare(ranks, 100)
        assert_works(ranks)
        for rank in ranks:
            rank.end()
        """
    output = process.run_python(textwrap.dedent(code))
    if output.startswith("only root"):
        pytest.skip(output.strip())


@pytest.mark.parametrize("absent", range(SIZE))
def test_a_rank_that_does_not_come_is_a_timeout(crew, absent):
    others = survivors(crew, absent)
    for rank in others[1:]:
        rank.begin(fault_workers.run, FOREVER)
        rank.wait_asleep()
    others[0].begin(fault_workers.run, 0.5)
    for rank in others:
        answer = rank.result()
        if absent == 0 and rank is others[1]:  # it waits for rank 0 as long as it was told
            break
        assert answer.kind == "TimeoutError" and f"rank {absent}" in answer.text
        assert rank.call(fault_workers.is_untouched)
        if absent == 0:
            crew[0].begin(fault_workers.run, FOREVER)  # late
    if absent == 0:
        assert answer.kind in ("TimeoutError", "ConnectionError")
        assert crew[0].result().kind in ("TimeoutError", "ConnectionError")


@pytest.mark.parametrize("stopped", [1, 2])
def test_a_rank_that_stops_in_the_middle_is_a_timeout(crew, stopped):
    others = survivors(crew, stopped)
    crew[stopped].begin(fault_workers.run_and_stop)
    others[1].begin(fault_workers.run, FOREVER)
    others[0].begin(fault_workers.run, 0.5)
    for rank in others:
        answer = rank.result()
        assert answer.kind == "TimeoutError" and f"rank {stopped}" in answer.text
        assert rank.call(fault_workers.is_whole)
    assert crew[stopped].resume_until_result().kind == "TimeoutError"
    join(crew)
    assert_works(crew)


@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("kind", ["shape", "dtype", "layout", "hosts"])
def test_ranks_that_disagree_raise_before_a_byte_moves(lasting_crew, who, kind):
    usual = (SIZE, 4, "int32", "same")
    other = {
        "shape": (SIZE, 2, "int32", "same"),
        "dtype": (SIZE, 4, "float32", "same"),
        "layout": (SIZE, 4, "int32", "layout"),
        "hosts": (SIZE, 4, "int32", "hosts"),
    }[kind]
    arguments = [other if rank == who else usual for rank in range(SIZE)]
    for answer in call_all(lasting_crew, fault_workers.run_other_plan, arguments):
        assert answer.kind == "ValueError", answer
        assert answer.text.startswith("The ranks have different plans: rank ")
        expected = "other boxes or hosts" if kind in ("layout", "hosts") else "(12, 12)"
        assert expected in answer.text
    assert_works(lasting_crew)


UNFIT = {
    "no shard": ("ValueError", r"shards: rank \d has 1 tensors .* and 0 are passed"),
    "two shards": ("ValueError", r"shards: rank \d has 1 tensors .* and 2 are passed"),
    "shape": ("ValueError", r"shards\[0\] has shape \(5, 16\), and rank \d has \(5, 15\)"),
    "transposed": ("ValueError", r"shards\[0\] has shape \(15, 5\)"),
    "type": ("TypeError", r"shards\[0\] has elements of float64, and the plan of int64"),
    "no tensor": ("TypeError", r"object"),
    "None in a list": ("TypeError", r"None"),
    "private": ("ExchangeError", r"shards\[0\] is in memory .*copy=True"),
    "no out": ("ValueError", r"out: rank \d has 1 tensors .* and 0 are passed"),
    "out's shape": ("ValueError", r"out\[0\] has shape \(15, 6\)"),
    "out's type": ("TypeError", r"out\[0\] has elements of uint64"),
    "out is read-only": ("ExchangeError", r"read-only"),
    "out is no tensor": ("TypeError", r"str"),
    "out is the shard": ("ValueError", r"shares memory with a shard"),
    "out is the shard, opened": ("ValueError", r"shares memory with a shard"),
    "out is a part of the shard": ("ValueError", r"shares memory with a shard"),
    "out is a peer's shard": ("ValueError", r"shares memory with a shard"),
    "another rank": (
        "ValueError",
        r"is that of rank \d; the group has 3, and this .* rank \d",
    ),
    "more ranks": ("ValueError", r"The plan has 4 ranks .*; the group has 3"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_is_an_error_on_all_ranks_and_the_group_still_works(lasting_crew, name):
    kind, pattern = UNFIT[name]
    for culprit in (1, 0):
        handle = lasting_crew[2].call(fault_workers.share)
        for rank in survivors(lasting_crew, culprit):
            rank.begin(fault_workers.run)
        answer = lasting_crew[culprit].call(fault_workers.run_unfit, name, handle)
        told = [rank.result() for rank in survivors(lasting_crew, culprit)]
        assert isinstance(answer, Raised) and answer.kind == kind, answer
        assert re.search(pattern, answer.text), answer
        reason = f"Rank {culprit} failed: {kind}: {answer.text}"
        assert told == [Raised("RuntimeError", reason)] * (SIZE - 1)
        for rank in lasting_crew:
            assert rank.call(fault_workers.is_whole)
        assert_works(lasting_crew)


def test_the_same_memory_twice_in_out_is_an_error(lasting_crew):
    for answer in call_all(lasting_crew, fault_workers.run_doubled, [()] * SIZE):
        assert answer == Raised("ValueError", "Two tensors of `out` are the same memory.")
    assert_works(lasting_crew)


@pytest.mark.parametrize("culprit", range(SIZE))
def test_a_failure_of_a_copy_reaches_all_ranks(lasting_crew, culprit):
    for number in (0, 1, 2):
        for rank in survivors(lasting_crew, culprit):
            rank.begin(fault_workers.run)
        answer = lasting_crew[culprit].call(fault_workers.run_with_fault, "raise", number)
        assert answer == Raised("OSError", "the disk is on fire")
        for rank in survivors(lasting_crew, culprit):
            reason = f"Rank {culprit} failed: OSError: the disk is on fire"
            assert rank.result() == Raised("RuntimeError", reason)
        for rank in lasting_crew:
            assert rank.call(fault_workers.is_whole)
        assert_works(lasting_crew)


@pytest.mark.parametrize("culprit", range(SIZE))
@pytest.mark.parametrize("where", ["check_apart", "_meet", "_compare", 0, 2, "_raise_failures"])
@pytest.mark.parametrize("kind", ["interrupt", "exit"])
def test_an_interrupted_rank_breaks_the_group(lasting_crew, culprit, where, kind):
    join(lasting_crew)
    for rank in survivors(lasting_crew, culprit):
        rank.begin(fault_workers.run, FOREVER)
    at = fault_workers.run_with_fault_at if isinstance(where, str) else fault_workers.run_with_fault
    answer = lasting_crew[culprit].call(at, kind, where)
    assert answer.kind == {"interrupt": "KeyboardInterrupt", "exit": "SystemExit"}[kind]
    for rank in survivors(lasting_crew, culprit):
        answer = rank.result()
        if answer is True and where == "_raise_failures":
            answer = rank.call(fault_workers.run)
        assert answer == Raised("ConnectionError", f"rank {culprit} was interrupted")
    for rank in lasting_crew:
        assert rank.call(fault_workers.run).kind == "ConnectionError"
        assert rank.call(fault_workers.is_whole)
    join(lasting_crew)
    assert_works(lasting_crew)


def test_a_plan_of_several_ranks_needs_a_group():
    mesh = Mesh(2)
    plan = Reshard((2, 2), "int8", source=(mesh, [Shard(0)]), target=(mesh, [Replicate()]))
    with pytest.raises(ValueError, match="The plan has 2 ranks; pass a Group of them"):
        plan.run(None, None, None)
    with pytest.raises(ValueError, match="pass a Group"):
        plan.for_rank(1).run(None, None, None)


@pytest.mark.parametrize("culprit", range(SIZE))
@pytest.mark.parametrize("timeout", [-1.0, float("nan")])
def test_a_bad_timeout_is_an_error_on_all_ranks_and_the_group_still_works(
    lasting_crew, culprit, timeout
):
    for rank in survivors(lasting_crew, culprit):
        rank.begin(fault_workers.run)
    answer = lasting_crew[culprit].call(fault_workers.run_with_timeout, timeout)
    assert answer.kind == "ValueError" and "timeout" in answer.text
    for rank in survivors(lasting_crew, culprit):
        assert rank.result() == Raised(
            "RuntimeError", f"Rank {culprit} failed: ValueError: {answer.text}"
        )
    assert_works(lasting_crew)


@pytest.mark.parametrize("what", [None, [1], [(1,)], [("x", None, None)]])
def test_what_is_no_list_of_tensors_is_an_error_on_all_ranks(lasting_crew, what):
    for rank in survivors(lasting_crew, 1):
        rank.begin(fault_workers.run)
    answer = lasting_crew[1].call(fault_workers.run_no_tensors, what)
    assert answer.kind == "TypeError"
    for rank in survivors(lasting_crew, 1):
        assert rank.result() == Raised("RuntimeError", f"Rank 1 failed: TypeError: {answer.text}")
    assert_works(lasting_crew)
