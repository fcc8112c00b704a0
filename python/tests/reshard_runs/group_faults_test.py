"""dovetail.reshard.Group: processes that are killed, stopped, interrupted or forked."""

import os
import signal

import group_workers
import pytest
from ranks import FOREVER, Raised, Rank, call_all, unique_name


@pytest.fixture
def crew():
    ranks = [Rank() for _ in range(4)]
    yield ranks
    for rank in ranks:
        rank.end()


@pytest.fixture
def group(crew):
    return join(crew)


def join(crew):
    name = unique_name()
    size = len(crew)
    call_all(crew, group_workers.join, [(name, rank, size, FOREVER) for rank in range(size)])
    return name


def begin(crew, ranks, data=b""):
    """Let the ranks wait in an exchange."""
    for rank in ranks:
        crew[rank].begin(group_workers.exchange, data, FOREVER)
    for rank in ranks:
        crew[rank].wait_asleep()


def assert_broken(crew, ranks, culprit):
    """All of these get a ConnectionError that names the rank, and can't use the group again."""
    for rank in ranks:
        answer = crew[rank].result()
        assert answer == Raised("ConnectionError", f"rank {culprit} has ended or left the group")
        answer = crew[rank].call(group_workers.exchange, b"", FOREVER)
        assert answer.kind == "ConnectionError" and "can't be used any more" in answer.text


@pytest.mark.parametrize("victim", range(4))
def test_who_waits_in_an_exchange_learns_of_a_death(crew, group, victim):
    others = [rank for rank in range(4) if rank != victim]
    begin(crew, others)
    crew[victim].kill()
    assert_broken(crew, others, victim)


@pytest.mark.parametrize("victim", range(4))
def test_who_waits_learns_of_the_death_of_one_that_waits_as_well(crew, group, victim):
    absent = 1 if victim != 1 else 2
    waiting = [rank for rank in range(4) if rank not in (victim, absent)]
    begin(crew, [victim, *waiting])
    crew[victim].kill()
    assert_broken(crew, waiting, victim)


@pytest.mark.parametrize("victim", range(4))
def test_a_death_between_exchanges_breaks_the_next_one(crew, group, victim):
    others = [rank for rank in range(4) if rank != victim]
    assert call_all(crew, group_workers.exchange, [(b"x",)] * 4) == [[b"x"] * 4] * 4
    crew[victim].kill()
    for rank in others:
        crew[rank].begin(group_workers.exchange, b"", FOREVER)
    assert_broken(crew, others, victim)


def test_several_deaths_at_once_are_one(crew, group):
    begin(crew, [0, 3])
    os.kill(crew[1].pid, signal.SIGKILL)
    os.kill(crew[2].pid, signal.SIGKILL)
    for rank in (0, 3):
        answer = crew[rank].result()
        assert answer.kind == "ConnectionError" and answer.text.startswith(("rank 1", "rank 2"))


@pytest.mark.parametrize("victim", range(4))
def test_a_death_in_the_middle_of_large_messages_is_noticed(crew, group, victim):
    for rank in range(4):
        crew[rank].begin(group_workers.exchange, bytes(4 << 20), FOREVER)
    crew[victim].kill()
    for rank in {0, 1, 2, 3} - {victim}:
        answer = crew[rank].result()
        if isinstance(answer, Raised):  # otherwise it was over
            assert answer.kind == "ConnectionError" and f"rank {victim} " in answer.text
        else:
            assert answer == [bytes(4 << 20)] * 4


@pytest.mark.parametrize("victim", [0, 2])
def test_a_death_while_others_join_ends_their_wait(crew, victim):
    name = unique_name()
    for rank in range(3):
        crew[rank].begin(group_workers.join, name, rank, 4, FOREVER)
        crew[rank].wait_asleep()
    crew[victim].kill()
    for rank in {0, 1, 2} - {victim}:
        answer = crew[rank].result()
        assert answer == Raised("ConnectionError", f"rank {victim} has ended or left the group")


def test_who_is_dead_before_the_group_is_made_is_absent(crew):
    crew[3].kill()
    name = unique_name()
    for rank in (1, 2):
        crew[rank].begin(group_workers.join, name, rank, 4, FOREVER)
        crew[rank].wait_asleep()
    crew[0].begin(group_workers.join, name, 0, 4, 1.0)
    for rank in range(3):
        assert crew[rank].result() == Raised("TimeoutError", "rank 3 did not come within 1.0 s")


@pytest.mark.parametrize("nbytes", [0, 4 << 20])
def test_a_stopped_process_is_a_timeout(crew, group, nbytes):
    crew[2].stop()
    begin(crew, [1, 3], bytes(nbytes))
    crew[0].begin(group_workers.exchange, bytes(nbytes), 0.5)
    for rank in (0, 1, 3):
        assert crew[rank].result() == Raised("TimeoutError", "rank 2 did not come within 0.5 s")
    crew[2].resume()
    assert crew[2].call(group_workers.exchange, b"", FOREVER) == Raised(
        "TimeoutError", "rank 2 did not come within 0.5 s"
    )


