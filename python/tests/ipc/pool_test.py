"""dovetail.ipc.Pool: many tensors in one shared memory, with real processes."""

import gc
import glob
import os
import pathlib
import pickle
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading

import numpy as np
import pool_workers
import process
import pytest
from ipc_workers import path_of
from pool_processes import MIB, receive, start, used

import dovetail as dt


@pytest.fixture
def pool():
    return dt.ipc.Pool(8 * MIB)


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_another_process_opens_reads_and_writes_the_same_memory(pool, method):
    t = pool.empty((2, 3), dtype="int16")
    t[...] = [[1, 2, 3], [4, 5, 6]]
    message = pool.share(t[:, ::-2])
    assert isinstance(message, bytes) and len(message) <= 64
    child, channel = start(method, pool_workers.add, message, 10)
    assert receive(channel) == ("int16", (2, 2), (3, -2), [[3, 1], [6, 4]])
    child.join(60)
    assert t.tolist() == [[11, 2, 13], [14, 5, 16]]


def test_a_slot_returns_when_the_last_process_drops_it(pool):
    t = pool.empty(1000)
    child, channel = start("spawn", pool_workers.hold, pool.share(t))
    assert receive(channel) == "open"
    pointer = t.data_ptr()
    t[0] = 5
    del t
    assert used(pool) == (1, 4096)
    other = pool.empty(1000)
    assert other.data_ptr() != pointer
    channel.send("drop")
    assert receive(channel) == 5
    assert used(pool) == (1, 4096)
    assert pool.empty(1000).data_ptr() == pointer
    child.join(60)


def test_a_message_of_memory_that_was_freed_or_reused_raises(pool):
    t = pool.empty(1000)
    message = pool.share(t)
    del t
    with pytest.raises(dt.ExchangeError, match="gone"):
        dt.ipc.open(message)
    again = pool.empty(1000)
    with pytest.raises(dt.ExchangeError, match="gone"):
        dt.ipc.open(message)
    assert dt.ipc.open(pool.share(again)).data_ptr() == again.data_ptr()


def test_a_pool_grows_to_its_limit():
    pool = dt.ipc.Pool(MIB, max_nbytes=3 * MIB)
    tensors = [pool.empty(MIB, dtype="uint8") for _ in range(3)]
    assert pool.stats()["segments"] == 3
    with pytest.raises(MemoryError, match="no room"):
        pool.empty(1)
    child, channel = start("spawn", pool_workers.add, pool.share(tensors[2]), 1)
    receive(channel)
    child.join(60)
    assert tensors[2][0].item() == 1
    with pytest.raises(ValueError, match="0 bytes"):
        dt.ipc.Pool(0)


