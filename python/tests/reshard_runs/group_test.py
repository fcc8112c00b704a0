"""dovetail.reshard.Group: processes that meet and exchange messages."""

import contextlib
import os
import pickle
import socket
import threading

import group_workers
import pytest
from ranks import FOREVER, PATIENCE, Raised, Rank, call_all, unique_name

from dovetail.reshard import Group


@pytest.fixture(scope="module")
def crew():
    ranks = [Rank() for _ in range(5)]
    yield ranks
    for rank in ranks:
        rank.end()


def join(ranks, timeout=60.0):
    name = unique_name()
    size = len(ranks)
    joined = call_all(ranks, group_workers.join, [(name, r, size, timeout) for r in range(size)])
    assert joined == [f"Group(rank {r} of {size})" for r in range(size)]
    return name


def exchange(ranks, timeout=60.0):
    return call_all(
        ranks, group_workers.exchange, [(b"%d" % r, timeout) for r in range(len(ranks))]
    )


@pytest.mark.parametrize("size", [1, 2, 5])
def test_each_rank_gets_what_each_passed(crew, size):
    ranks = crew[:size]
    join(ranks)
    assert exchange(ranks) == [[b"%d" % r for r in range(size)]] * size
    assert call_all(ranks, group_workers.exchange_many, [(200,)] * size) == [None] * size


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_of_any_start_method_meet(method):
    ranks = [Rank(method) for _ in range(2)]
    join(ranks)
    assert call_all(ranks, group_workers.exchange_many, [(20,)] * 2) == [None] * 2
    for rank in ranks:
        rank.end()


def test_sixteen_processes_meet():
    ranks = [Rank() for _ in range(16)]
    join(ranks)
    assert call_all(ranks, group_workers.exchange_many, [(100,)] * 16) == [None] * 16
    for rank in ranks:
        rank.end()


def test_large_and_empty_messages_arrive_whole(crew):
    large = 8 << 20
    ranks = crew[:3]
    join(ranks)
    for sizes in ([large] * 3, [0, large, 0], [large, 0, 1], [0, 0, 0]):
        arrived = call_all(ranks, group_workers.exchange_large, [(sizes,)] * 3)
        assert arrived == [True] * 3


def test_whoever_comes_first_waits_for_the_others(crew):
    for last in range(3):
        name = unique_name()
        first = [rank for rank in range(3) if rank != last]
        for rank in first:
            crew[rank].begin(group_workers.join, name, rank, 3)
        for rank in first:
            crew[rank].wait_asleep()
        assert crew[last].call(group_workers.join, name, last, 3) == f"Group(rank {last} of 3)"
        for rank in first:
            assert crew[rank].result() == f"Group(rank {rank} of 3)"
        assert exchange(crew[:3]) == [[b"0", b"1", b"2"]] * 3


def test_one_name_serves_many_groups_in_a_row(crew):
    name = unique_name()
    counts = call_all(
        crew, group_workers.join_again_and_again, [(name, r, 5, 100) for r in range(5)]
    )
    for before, after in counts:  # of open descriptors
        assert before == after


def test_a_name_that_a_group_is_made_by_is_not_free(crew):
    name = unique_name()
    crew[0].begin(group_workers.join, name, 0, 2)
    crew[0].wait_asleep()
    answer = crew[1].call(group_workers.join, name, 0, 2, 0.1)
    assert answer.kind == "TimeoutError" and "exists already" in answer.text
    assert crew[1].call(group_workers.join, name, 1, 2) == "Group(rank 1 of 2)"
    assert crew[0].result() == "Group(rank 0 of 2)"


def test_several_groups_and_threads_do_not_disturb_each_other(crew):
    name = unique_name()
    arguments = [(name, r, 3, 4) for r in range(3)]
    assert call_all(crew[:3], group_workers.exchange_in_threads, arguments) == [[]] * 3


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ([(2, 3), (1, 4)], "rank 1 has a size of 4, and rank 0 of 3"),
        ([(1, 3), (1, 3)], "two processes have the rank 1"),
    ],
)
def test_all_ranks_say_what_size_or_rank_is_wrong(crew, others, reason):
    name = unique_name()
    for process, (rank, size) in zip(crew, [(0, 3), *others], strict=False):
        process.begin(group_workers.join, name, rank, size, FOREVER)
        process.wait_asleep()
    for process in crew[:3]:
        assert process.result() == Raised("ValueError", f"The group can't be made: {reason}.")