@pytest.mark.parametrize("nbytes", [0, 4 << 20])
def test_a_stopped_rank_0_is_a_timeout(crew, group, nbytes):
    crew[0].stop()
    begin(crew, [1, 3], bytes(nbytes))
    answer = crew[2].call(group_workers.exchange, bytes(nbytes), 0.5)
    assert answer.kind == "TimeoutError" and "rank 0 or a rank that it waits for" in answer.text
    crew[0].resume()
    answer = crew[0].call(group_workers.exchange, b"", FOREVER)
    assert answer.kind in ("TimeoutError", "ConnectionError") and "rank 2" in answer.text


def test_a_rank_that_is_stopped_before_it_reads_the_answer_is_a_timeout(crew, group):
    begin(crew, [1], b"")
    crew[1].stop()
    begin(crew, [2, 3], bytes(8 << 20))
    answer = crew[0].call(group_workers.exchange, bytes(8 << 20), 1.0)
    assert answer.kind == "TimeoutError" and "rank 1 did not come" in answer.text
    crew[1].resume()
    answer = crew[1].result()  # never a part of the answer
    assert answer.kind in ("ConnectionError", "TimeoutError")
    for rank in (2, 3):
        answer = crew[rank].result()
        if not isinstance(answer, Raised):  # it was answered before rank 1 was waited for
            answer = crew[rank].call(group_workers.exchange, b"", FOREVER)
        assert answer.kind == "TimeoutError" and "rank 1 did not come" in answer.text


@pytest.mark.parametrize("victim", range(3))
def test_an_interrupted_process_leaves_the_group(crew, group, victim):
    others = [rank for rank in range(3) if rank != victim]
    begin(crew, range(3))
    crew[victim].interrupt()
    assert crew[victim].result().kind == "KeyboardInterrupt"
    for rank in others:
        answer = crew[rank].result()
        assert answer == Raised("ConnectionError", f"rank {victim} failed: KeyboardInterrupt()")
    answer = crew[victim].call(group_workers.exchange, b"", FOREVER)
    assert answer.kind == "ConnectionError" and "KeyboardInterrupt" in answer.text


@pytest.mark.parametrize("victim", range(3))
def test_a_process_that_is_interrupted_while_it_joins_tells_the_others(crew, victim):
    name = unique_name()
    for rank in range(3):
        crew[rank].begin(group_workers.join, name, rank, 4, FOREVER)
        crew[rank].wait_asleep()
    crew[victim].interrupt()
    assert crew[victim].result().kind == "KeyboardInterrupt"
    for rank in {0, 1, 2} - {victim}:
        assert crew[rank].result().kind == "ConnectionError"


def test_a_child_that_is_forked_does_not_keep_its_parent_in_the_group(crew, group):
    for victim in (3, 0):
        child, answer = crew[victim].call(group_workers.fork_child)
        program = crew[victim].call(group_workers.start_child)
        assert "can't be used any more" in answer
        others = [rank for rank in range(4) if rank != victim]
        begin(crew, others)
        crew[victim].kill()
        assert_broken(crew, others, victim)
        for process in (child, program):
            os.kill(process, signal.SIGKILL)
        crew[victim] = Rank()
        join(crew)


def test_children_do_not_disturb_the_group_of_their_parents(crew, group):
    children = [crew[rank].call(group_workers.fork_child)[0] for rank in range(4)]
    assert call_all(crew, group_workers.exchange_many, [(50,)] * 4) == [None] * 4
    for child in children:
        os.kill(child, signal.SIGKILL)
    assert call_all(crew, group_workers.exchange_many, [(50,)] * 4) == [None] * 4


def test_a_child_that_is_forked_while_ranks_join_keeps_neither_name_nor_rank(crew):
    name = unique_name()
    size = len(crew)
    crew[0].begin(group_workers.fork_while_joining, name, 0, size)
    for rank in range(1, size):
        crew[rank].begin(group_workers.join, name, rank, size)
    child, *others = [rank.result() for rank in crew]
    assert isinstance(child, int) and not any(isinstance(other, Raised) for other in others)
    assert call_all(crew, group_workers.exchange_many, [(5,)] * size) == [None] * size
    arguments = [(name, rank, size, FOREVER) for rank in range(size)]
    assert not any(
        isinstance(answer, Raised) for answer in call_all(crew, group_workers.join, arguments)
    )
    begin(crew, [1, 2, 3])
    crew[0].kill()
    assert_broken(crew, [1, 2, 3], 0)
    os.kill(child, signal.SIGKILL)


def test_a_death_does_not_kill_those_with_the_default_action_of_broken_pipes(crew, group):
    crew[2].kill()
    for rank in (0, 1, 3):
        crew[rank].begin(group_workers.exchange_with_broken_pipes, b"")
    assert_broken(crew, [0, 1, 3], 2)
    join(crew[:2])
    crew[0].kill()
    crew[1].begin(group_workers.exchange_with_broken_pipes, b"")
    assert_broken(crew, [1], 0)
