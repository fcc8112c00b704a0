"""NIXL and dovetail.describe_pair(): two layouts of one tensor, in two processes on the CPU."""

import multiprocessing
import time

import numpy as np
import pytest

import dovetail as dt
from dovetail.distributed import Layout, measure_costs

# The processes import NIXL, and this one does not: its threads would not survive the forks.
CONTEXT = multiprocessing.get_context("fork")


def make_agent(name):
    from nixl_cu12._api import nixl_agent, nixl_agent_config

    return nixl_agent(name, nixl_agent_config(backends=["UCX"]))


def wait(agent, handle):
    state = agent.transfer(handle)
    while state not in ("DONE", "ERR"):
        state = agent.check_xfer_state(handle)
    assert state == "DONE"
    agent.release_xfer_handle(handle)


def move_spans(agent, name, a_rows, b_rows, message=b""):
    """Move N x 3 rows."""
    a, b = (agent.get_xfer_descs(rows, "DRAM") for rows in (a_rows, b_rows))
    wait(agent, agent.initialize_xfer("WRITE", a, b, name, message))


def move_strided(agent, name, a_rows, b_rows, message=b""):
    """Move N x 5 rows, whose runs NIXL numbers."""
    a = agent.prep_xfer_dlist("NIXL_INIT_AGENT", a_rows, mem_type="DRAM")
    b = agent.prep_xfer_dlist(name, b_rows, mem_type="DRAM")
    runs = np.arange(a_rows[:, 4].sum(), dtype=np.int32)
    wait(agent, agent.make_prepped_xfer("WRITE", a, runs, b, runs, message))


def move(agent, name, a, b, form):
    if form == "strided":
        pair = dt.describe_pair(a, b)
        move_strided(agent, name, pair.a_strided, pair.b_strided, b"done")
    elif form == "staging":
        staging = dt.from_dlpack(a).copy()
        agent.register_memory(dt.describe(staging).nixl_registration(), "DRAM")
        pair = dt.describe_pair(staging, b)
        move_spans(agent, name, pair.a_spans, pair.b_spans, b"done")
    else:
        pair = dt.describe_pair(a, b, granularity=form)
        move_spans(agent, name, pair.a_spans, pair.b_spans, b"done")


def receive(channel, make):
    agent = make_agent("receiver")
    base, view = make()
    base, view = dt.from_dlpack(base), dt.from_dlpack(view)
    agent.register_memory(dt.describe(base, writable=True).nixl_registration(), "DRAM")
    channel.send((agent.get_agent_metadata(), Layout.of(view)))
    while not agent.get_new_notifs():
        time.sleep(0.001)
    channel.send((view.to("float32").tolist(), base.to("float32").numpy().sum()))
    channel.recv()


def send(channel, answer, make, form):
    agent = make_agent("sender")
    base, view = make()
    agent.register_memory(dt.describe(base).nixl_registration(), "DRAM")
    metadata, target = channel.recv()
    name = agent.add_remote_agent(metadata)
    if form == "costs":
        rows = []
        costs = measure_costs(lambda a, b: rows.append(move_spans(agent, name, a, b)), view, target)
        assert len(rows) == 15
        answer.send(costs)
        move(agent, name, view, target, None)
    else:
        move(agent, name, view, target, form)
    answer.send(channel.recv())


def run(source, target, form):
    """What the other process has afterwards: the tensor, and the sum of the memory around it."""
    ours, theirs = CONTEXT.Pipe()
    left, right = CONTEXT.Pipe()
    processes = [
        CONTEXT.Process(target=receive, args=(right, target)),
        CONTEXT.Process(target=send, args=(left, theirs, source, form)),
    ]
    for process in processes:
        process.start()
    for end in (theirs, left, right):
        end.close()
    try:
        results = []
        for _ in range(2 if form == "costs" else 1):
            assert ours.poll(100), "the transfer does not end"
            results.append(ours.recv())
        return results
    finally:
        for process in processes:
            process.kill()
            process.join()


TOKENS, HEADS, DIM = 64, 8, 32
VALUES = np.arange(TOKENS * HEADS * DIM).reshape(TOKENS, HEADS, DIM) % 251


def prefill():
    """All heads, in blocks of 16 tokens; the second half of the heads is sent."""
    base = dt.tensor(VALUES.tolist(), dtype="bfloat16").reshape(TOKENS // 16, 16, HEADS, DIM)
    return base, base[:, :, HEADS // 2 :]


def decode():
    """The rank's half of the heads, in blocks of 32 tokens, heads before tokens."""
    base = dt.zeros((TOKENS // 32, HEADS // 2, 32, DIM), dtype="bfloat16")
    return base, base.permute(0, 2, 1, 3)


@pytest.mark.parametrize("form", [None, 24, "strided", "staging"])
def test_a_kv_cache_moves_between_layouts_in_each_form(form):
    ((values, _),) = run(prefill, decode, form)
    expected = VALUES[:, HEADS // 2 :].reshape(TOKENS // 32, 32, HEADS // 2, DIM)
    assert (np.array(values) == expected).all()


@pytest.mark.parametrize("form", [None, "strided"])
def test_negative_strides_move_and_the_memory_between_runs_stays(form):
    def source():
        base = np.arange(48, dtype=np.float32).reshape(6, 8)
        return base, base[::-1, ::2]

    def target():
        base = np.ones((12, 8), np.float32)
        return base, base[::2, 4:]

    ((values, total),) = run(source, target, form)
    expected = np.arange(48).reshape(6, 8)[::-1, ::2]
    assert values == expected.tolist()
    assert total == expected.sum() + 12 * 8 - 6 * 4


def test_runs_of_blocks_that_do_not_divide_each_other_move():
    def source():
        base = np.arange(3 * 12, dtype=np.float32).reshape(3, 12)
        return base, base[:, :10]

    def target():
        base = np.zeros((5, 7), np.float32)
        return base, base[:, :6]

    for form in (None, "strided"):
        ((values, _),) = run(source, target, form)
        assert values == source()[1].reshape(5, 6).tolist()


def test_measured_costs_choose_staging_for_short_runs_and_spans_for_long_ones():
    def flat(value):
        t = dt.full(1 << 23, value, dtype="uint8")
        return t, t

    costs, (values, _) = run(lambda: flat(1), lambda: flat(0), "costs")
    print(costs)
    assert costs.transfer > 0 and costs.row > 0 and costs.byte > 0
    assert values[:9] == [1.0] * 9
    a, b = dt.zeros((1 << 16, 64), dtype="uint8"), dt.zeros((1 << 16, 64), dtype="uint8")
    assert dt.describe_pair(a[:, :32], b[:, :32]).plan(costs).choice == "staging both"
    a, b = dt.zeros((4, 1 << 20), dtype="uint8"), dt.zeros((4, 1 << 20), dtype="uint8")
    assert dt.describe_pair(a[:2], b[1:3]).plan(costs).choice == "spans"