def test_a_rank_is_in_the_group():
    for rank, size in [(2, 2), (-1, 2), (0, 0)]:
        with pytest.raises(ValueError, match="0 to size - 1"):
            Group(unique_name(), rank, size)
    with pytest.raises(TypeError):
        Group(unique_name(), 0.5, 2)


def test_a_timeout_is_a_number_that_is_not_negative():
    for bad in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            Group(unique_name(), 0, 1, timeout=bad)
    for bad in (None, "1"):
        with pytest.raises(TypeError):
            Group(unique_name(), 0, 1, timeout=bad)
    with Group(unique_name(), 0, 1, timeout=float("inf")) as group:
        assert group.exchange(b"x", timeout=float("inf")) == [b"x"]
        with pytest.raises(ValueError, match="timeout"):
            group.exchange(b"x", timeout=-1)


def test_an_unlimited_timeout_waits(crew):
    join(crew[:2], float("inf"))
    assert exchange(crew[:2], float("inf")) == [[b"0", b"1"]] * 2


def test_ranks_that_do_not_come_are_named_on_all_ranks(crew):
    name = unique_name()
    for rank in (1, 3):
        crew[rank].begin(group_workers.join, name, rank, 5, FOREVER)
        crew[rank].wait_asleep()
    crew[0].begin(group_workers.join, name, 0, 5, 2.0)
    for rank in (0, 1, 3):
        assert crew[rank].result() == Raised("TimeoutError", "rank 2, 4 did not come within 2.0 s")


def test_a_rank_that_waits_no_longer_does_not_hide_who_is_absent(crew):
    name = unique_name()
    for rank, timeout in [(0, FOREVER), (1, FOREVER)]:
        crew[rank].begin(group_workers.join, name, rank, 4, timeout)
        crew[rank].wait_asleep()
    answer = crew[2].call(group_workers.join, name, 2, 4, 0.5)
    assert answer.kind == "TimeoutError" and "did not come within 0.5 s" in answer.text
    for rank in (0, 1):
        answer = crew[rank].result()
        assert answer.kind == "TimeoutError", answer
        assert "rank 3 did not come while rank 2 waited" in answer.text


def test_ranks_that_do_not_exchange_are_named_on_all_ranks(crew):
    join(crew)
    for rank in (1, 3):
        crew[rank].begin(group_workers.exchange, b"", FOREVER)
        crew[rank].wait_asleep()
    crew[0].begin(group_workers.exchange, b"", 0.5)
    for rank in (0, 1, 3):
        assert crew[rank].result() == Raised("TimeoutError", "rank 2, 4 did not come within 0.5 s")
    for rank in range(5):
        answer = crew[rank].call(group_workers.exchange, b"", FOREVER)
        assert answer.kind in ("ConnectionError", "TimeoutError")
        again = crew[rank].call(group_workers.exchange, b"", FOREVER)
        assert again.kind == "ConnectionError" and "can't be used any more" in again.text


def test_a_rank_that_stops_waiting_for_an_exchange_does_not_hide_who_is_absent(crew):
    ranks = crew[:4]
    join(ranks)
    for rank in (0, 1):
        ranks[rank].begin(group_workers.exchange, b"", FOREVER)
        ranks[rank].wait_asleep()
    answer = ranks[2].call(group_workers.exchange, b"", 0.2)
    assert answer.kind == "TimeoutError" and "did not come within 0.2 s" in answer.text
    for rank in (0, 1):
        answer = ranks[rank].result()
        assert answer.kind == "TimeoutError", answer
        assert "rank 3 did not come while rank 2 waited" in answer.text


@pytest.mark.parametrize("size", [1, 8 << 20])
def test_an_absent_rank_0_is_named(crew, size):
    join(crew[:2])
    answer = crew[1].call(group_workers.exchange, bytes(size), 0.2)
    assert answer.kind == "TimeoutError"
    assert "rank 0 or a rank that it waits for did not come within 0.2 s" in answer.text
    name = unique_name()
    answer = crew[1].call(group_workers.join, name, 1, 2, 0.1)
    assert answer.kind == "TimeoutError" and "rank 0 of" in answer.text and name in answer.text


