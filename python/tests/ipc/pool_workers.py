"""What the other processes of pool_test.py run."""

import ctypes
import random
import socket

import dovetail as dt


def add(channel, message, amount):
    """Answer with what the tensor is, and add to its elements."""
    t = dt.ipc.open(message)
    channel.send((t.dtype.name, t.shape, t.strides, t.tolist()))
    t[...] = dt.from_dlpack(t.numpy() + amount)


def hold(channel, message):
    """Keep the tensor open until told otherwise, and answer with its first element."""
    t = dt.ipc.open(message)
    channel.send("open")
    channel.recv()
    first = t[0].item()
    del t
    channel.send(first)
    channel.close()


def make(channel, pool, values):
    """Make a tensor in the pool, and keep it until the other side has gone."""
    t = pool.empty(len(values), dtype="int64")
    t[...] = values
    channel.send(pool.share(t))
    channel.poll(60)


def make_pool(channel):
    """Make a pool with two tensors, and end when the other side has opened them."""
    pool = dt.ipc.Pool(1 << 20)
    tensors = [pool.empty(2), pool.empty(2)]
    for value, t in enumerate(tensors, 1):
        t[...] = value
    channel.send((pool, *(pool.share(t) for t in tensors)))
    channel.recv()


def keep_isolated(channel, pool):
    """Keep an isolated tensor until the process ends, and answer with its message."""
    global kept
    kept = pool.empty(3, isolated=True)
    channel.send(pool.share(kept))


def write_by_force(channel, message):
    t = dt.ipc.open(message)
    ctypes.memset(t.data_ptr(), 0, 1)


def attach(channel, connection):
    """Attach the pool whose descriptor arrives, and add 1 to the elements of the message."""
    message, files, _, _ = socket.recv_fds(connection, 64, 1)
    pool = dt.ipc.Pool.from_fd(files[0])
    t = dt.ipc.open(message)
    channel.send(t.tolist())
    t[...] = dt.from_dlpack(t.numpy() + 1)
    assert pool.empty(1).nbytes == 4


def storm(channel, pool, message):
    """Make, share, open, check and drop tensors until killed. Send what is wrong."""
    held = []
    key = random.getrandbits(30)
    shared = dt.ipc.open(message)
    while True:
        if len(held) > 5 or (held and random.random() < 0.5):
            t = held.pop(random.randrange(len(held)))
            if not (t.numpy() == key).all():
                channel.send("another process wrote to the tensor")
        try:
            t = pool.empty(random.choice([10, 1000, 100_000]), dtype="int32")
        except MemoryError:
            continue
        t[...] = key
        held.append(dt.ipc.open(pool.share(t)))
        if shared[-1].item() != 12345:
            channel.send("the parent's tensor changed")