def test_a_pickled_pool_is_the_same_memory_in_another_process():
    pool = dt.ipc.Pool(MIB, max_nbytes=2 * MIB)
    grown = [pool.empty(MIB, dtype="uint8"), pool.empty(MIB // 2, dtype="uint8")]
    child, channel = start("spawn", pool_workers.make, pool, [1, 2, 3])
    assert dt.ipc.open(receive(channel)).tolist() == [1, 2, 3]
    channel.send("done")
    child.join(60)
    assert len(grown) == 2
    again = pickle.loads(pickle.dumps(pool))
    assert type(again) is dt.ipc.Pool
    assert again.stats()["capacity"] == pool.stats()["capacity"] == 2 * MIB
    assert repr(again).startswith("Pool(")


def test_an_isolated_tensor_has_a_file_of_its_own(pool):
    t, own = pool.empty(4), pool.empty(4, isolated=True)
    message = pool.share(own)
    assert message[-27:-11] != pool.share(t)[-27:-11]
    code = f"""
        import dovetail as dt
        t = dt.ipc.open({message!r})
        files = {{line.split()[-1] for line in open("/proc/self/maps") if "dovetail." in line}}
        assert len(files) == 1
        print(files.pop())
        """
    path = process.run_python(code).strip()
    assert os.path.exists(path)
    del own
    gc.collect()
    assert not os.path.exists(path)
    assert used(pool) == (1, 4096)


def test_an_anonymous_pool_goes_by_its_descriptor():
    before = set(glob.glob("/dev/shm/dovetail.*"))
    pool = dt.ipc.Pool(MIB, memfd=True)
    t = pool.empty(3, dtype="int64")
    t[...] = [1, 2, 3]
    assert set(glob.glob("/dev/shm/dovetail.*")) - before == set()
    ours, theirs = socket.socketpair()
    child, channel = start("fork", pool_workers.attach, theirs)
    socket.send_fds(ours, [pool.share(t)], [pool.fileno()])
    assert receive(channel) == [1, 2, 3]
    child.join(60)
    assert t.tolist() == [2, 3, 4]
    with pytest.raises(TypeError, match=r"fileno\(\) by a socket"):
        pickle.dumps(pool)
    with pytest.raises(ValueError, match="make another anonymous pool"):
        pool.empty(1, isolated=True)
    code = f"import dovetail as dt; dt.ipc.open({pool.share(t)!r})"
    assert "this process has not attached" in process.run_failing(code)[1]
    with pytest.raises(ValueError, match="memfd=True can't grow"):
        dt.ipc.Pool(MIB, max_nbytes=2 * MIB, memfd=True)


def test_the_two_programs_of_the_page_share_a_pool_without_a_name(tmp_path):
    page = pathlib.Path("docs/ipc.md")
    text = page.read_text() if page.exists() else pytest.skip("the page is not beside the tests")
    blocks = re.findall(r"<!-- not run: [^\n]* -->\n```python\n(.*?)```", text, re.DOTALL)
    server, client = (textwrap.dedent(block) for block in blocks)
    path = str(tmp_path / "s")
    if len(path) > 100:  # an address has 108 bytes
        path = tempfile.mktemp(dir="/tmp")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))

    def program(code):
        return subprocess.Popen(
            [sys.executable, "-c", code, path], env=environment, stdout=subprocess.PIPE, text=True
        )

    serving = program(server.replace("server.listen()", "server.listen(); print(flush=True)"))
    assert serving.stdout.readline() == "\n"
    assert program(client).communicate(timeout=60)[0] == "".join(f"{[i] * 4}\n" for i in range(3))
    assert serving.wait(60) == 0
    os.unlink(path)


def test_a_larger_tensor_finds_no_file_in_a_pool_that_grew_for_small_ones():
    pool = dt.ipc.Pool(MIB, max_nbytes=4 * MIB)
    small = [pool.empty(MIB, dtype="uint8") for _ in range(4)]
    del small
    assert used(pool) == (0, 0)
    with pytest.raises(MemoryError, match="no allocation can have more than one of its files"):
        pool.empty(2 * MIB, dtype="uint8")


def test_a_process_with_the_pool_goes_on_when_its_maker_has_ended():
    child, channel = start("spawn", pool_workers.make_pool)
    pool, first, second = receive(channel)
    t, u = dt.ipc.open(first), dt.ipc.open(second)
    channel.send("opened")
    child.join(60)
    del t
    assert dt.ipc.open(pool.share(pool.empty(2))).shape == (2,)
    message = pool.share(u)
    del pool
    assert dt.ipc.open(message).tolist() == [2, 2]
    del u  # the last tensor unmaps the pool
    with pytest.raises(dt.ExchangeError, match="gone"):
        dt.ipc.open(message)


def test_a_descriptor_that_is_no_pools_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000)
    with path.open("r+b") as file, pytest.raises(dt.ExchangeError, match="no memory of this"):
        dt.ipc.Pool.from_fd(file.fileno())
    pool = dt.ipc.Pool(MIB)
    with pytest.raises(ValueError, match="pickle this one"):
        pool.fileno()
    with open(path_of(pool.share(pool.empty(1))), "r+b") as file:
        with pytest.raises(dt.ExchangeError, match="not that of an anonymous pool"):
            dt.ipc.Pool.from_fd(file.fileno())
    ours, _ = socket.socketpair()
    for bad in (ours.fileno(), -1, 10_000):
        with pytest.raises(dt.ExchangeError, match="descriptor"):
            dt.ipc.Pool.from_fd(bad)


