"""What the processes of group_test.py and group_faults_test.py run."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time

from dovetail.reshard import Group


def join(kept, name, rank, size, timeout=60.0):
    kept.group = Group(name, rank, size, timeout=timeout)
    return repr(kept.group)


def join_late(kept, name, rank, size, delay):
    time.sleep(delay)
    return join(kept, name, rank, size)


def exchange(kept, data, timeout=60.0):
    return kept.group.exchange(data, timeout=timeout)


def message(number, rank):
    """Bytes that each process knows: of a few sizes, often none."""
    generator = random.Random(number * 1000 + rank)
    return generator.randbytes(generator.choice([0, 0, 1, 5, 100, 3000, 70_000]))


def exchange_many(kept, count):
    """Return the number of the first exchange that went wrong, or None."""
    group = kept.group
    for number in range(count):
        received = group.exchange(message(number, group.rank))
        if received != [message(number, rank) for rank in range(group.size)]:
            return number
    return None


def exchange_large(kept, sizes):
    """Exchange a message of each rank's size, and return whether all arrived."""
    own = bytes([kept.group.rank]) * sizes[kept.group.rank]
    expected = [bytes([rank]) * size for rank, size in enumerate(sizes)]
    return kept.group.exchange(own) == expected


def join_again_and_again(kept, name, rank, size, count):
    """Make groups of one name in a row. Return how many descriptors are open before and after."""
    counts = []
    for number in range(count):
        with Group(name, rank, size) as group:
            assert group.exchange(b"%d" % number) == [b"%d" % number] * size
        counts.append(descriptors(kept))
    return counts[0], counts[-1]


def descriptors(kept):
    return len(os.listdir("/proc/self/fd"))


def close(kept):
    kept.group.close()


def forget(kept):
    del kept.group


def abandon(kept):
    kept.group.abandon()


def _pause():
    """Wait for the SIGKILL of the test, but not for long if it has failed."""
    signal.alarm(300)
    signal.pause()


def fork_child(kept):
    """Fork a child that keeps all descriptors that it can. Return its id and what it may not."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            kept.group.exchange(b"the child's")
            os.write(write, b"it could exchange")
        except ConnectionError as error:
            os.write(write, str(error).encode())
        _pause()
    answer = os.read(read, 1000).decode()
    os.close(read)
    os.close(write)
    return child, answer


def start_child(kept):
    """Start a program that inherits what it can. Return its id."""
    code = "import signal; signal.alarm(300); print(flush=True); signal.pause()"
    kept.child = subprocess.Popen(
        [sys.executable, "-c", code], close_fds=False, stdout=subprocess.PIPE
    )
    kept.child.stdout.readline()
    return kept.child.pid


def fork_while_joining(kept, name, rank, size):
    """Join in a thread, and fork a child meanwhile. Return the child's id once all are there."""
    before = _sockets()
    thread = threading.Thread(target=join, args=(kept, name, rank, size))
    thread.start()
    while not _sockets() - before:
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        _pause()
    thread.join()
    return child


def _sockets():
    """The sockets that this process has, by their inodes."""
    files = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            files.add(os.readlink(f"/proc/self/fd/{number}"))
    return {file for file in files if file.startswith("socket:")}


def exchange_with_broken_pipes(kept, data):
    """Exchange in a process that a write to a closed pipe or socket ends."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return kept.group.exchange(data)


def join_as_another_user(kept, name, rank, size, timeout):
    os.setgid(12345)
    os.setuid(12345)
    os.getuid = lambda: 0  # so that it tries the address of root's group
    return join(kept, name, rank, size, timeout)


def exchange_in_threads(kept, name, rank, size, groups):
    """Use as many groups at once, each in a thread of its own. Return what went wrong."""
    wrong = []

    def use(number):
        try:
            with Group(f"{name}.{number}", rank, size) as group:
                for step in range(50):
                    data = b"%d %d" % (number, step)
                    if group.exchange(data) != [data] * size:
                        wrong.append((number, step))
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=use, args=(number,)) for number in range(groups)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong
