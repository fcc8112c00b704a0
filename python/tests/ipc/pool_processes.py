"""Processes of the tests of dovetail.ipc.Pool, and what a pool has."""

import multiprocessing

MIB = 1 << 20


def used(pool):
    """The number of tensors that any process holds, and their bytes."""
    stats = pool.stats()
    return stats["tensors"], stats["used_bytes"]


def start(method, function, *arguments):
    """A process that runs function(channel, *arguments), and the other end of its channel."""
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    child = context.Process(target=function, args=(theirs, *arguments), daemon=True)
    child.start()
    theirs.close()
    return child, ours


def receive(channel):
    assert channel.poll(60), "no answer"
    return channel.recv()
