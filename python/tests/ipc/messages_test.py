"""dovetail.ipc.Pool.share(opens=): messages that keep their tensor until they have been opened."""

import concurrent.futures
import itertools
import multiprocessing
import os
import signal

import message_workers
import numpy as np
import pytest
from pool_processes import MIB, start, used

import dovetail as dt


@pytest.fixture
def pool():
    return dt.ipc.Pool(8 * MIB)


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_workers_return_messages_and_forget_their_tensors(pool, method):
    context = multiprocessing.get_context(method)
    shapes = [(rows, 100) for rows in range(1, 60)]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as workers:
        messages = workers.map(message_workers.filled, itertools.repeat(pool), shapes)
        for shape, message in zip(shapes, messages, strict=True):
            assert len(message) <= 64
            t = dt.ipc.open(message)
            assert t.shape == shape and set(np.from_dlpack(t).ravel()) == {shape[0]}
            del t
        assert used(pool) == (0, 0)
        assert pool.stats()["messages"] == 0


def test_a_message_for_three_is_opened_three_times(pool):
    t = pool.empty(1000)
    message = pool.share(t, opens=3)
    del t
    for left in (2, 1, 0):
        assert dt.ipc.open(message).shape == (1000,)
        assert pool.stats()["messages"] == left
    with pytest.raises(dt.ExchangeError, match="is gone"):
        dt.ipc.open(message)
    assert used(pool) == (0, 0)


def test_a_message_with_a_long_layout_keeps_its_layout_too(pool):
    t = pool.empty((2,) * 16, dtype="int32")
    t[...] = np.arange(1 << 16).reshape(t.shape)
    view = t.permute(*np.random.default_rng(0).permutation(16))
    values = view.tolist()
    first, second = pool.share(view, opens=1), pool.share(view, opens=1, readonly=True)
    assert first.startswith(b"DR3") and second.startswith(b"DR3")
    del t, view
    assert dt.ipc.open(first).tolist() == values
    u = dt.ipc.open(second)
    assert u.readonly and u.tolist() == values
    del u
    assert used(pool) == (0, 0)


@pytest.mark.parametrize("ends", ["killed", "returns"])
def test_messages_end_with_their_sender(pool, ends):
    child, channel = start("spawn", message_workers.send_several, pool, 5)
    messages = [channel.recv_bytes() for _ in range(5)]
    assert dt.ipc.open(messages[0]).tolist() == [3, 3, 3]
    stats = pool.stats()
    assert stats["messages"] == 4
    assert [(h["process"], h["tensors"]) for h in stats["holders"]] == [(child.pid, 4)]
    if ends == "killed":
        os.kill(child.pid, signal.SIGKILL)
    else:
        channel.send("end")
    child.join(60)
    pool.reclaim()
    assert used(pool) == (0, 0)
    for message in messages:
        with pytest.raises(dt.ExchangeError, match="is gone"):
            dt.ipc.open(message)


def test_a_sender_waits_for_room_until_its_messages_were_opened(pool):
    child, channel = start("spawn", message_workers.send_more_than_there_is_room_for, pool, 40)
    for i in range(40):
        assert dt.ipc.open(channel.recv_bytes())[:2].tolist() == [i, i]
    channel.close()
    child.join(60)
    assert child.exitcode == 0
    assert used(pool) == (0, 0)


def test_a_data_loader_collates_into_a_pool(pool):
    data = pytest.importorskip("torch.utils.data")
    loader = data.DataLoader(
        range(100), batch_size=8, num_workers=2, collate_fn=message_workers.Collate(pool)
    )
    for _ in range(2):
        batches = [dt.ipc.open(message).tolist() for message in loader]
        assert batches == [list(range(i, min(i + 8, 100))) for i in range(0, 100, 8)]
        assert used(pool) == (0, 0)


def test_isolated_tensors_and_other_libraries_are_sent_so_too(pool):
    t = pool.empty(3, dtype="int64", isolated=True)
    t[...] = [1, 2, 3]
    message = pool.share(np.from_dlpack(t)[1:], opens=1)
    del t
    assert dt.ipc.open(message).tolist() == [2, 3]
    nothing = pool.share(pool.empty((0, 3)), opens=1)
    assert dt.ipc.open(nothing).shape == (0, 3)
    assert pool.stats()["messages"] == 0


def test_how_often_a_message_is_opened_is_a_number(pool):
    t = pool.empty(1)
    for bad in (-1, 1 << 24):
        with pytest.raises(ValueError, match="opens is how often"):
            pool.share(t, opens=bad)
    with pytest.raises(TypeError):
        pool.share(t, opens="once")
    pool.share(t, opens=(1 << 24) - 1)
    with pytest.raises(MemoryError, match="at most 16777215 messages"):
        pool.share(t, opens=1)
