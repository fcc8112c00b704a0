"""dovetail.ipc.Pool: full pools, forks, killed processes, and writes to read-only memory."""

import ctypes
import os
import signal
import threading
import time

import numpy as np
import pool_workers
import process
import pytest
from pool_processes import MIB, receive, start, used

import dovetail as dt

# Sanitizers have a handler of SIGSEGV of their own, and need descriptors where they report.
UNDER_SANITIZERS = hasattr(ctypes.CDLL(None), "__asan_init")


@pytest.fixture
def pool():
    return dt.ipc.Pool(8 * MIB)


def test_what_a_killed_process_held_is_taken_when_it_is_needed(pool):
    children = []
    for _ in range(3):
        t = pool.empty(2 * MIB, dtype="uint8")
        child, channel = start("spawn", pool_workers.hold, pool.share(t))
        assert receive(channel) == "open"
        children.append((child, channel))
        del t
    assert pool.stats()["used_bytes"] == 6 * MIB
    for child, _ in children:
        child.kill()
        child.join()
    t = pool.empty(7 * MIB, dtype="uint8")
    assert used(pool) == (1, 7 * MIB)
    del t
    assert pool.reclaim() == 0


def test_reclaim_frees_what_killed_processes_held(pool):
    t = pool.empty(MIB, dtype="uint8")
    child, channel = start("fork", pool_workers.hold, pool.share(t))
    assert receive(channel) == "open"
    del t
    child.kill()
    child.join()
    assert pool.reclaim() == MIB
    assert used(pool) == (0, 0)


def test_a_full_pool_says_who_holds_what(pool):
    t = pool.empty(3 * MIB, dtype="uint8")
    child, channel = start("spawn", pool_workers.hold, pool.share(t))
    assert receive(channel) == "open"
    kept = pool.empty(4 * MIB, dtype="uint8")
    pattern = (
        rf"no room for 2097152 bytes: {7 * MIB} of {8 * MIB} bytes are held"
        rf" \(this process holds {7 * MIB} bytes in 2 allocations;"
        rf" process {child.pid} holds {3 * MIB} bytes in 1 allocation\)"
    )
    with pytest.raises(MemoryError, match=pattern):
        pool.empty(2 * MIB, dtype="uint8")
    holders = {h["process"]: (h["tensors"], h["nbytes"]) for h in pool.stats()["holders"]}
    assert holders == {os.getpid(): (2, 7 * MIB), child.pid: (1, 3 * MIB)}
    child.kill()
    assert kept.nbytes == 4 * MIB


