"""Proves that exchanges leak nothing, by counts of references, blocks and bytes.

    leaves_nothing(lambda: dt.from_dlpack(x), watched=[x])

Counts references to the watched objects, Python's memory blocks, and the bytes allocated by malloc
(exact bytes, not pages), after the first tenth of the exchanges and at the end. One lost block per
thousand exchanges would show. A leak recurs with every thousand exchanges, while growth of a
framework's cache does not: with few exchanges, only recurring growth counts as a leak.
"""

import ctypes
import gc
import itertools
import sys

MANY = 200_000
PER_EXCHANGE = 0.01  # bytes; caches that fill late may take this much more:
BLOCKS_OF_CACHES, BYTES_OF_CACHES = 100, 8192
ROUNDS = 3  # a leak grows in each of them


class MallInfo(ctypes.Structure):
    """The result of mallinfo2(). malloc's bytes are uordblks, plus hblkhd for large blocks."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]


def bytes_counter():
    """A function that returns the bytes in use, and the factor by which this process is slower."""
    program = ctypes.CDLL(None)
    try:
        count = program.__sanitizer_get_current_allocated_bytes
    except AttributeError:
        mallinfo = program.mallinfo2
        mallinfo.restype = MallInfo
        return lambda: (info := mallinfo()).uordblks + info.hblkhd, 1
    count.restype = ctypes.c_size_t
    return count, 40  # under a sanitizer


allocated_bytes, SLOWER = bytes_counter()


def look(watched):
    gc.collect()
    return [sys.getrefcount(x) for x in watched], sys.getallocatedblocks(), allocated_bytes()


def leaves_nothing(exchange, watched=(), times=MANY):
    times = max(times // SLOWER, 1000)
    for _ in itertools.repeat(None, times // 10):
        exchange()
    gc.freeze()  # excludes existing objects from collections, which are then fast
    look(watched)
    grown = []
    for _ in range(ROUNDS):
        references, blocks, size = look(watched)
        for _ in itertools.repeat(None, times - times // 10):
            exchange()
        references_after, blocks_after, size_after = look(watched)
        assert references_after == references
        more_blocks, more_bytes = blocks_after - blocks, size_after - size
        if more_blocks < BLOCKS_OF_CACHES and more_bytes < BYTES_OF_CACHES + PER_EXCHANGE * times:
            return
        grown.append((more_blocks, more_bytes))
    raise AssertionError(f"{times} exchanges left (blocks, bytes), round by round: {grown}")
