"""NIXL and dovetail.distributed: transfers between two processes, on the CPU."""

import multiprocessing
import os
import select
import signal
import time

import numpy as np
import pytest

import dovetail as dt
from dovetail.distributed import describe

# The processes import NIXL, and this one does not: its threads would not survive the forks.
CONTEXT = multiprocessing.get_context("fork")


def make_agent(name):
    from nixl_cu12._api import nixl_agent, nixl_agent_config

    return nixl_agent(name, nixl_agent_config(backends=["UCX"]))


def registered(agent, t):
    """Register a tensor, and return the descriptors of its spans."""
    d = describe(t)
    agent.register_memory(d.nixl_registration(), d.nixl_memory)
    return agent.get_xfer_descs(d.nixl_transfer(), d.nixl_memory)


def lend_strided(channel, make):
    """Lend the memory as rows of runs at equal distances; answer as lend()."""
    agent = make_agent("lender")
    d = describe(make(), writable=True)
    agent.register_memory(d.nixl_registration(), d.nixl_memory)
    channel.send((agent.get_agent_metadata(), d.nixl_transfer(strided=True)))
    while not agent.get_new_notifs():
        time.sleep(0.001)
    channel.send(d.tensor.to("float32").tolist())
    channel.recv()


def transfer_strided(channel, lender, make):
    agent = make_agent("borrower")
    d = describe(make())
    agent.register_memory(d.nixl_registration(), d.nixl_memory)
    metadata, remote = lender.recv()
    name = agent.add_remote_agent(metadata)
    local = d.nixl_transfer(strided=True)
    runs = np.arange(local[:, 4].sum(), dtype=np.int32)
    handle = agent.make_prepped_xfer(
        "WRITE",
        agent.prep_xfer_dlist("NIXL_INIT_AGENT", local, mem_type=d.nixl_memory),
        runs,
        agent.prep_xfer_dlist(name, remote, mem_type="DRAM"),
        runs,
        b"done",
    )
    state = agent.transfer(handle)
    while state not in ("DONE", "ERR"):
        state = agent.check_xfer_state(handle)
    channel.send((len(local), len(remote), lender.recv()))


def lend(channel, make):
    """Lend the memory of make() to the other process; answer with its elements after a transfer."""
    agent = make_agent("lender")
    t = dt.from_dlpack(make())
    pointer = t.data_ptr()
    spans = registered(agent, t)
    channel.send((os.getpid(), agent.get_agent_metadata(), agent.get_serialized_descs(spans)))
    while not agent.get_new_notifs():
        time.sleep(0.001)
    assert t.data_ptr() == pointer
    channel.send(t.to("float32").tolist())
    channel.recv()


def transfer(channel, lender, operation, make, kill):
    """Transfer to or from the lender. Answer with NIXL's state and the elements."""
    agent = make_agent("borrower")
    t = dt.from_dlpack(make())
    pointer = t.data_ptr()
    process, metadata, remote = lender.recv()
    name = agent.add_remote_agent(metadata)
    remote = agent.deserialize_descs(remote)
    handle = agent.initialize_xfer(operation, registered(agent, t), remote, name, b"done")
    if kill:
        ended = os.pidfd_open(process)
        os.kill(process, signal.SIGKILL)
        select.select([ended], [], [])
    try:
        state = agent.transfer(handle)
        while state not in ("DONE", "ERR"):
            state = agent.check_xfer_state(handle)
    except Exception as e:
        state = repr(e)
    assert t.data_ptr() == pointer
    channel.send((state, t.to("float32").tolist(), None if kill else lender.recv()))


def run(operation, source, target, kill=False):
    """The state, and the elements of both sides afterwards."""
    borrower, lender = CONTEXT.Pipe()
    return between(
        lambda _: lend(lender, target),
        lambda channel: transfer(channel, borrower, operation, source, kill),
        (borrower, lender),
    )


def between(lend, borrow, ends):
    """What borrow(channel) sends, in a process beside that of lend(None)."""
    ours, theirs = CONTEXT.Pipe()
    processes = [
        CONTEXT.Process(target=lend, args=(None,)),
        CONTEXT.Process(target=borrow, args=(theirs,)),
    ]
    for process in processes:
        process.start()
    for end in (theirs, *ends):
        end.close()
    try:
        assert ours.poll(60), "the transfer does not end"
        return ours.recv()
    finally:
        for process in processes:
            process.kill()
            process.join()


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "int4"])
def test_a_tensor_is_written_into_another_process(name):
    t = dt.from_dlpack(np.arange(24, dtype=np.float32).reshape(4, 6) // 4).to(name)
    state, _, written = run("WRITE", lambda: t, lambda: dt.zeros((4, 6), dtype=name))
    assert (state, written) == ("DONE", t.to("float32").tolist())


def test_a_tensor_is_read_from_another_process():
    lent = dt.arange(6, dtype="float32").to("bfloat16")
    state, read, _ = run("READ", lambda: dt.zeros(6, dtype="bfloat16"), lambda: lent)
    assert (state, read) == ("DONE", [0, 1, 2, 3, 4, 5])


def test_strided_memory_goes_span_by_span():
    a = np.arange(24, dtype=np.float32).reshape(3, 8)
    state, _, written = run(
        "WRITE",
        lambda: dt.from_dlpack(a)[:, 4:],
        lambda: np.zeros((3, 8), np.float32)[::-1, 2:6],
    )
    assert (state, written) == ("DONE", a[:, 4:].tolist())


def test_strided_memory_goes_in_a_row_for_each_outer_iteration():
    a = np.arange(64, dtype=np.float32).reshape(2, 4, 8)[:, :3, 4:]
    borrower, lender = CONTEXT.Pipe()
    rows, remote_rows, written = between(
        lambda _: lend_strided(lender, lambda: np.zeros((6, 8), np.float32)[::-1, 2:6]),
        lambda channel: transfer_strided(channel, borrower, lambda: a),
        (borrower, lender),
    )
    assert (rows, remote_rows) == (2, 1)
    assert written == a.reshape(6, 4).tolist()


def test_a_process_that_is_killed_ends_in_an_error():
    def make():
        return dt.zeros(1_000_000)

    state, _, _ = run("WRITE", make, make, kill=True)
    assert state == "ERR" or "nixlRemoteDisconnectError" in state
