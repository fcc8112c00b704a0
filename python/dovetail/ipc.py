"""Tensors whose memory several processes of one machine share.

    # owner                                        # borrower, started by spawn, forkserver or fork
    t = dt.ipc.empty((1024, 1024), dtype="int32")
    queue.put(dt.ipc.share(t))                     u = dt.ipc.open(queue.get())
                                                   u[0, 0] = 1      # t[0, 0] is 1, too

A Handle is small, pickles, and holds no memory in the process that receives it: the owner has to
keep the tensor (or the Handle that share() gave) until the others have opened it. Opening what is
gone raises ExchangeError. What was opened stays good as long as it is kept, also when the owner has
let it go; only on a GPU it ends with the owner's process, as the drivers have it.

On the CPU shareable memory is a file in /dev/shm: empty() makes it. On a GPU it is any memory of
the allocators "direct" and "caching(direct)", of which empty() uses the first, and what other
libraries got from cudaMalloc or hipMalloc. docs/ipc.md tells more: what is guaranteed when a
process is killed, and who waits for whom.

Nothing but the memory goes between the processes: they order their writes and reads themselves.
"""

import sys

from dovetail import _core

__all__ = ["Handle", "empty", "open", "share"]


class Handle:
    """Names a tensor's memory for other processes of the machine. Made by share(); pickles.

    tensor    in the process that called share(): the tensor, which the handle keeps; elsewhere None
    dtype, shape, strides, device, readonly
              as of the tensor that was shared; strides in elements. A GPU may have another number
              in another process.

    bytes(handle) and Handle.from_bytes() are for other channels than pickle. The bytes hold for
    this machine and this version of Dovetail. Any thread.
    """

    __slots__ = ("_bytes", "_facts", "tensor")

    def __init__(self, data, tensor=None):
        self._facts = _core._ipc_describe(data)
        self._bytes = data
        self.tensor = tensor

    @classmethod
    def from_bytes(cls, data):
        """The handle whose bytes() are data; ValueError for what is none, or was damaged."""
        return cls(bytes(memoryview(data)))

    dtype = property(lambda self: self._facts[1])
    shape = property(lambda self: self._facts[2])
    strides = property(lambda self: self._facts[3])
    device = property(lambda self: self._facts[4])
    readonly = property(lambda self: self._facts[5])

    def __bytes__(self):
        return self._bytes

    def __reduce__(self):
        return Handle.from_bytes, (self._bytes,)

    def __eq__(self, other):
        return self._bytes == other._bytes if isinstance(other, Handle) else NotImplemented

    def __hash__(self):
        return hash(self._bytes)

    def __repr__(self):
        return f"Handle({self._facts[0]})"


def share(tensor, *, copy=False):
    """A Handle of the tensor, by which other processes open the same memory. Nothing is copied.

    copy  True: of a copy in shareable memory, which the handle keeps; False: ExchangeError, with
          the remedy, where other processes can't open the tensor's own memory

    Views, strides, dtype and readonly are kept. Raises ExchangeError too for a tensor that requires
    gradients. On a GPU, who opens the handle sees the work on the tensor so far. Any thread.
    """
    _prepare()
    if copy:
        tensor = _core._ipc_copy(tensor)
    return Handle(_core._ipc_share(tensor), tensor)


def open(handle):
    """The tensor that a Handle names, over the same memory. Nothing is copied.

    handle  a Handle, or its bytes

    In the process that shared it, the memory is the same without being mapped again. Raises
    ExchangeError, with the reason, where the memory is gone or can't be reached from here,
    ValueError for bytes that are no handle or reach outside of the memory, and RuntimeError where
    no backend with devices serves its device. Any thread.
    """
    data = handle._bytes if isinstance(handle, Handle) else bytes(memoryview(handle))
    return _core._ipc_open(data)


def empty(shape, *, dtype=None, device=None):
    """A tensor in new memory that share() takes: float32 on the CPU unless said otherwise.

    The elements are not set. MemoryError where there is no room: in /dev/shm on the CPU.
    """
    _prepare()
    return _core._ipc_empty(shape, dtype, device)


_prepared_process = None


def _prepare():
    # multiprocessing ends the processes that it forks without what exit() runs. Below 0: after it
    # has waited for the children of this process, which may still open what is shared.
    global _prepared_process
    import os

    if _prepared_process == os.getpid():
        return
    _prepared_process = os.getpid()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _core._ipc_forget, exitpriority=-100)