def test_layouts_too_long_for_a_message_lie_in_the_pool(pool):
    t = pool.empty((2,) * 20, dtype="int8")
    view = t.permute(*np.random.default_rng(0).permutation(20).tolist())
    messages = {pool.share(view) for _ in range(1000)}
    assert len(messages) == 1 and len(messages.pop()) <= 64
    assert pool.stats()["tensors"] == 2
    u = dt.ipc.open(pool.share(view))
    assert (u.shape, u.strides, u.data_ptr()) == (view.shape, view.strides, t.data_ptr())
    del t, view, u
    assert used(pool) == (0, 0)


def test_memory_of_no_or_another_pool_is_refused(pool):
    other = dt.ipc.Pool(MIB)
    with pytest.raises(dt.ExchangeError, match="not of this pool"):
        pool.share(other.empty(1))
    for ordinary in (dt.zeros(1), np.zeros(1), dt.ipc.empty(1)):
        with pytest.raises(dt.ExchangeError, match="not of this pool"):
            pool.share(ordinary)
    with pytest.raises(dt.ExchangeError, match="detach"):
        pool.share(pool.empty(1).requires_grad_(True))


def test_arguments_of_other_types_are_refused_in_words_that_say_what_is_taken(pool):
    t = pool.empty(3)
    for bad in (None, {"a": t}, [t], 3):
        with pytest.raises(TypeError, match=r"share\(\) takes one tensor, of Dovetail or of"):
            pool.share(bad)
    with pytest.raises(TypeError, match=r"as one argument, such as empty\(\(2, 3\)\)"):
        pool.empty(2, 3)
    with pytest.raises(TypeError, match=r"timeout is a number of seconds, .* got 'x'"):
        pool.empty(3, timeout="x")
    with pytest.raises(TypeError, match="isolated must be True, False"):
        pool.empty(3, isolated="x")
    with pytest.raises(TypeError, match="unexpected keyword argument 'device'"):
        pool.empty(3, device="cpu")
    for bad in (None, "text", 3):
        with pytest.raises(TypeError, match=r"open\(\) takes a message \(bytes\) or a Handle, not"):
            dt.ipc.open(bad)
    for message in (bytearray(pool.share(t)), memoryview(pool.share(t))):
        assert dt.ipc.open(message).data_ptr() == t.data_ptr()


def test_an_exception_of_a_tensor_that_is_shared_is_its_own(pool):
    class Broken:
        def __dlpack__(self, **options):
            return self.missing

        def __dlpack_device__(self):
            return 1, 0

    for share in (pool.share, dt.ipc.share):
        with pytest.raises(Exception, match="missing"):
            share(Broken())


def test_a_pool_of_no_size_or_descriptor_says_what_it_takes():
    for bad in ("x", None, 1.5):
        with pytest.raises(TypeError, match="nbytes is a number of bytes"):
            dt.ipc.Pool(bad)
        with pytest.raises(TypeError, match="file descriptor, which is an int"):
            dt.ipc.Pool.from_fd(bad)
    with pytest.raises(TypeError, match="file descriptor, which is an int"):
        dt.ipc.Pool.from_fd(True)
    with pytest.raises(ValueError, match="max_nbytes is 4096, which is less than nbytes, 8192"):
        dt.ipc.Pool(8192, max_nbytes=4096)
    with pytest.raises(ValueError, match="nbytes is a number of bytes, not -1"):
        dt.ipc.Pool(-1)
    with pytest.raises(OverflowError, match="more bytes than can be addressed"):
        dt.ipc.Pool(1 << 64)
    with pytest.raises(OverflowError, match="beyond the numbers of file descriptors"):
        dt.ipc.Pool.from_fd(1 << 31)
    with pytest.raises(RuntimeError, match="not initialised"):
        dt.ipc.Pool.__new__(dt.ipc.Pool).empty(1)
    assert dt.ipc.Pool(np.int64(8192), max_nbytes=np.int64(8192)).stats()["capacity"] == 8192


def test_tensors_of_other_libraries_over_the_pools_memory_are_shared(pool):
    t = pool.empty((2, 3), dtype="int32")
    a = np.from_dlpack(t)[:, ::2]
    assert dt.ipc.open(pool.share(a)).data_ptr() == t.data_ptr()