def test_a_full_pool_waits_for_others_as_long_as_it_is_told(pool):
    t = pool.empty(8 * MIB, dtype="uint8")
    child, channel = start("spawn", pool_workers.hold, pool.share(t))
    assert receive(channel) == "open"
    del t
    with pytest.raises(MemoryError, match="no room"):
        pool.empty(1, timeout=0.05)
    channel.send("drop")
    assert pool.empty(8 * MIB, dtype="uint8", timeout=None).nbytes == 8 * MIB
    for bad in (-1, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            pool.empty(1, timeout=bad)
    child.join(60)


def test_control_c_ends_the_wait(pool):
    kept = pool.empty(8 * MIB, dtype="uint8")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pool.empty(1, timeout=None)
    timer.join()
    assert kept.nbytes


@pytest.mark.skipif(UNDER_SANITIZERS, reason="a sanitizer handles the signal")
def test_memory_shared_read_only_cant_be_written_by_any_library(pool):
    t = pool.empty(4, dtype="int32")
    t[...] = 7
    message = pool.share(t, readonly=True)
    u = dt.ipc.open(message)
    assert u.readonly and u.data_ptr() != t.data_ptr()
    t[1] = 8
    assert u.tolist() == [7, 8, 7, 7]
    assert dt.ipc.open(pool.share(dt.from_dlpack(np.from_dlpack(u))[1:])).tolist() == [8, 7, 7]
    child, _ = start("spawn", pool_workers.write_by_force, message)
    code = f"""
        import ctypes, dovetail as dt
        dt.ipc.report_write_faults()
        t = dt.ipc.open({message!r})
        assert t.tolist() == [7, 8, 7, 7]
        ctypes.memset(t.data_ptr() + 4, 0, 1)
        """
    status, error = process.run_failing(code)
    assert status == -signal.SIGSEGV
    assert "a write to memory that was shared read-only: read-only int32 tensor of shape (4,)" in (
        error
    )
    child.join(60)
    assert child.exitcode == -signal.SIGSEGV
    assert t.tolist() == [7, 8, 7, 7]


@pytest.mark.skipif(UNDER_SANITIZERS, reason="a sanitizer handles the signal")
def test_a_write_fault_names_the_tensor_that_has_the_bytes(pool):
    t = pool.empty((100, 100))
    whole, view = (pool.share(x, readonly=True) for x in (t, t[0, :7]))
    code = f"""
        import ctypes, dovetail as dt
        dt.ipc.report_write_faults()
        whole, view = (dt.ipc.open(m) for m in ({whole!r}, {view!r}))
        ctypes.memset(whole.data_ptr() + 4 * 9090, 0, 1)
        """
    status, error = process.run_failing(code)
    assert status == -signal.SIGSEGV
    assert "tensor of shape (100, 100)" in error


def test_a_process_that_opens_only_read_only_memory_has_no_other_mapping(pool):
    t = pool.empty(4)
    code = f"""
        import dovetail as dt
        t = dt.ipc.open({pool.share(t, readonly=True)!r})
        for line in open("/proc/self/maps"):
            if "dovetail." in line and "rw-s 00000000" not in line:  # the table of the slots
                assert " r--s " in line, line
        """
    process.run_python(code)


def test_read_only_memory_with_a_long_layout_opens_no_other_mapping(pool):
    t = pool.empty((2,) * 20, dtype="int8")
    message = pool.share(t.permute(*np.random.default_rng(0).permutation(20)), readonly=True)
    assert message.startswith(b"DR3")
    code = f"""
        import dovetail as dt
        assert dt.ipc.open({message!r}).readonly
        for line in open("/proc/self/maps"):
            if "dovetail." in line and "rw-s 00000000" not in line:
                assert " r--s " in line, line
        """
    process.run_python(code)


def test_a_forked_child_holds_what_its_parent_held(pool):
    t = pool.empty(3, dtype="int32")
    t[...] = 7
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        os._exit(0 if t.tolist() == [7, 7, 7] and pool.empty(1).nbytes else 1)
    pointer = t.data_ptr()
    del t
    others = [pool.empty(3, dtype="int32") for _ in range(100)]
    for other in others:
        other[...] = 0
        assert other.data_ptr() != pointer
    os.write(write, b"x")
    assert os.waitpid(child, 0)[1] == 0
    del other, others
    pool.reclaim()
    assert used(pool) == (0, 0)


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(
            "descriptors",
            marks=pytest.mark.skipif(UNDER_SANITIZERS, reason="a sanitizer needs descriptors"),
        ),
        "rights",
    ],
)
def test_a_fork_that_finds_no_descriptor_or_right_leaves_the_child_its_memory(what):
    code = f"""
        import os, resource
        import dovetail as dt

        pool = dt.ipc.Pool(1 << 20)
        t = pool.empty(3, dtype="int32")
        t[...] = 7
        pointer = t.data_ptr()
        taken = []
        if {what!r} == "descriptors":
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            read, write = os.pipe()
            try:
                while True:
                    taken.append(os.dup(0))
            except OSError:
                pass
        else:
            read, write = os.pipe()
            if os.getuid() == 0:  # who is not root, has none to give up
                os.setuid(12345)
        child = os.fork()
        if child == 0:
            os.read(read, 1)
            os._exit(0 if t.tolist() == [7, 7, 7] else 1)
        del t
        others = [pool.empty(3, dtype="int32") for _ in range(100)]
        for other in others:
            other[...] = 0
            assert other.data_ptr() != pointer
        os.write(write, b"x")
        assert os.waitpid(child, 0)[1] == 0
        """
    process.run_python(code)


def test_processes_that_are_killed_at_random_take_nothing_and_leave_nothing():
    pool = dt.ipc.Pool(16 * MIB)
    mine = pool.empty(1000, dtype="int32")
    mine[...] = 12345
    message = pool.share(mine)
    deadline = time.monotonic() + 8
    rounds = 0
    while time.monotonic() < deadline:
        children = [start("fork", pool_workers.storm, pool, message) for _ in range(4)]
        time.sleep(0.02 + rounds % 7 * 0.01)
        for child, channel in children:
            child.kill()
            child.join()
            while channel.poll():
                try:
                    assert channel.recv() is None
                except EOFError:
                    break
        assert (mine.numpy() == 12345).all()
        rounds += 1
    pool.reclaim()
    assert used(pool) == (1, 4096)
    del mine
    assert pool.empty(16 * MIB, dtype="uint8").nbytes == 16 * MIB