def test_who_has_closed_the_group_is_gone_for_the_others(crew):
    for leaver in range(3):
        for leave in (group_workers.close, group_workers.forget, group_workers.abandon):
            ranks = crew[:3]
            join(ranks)
            stay = [rank for rank in range(3) if rank != leaver]
            for rank in stay:
                ranks[rank].begin(group_workers.exchange, b"", FOREVER)
            ranks[leaver].call(leave)
            for rank in stay:
                answer = ranks[rank].result()
                assert answer.kind == "ConnectionError" and f"rank {leaver} " in answer.text
                answer = ranks[rank].call(group_workers.exchange, b"", FOREVER)
                assert answer.kind == "ConnectionError" and "can't be used" in answer.text


def test_a_closed_group_says_so():
    with Group(unique_name(), 0, 1) as group:
        assert group.exchange(b"x") == [b"x"]
    group.close()
    with pytest.raises(ConnectionError, match="closed"):
        group.exchange(b"x")


def test_a_message_is_bytes_of_a_limited_size(crew):
    join(crew[:2])
    crew[0].begin(group_workers.exchange, b"", FOREVER)
    answer = crew[1].call(group_workers.exchange, "text", FOREVER)
    assert answer.kind == "TypeError"
    answer = crew[0].result()
    assert answer.kind == "ConnectionError" and "rank 1" in answer.text
    with Group(unique_name(), 0, 1) as group, pytest.raises(ValueError, match="268435456 bytes"):
        group.exchange(bytes((1 << 28) + 1))


def test_a_group_is_not_pickled():
    with Group(unique_name(), 0, 1) as group, pytest.raises(TypeError, match="pickle"):
        pickle.dumps(group)


@pytest.mark.parametrize("garbage", [b"", b"x", b"GET / HTTP/1.1\r\n\r\n" * 10, "silent"])
def test_what_other_programs_send_to_the_socket_is_ignored(crew, garbage):
    """The socket is this user's: other programs of theirs can connect to it."""
    from dovetail.reshard._group import _address

    name = unique_name()
    crew[0].begin(group_workers.join, name, 0, 2, FOREVER)
    with contextlib.closing(connected(_address(name))) as stranger:
        if garbage != "silent":
            stranger.sendall(garbage)
            stranger.close()
        crew[1].begin(group_workers.join, name, 1, 2, FOREVER)
        assert [rank.result() for rank in crew[:2]] == ["Group(rank 0 of 2)", "Group(rank 1 of 2)"]


def test_garbage_of_a_rank_breaks_the_group(crew):
    from dovetail.reshard._channel import HEAD
    from dovetail.reshard._group import _FORMAT, _GREETING, _address

    for garbage in (
        HEAD.pack(0, 1 << 31),
        HEAD.pack(1, 1 << 31),
        HEAD.pack(0, 5) + b"abc",
        b"\0",
    ):
        name = unique_name()
        crew[0].begin(group_workers.join, name, 0, 2)
        with connected(_address(name)) as stranger:
            stranger.sendall(_GREETING.pack(_FORMAT, 1, 2))
            assert crew[0].result() == "Group(rank 0 of 2)"
            crew[0].begin(group_workers.exchange, b"", FOREVER)
            stranger.sendall(garbage)
            stranger.shutdown(socket.SHUT_WR)
            assert crew[0].result() == Raised(
                "ConnectionError", "rank 1 has ended or left the group"
            )


def connected(address):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    ready = threading.Event()
    for _ in range(PATIENCE * 100):
        try:
            connection.connect(address)
            return connection
        except ConnectionRefusedError:
            ready.wait(0.01)
    raise AssertionError("nobody listens")


def test_another_user_can_not_join():
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    ranks = [Rank() for _ in range(3)]
    name = unique_name()
    ranks[0].begin(group_workers.join, name, 0, 2, FOREVER)
    answer = ranks[2].call(group_workers.join_as_another_user, name, 1, 2, 0.3)
    assert answer.kind == "PermissionError" and "another user's" in answer.text
    ranks[1].begin(group_workers.join, name, 1, 2, FOREVER)
    assert [rank.result() for rank in ranks[:2]] == ["Group(rank 0 of 2)", "Group(rank 1 of 2)"]
    for rank in ranks:
        rank.end()
