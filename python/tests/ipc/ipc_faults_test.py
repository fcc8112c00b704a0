"""dovetail.ipc where memory, files or rights are missing, and with processes that are killed.

Each test is a program with a /dev/shm of its own, so that it neither fills nor sees that of others.
core/ipc/segment_faults_test.cc and segment_calls_test.cc try each system call.
"""

import textwrap

import process
import pytest

# Gives the process an empty /dev/shm of 8 MB.
PREAMBLE = """
import ctypes, os, resource, signal, sys, time

def mount():
    libc = ctypes.CDLL(None)
    CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
    return (
        libc.unshare(CLONE_NEWNS) == 0
        and libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0
        and libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=8m") == 0
    )

if not mount():
    print("only root may mount a /dev/shm")
    sys.exit()

import dovetail as dt

def files():
    return sorted(os.listdir("/dev/shm"))

def in_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            work()
            os._exit(0)
        except BaseException as e:
            print(repr(e), file=sys.stderr, flush=True)
            os._exit(1)
    return child

def ended(child):
    return os.waitpid(child, 0)[1]

def error(work):
    try:
        work()
    except Exception as e:
        return type(e).__name__, str(e)
    return None
"""


def run(code):
    output = process.run_python(PREAMBLE + textwrap.dedent(code))
    if output.startswith("only root"):
        pytest.skip(output.strip())


def test_a_full_folder_is_a_memory_error():
    run("""
        kept = dt.ipc.empty(5 << 20, dtype="uint8")
        name, why = error(lambda: dt.ipc.empty(5 << 20, dtype="uint8"))
        assert name == "MemoryError" and "--shm-size" in why, (name, why)
        name, why = error(lambda: dt.ipc.share(dt.zeros(5 << 20, dtype="uint8"), copy=True))
        assert name == "MemoryError", (name, why)
        assert len(files()) == 1, files()
        kept[...] = 1
        del kept
        dt.ipc.empty(5 << 20, dtype="uint8")[...] = 1
        """)


def test_without_descriptors_sharing_is_an_error_that_passes():
    run("""
        read, write = os.pipe()
        def own():
            t = dt.ipc.empty(3)
            t[...] = 7
            os.write(write, bytes(dt.ipc.share(t)))
            signal.pause()
        owner = in_child(own)
        data = os.read(read, 4096)
        dt.ipc.empty(1)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        taken = []
        try:
            while True:
                taken.append(os.dup(0))
        except OSError:
            pass
        assert error(lambda: dt.ipc.empty(1 << 27))[0] == "RuntimeError"  # it needs another file
        dt.ipc.empty(1)  # in memory that is there
        assert error(lambda: dt.ipc.open(data))[0] == "ExchangeError"
        for file in taken:
            os.close(file)
        assert dt.ipc.open(data).tolist() == [7, 7, 7]
        dt.ipc.empty(1)
        os.kill(owner, signal.SIGKILL)
        ended(owner)
        """)


def test_another_user_is_refused():
    run("""
        # A forked child has its parent's mapping, so the other user opens that of another process.
        read, write = os.pipe()
        def own():
            mine = dt.ipc.empty(3)
            os.write(write, bytes(dt.ipc.share(mine)))
            signal.pause()
        owner = in_child(own)
        data = os.read(read, 4096)
        def other():
            os.setgid(12345)
            os.setuid(12345)
            name, why = error(lambda: dt.ipc.open(data))
            assert name == "ExchangeError" and "Permission denied" in why, (name, why)
            dt.ipc.empty(3)  # its own
        assert ended(in_child(other)) == 0
        os.kill(owner, signal.SIGKILL)
        ended(owner)
        """)


@pytest.mark.parametrize("borrower_writes", [False, True])
def test_a_borrower_killed_during_a_copy_takes_nothing(borrower_writes):
    run(f"""
        import numpy as np

        t = dt.ipc.empty((500, 500), dtype="int64")
        t[...] = 7
        handle = dt.ipc.share(t)
        before = files()
        for delay in range(15):
            def copy():
                u = dt.ipc.open(bytes(handle))
                while True:
                    if {borrower_writes}:
                        dt.copyto(u.T, np.full((500, 500), 7))
                    else:
                        u.T.copy()
            child = in_child(copy)
            time.sleep(delay / 1000)
            os.kill(child, signal.SIGKILL)
            ended(child)
            assert (t.numpy() == 7).all()
        dt.ipc.empty(1)
        assert files() == before, files()
        """)


def test_an_owner_killed_during_a_copy_leaves_the_memory_to_who_has_it():
    run("""
        for delay in range(15):
            read, write = os.pipe()
            def own():
                t = dt.ipc.empty((500, 500), dtype="int64")
                t[...] = 7
                os.write(write, bytes(dt.ipc.share(t)))
                while True:
                    t.copy()
                    dt.copyto(t, 7)
            child = in_child(own)
            data = os.read(read, 4096)
            u = dt.ipc.open(data)
            time.sleep(delay / 1000)
            os.kill(child, signal.SIGKILL)
            ended(child)
            assert (u.numpy() == 7).all()
            assert error(lambda: dt.ipc.open(data)) is None  # this process has it mapped
            del u
            os.close(read)
            os.close(write)
        assert len(files()) == 1, files()  # of the last owner
        dt.ipc.empty(1)
        assert len(files()) == 1, files()  # this process's
        """)