def test_what_can_never_fit_is_refused_at_once(pool):
    with pytest.raises(MemoryError, match="no allocation can have more than one of its files"):
        pool.empty(9 * MIB, dtype="uint8", timeout=None)


def test_a_pool_has_room_for_small_tensors_after_larger_ones(pool):
    tensors = [pool.empty(16384, dtype="uint8") for _ in range(512)]
    del tensors
    tensors = [pool.empty(4096, dtype="uint8") for _ in range(1024)]
    pool.empty(16384, dtype="uint8")
    tensors += [pool.empty(4096, dtype="uint8") for _ in range(1024)]
    with pytest.raises(MemoryError):
        pool.empty(1)


def test_a_handle_that_nothing_else_keeps_can_be_opened():
    assert dt.ipc.open(dt.ipc.share(dt.full(3, 7), copy=True)).tolist() == [7, 7, 7]


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "complex128", "float8_e4m3fn", "int4"])
def test_every_kind_of_element_arrives(pool, dtype):
    t = pool.empty((3, 1), dtype=dtype)
    t[...] = [[1], [0], [1]]
    u = dt.ipc.open(pool.share(t))
    assert (u.dtype, u.shape, u.tolist()) == (t.dtype, (3, 1), t.tolist())
    nothing = dt.ipc.open(pool.share(pool.empty((3, 0), dtype=dtype)))
    assert (nothing.dtype, nothing.shape) == (t.dtype, (3, 0))


def test_what_was_opened_can_be_shared_on_after_others_took_the_rest_of_its_slot():
    pool = dt.ipc.Pool(9 * 4096)
    pool.empty(9 * 4096, dtype="uint8")  # and it is free again, as one slot
    t = pool.empty(8 * 4096, dtype="uint8")
    t[...] = 3
    u = dt.ipc.open(pool.share(t))
    rest = pool.empty(4096, dtype="uint8")
    rest[...] = 5
    for message in (pool.share(u), bytes(dt.ipc.share(u))):
        assert set(dt.ipc.open(message).tolist()) == {3}


def test_messages_of_tensors_without_elements_are_short_too(pool):
    t = np.lib.stride_tricks.as_strided(np.empty(1), (0,) + (2,) * 20, (1 << 40,) * 21)
    message = pool.share(t)
    assert len(message) <= 64
    assert dt.ipc.open(message).shape == t.shape
    with pytest.raises(dt.ExchangeError, match="64 dimensions is too long"):
        pool.share(dt.empty((0,) * 64))


def test_the_file_is_the_users_alone_and_goes_with_the_pool():
    pool = dt.ipc.Pool(MIB)
    t = pool.empty(3)
    path = path_of(pool.share(t))
    assert os.stat(path).st_mode & 0o777 == 0o600
    del pool
    assert os.path.exists(path)
    t[...] = 1
    del t
    gc.collect()
    assert not os.path.exists(path)


def test_threads_make_share_open_and_free_at_the_same_time(pool):
    errors = []

    def work(key):
        try:
            for i in range(500):
                t = pool.empty(100 + i % 50, dtype="int32")
                t[...] = key
                u = dt.ipc.open(pool.share(t))
                del t
                assert u[-1].item() == key
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(key,)) for key in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert used(pool) == (0, 0)


def test_other_threads_run_while_a_pool_is_made():
    ready, ran = threading.Lock(), []
    ready.acquire()
    thread = threading.Thread(target=lambda: (ready.acquire(), ran.append(1)))
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody has to give up the GIL
    try:
        ready.release()
        for _ in range(5000):  # the other thread has to wake up in time
            dt.ipc.Pool(MIB)
            if ran:
                break
        else:
            pytest.fail("the other thread did not run")
    finally:
        sys.setswitchinterval(interval)
        thread.join()


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_process_of_multiprocessing_leaves_no_isolated_tensor(pool, method):
    child, channel = start(method, pool_workers.keep_isolated, pool)
    path = path_of(receive(channel))
    child.join(60)
    assert child.exitcode == 0
    assert not os.path.exists(path)
