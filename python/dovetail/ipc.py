"""Share a tensor's memory between processes on one machine.

    # owner                                        # borrower, started by spawn, forkserver or fork
    t = dt.ipc.empty((1024, 1024), dtype="int32")
    queue.put(dt.ipc.share(t))                     u = dt.ipc.open(queue.get())
                                                   u[0, 0] = 1      # t[0, 0] is 1, too

A Handle is small and can be pickled. It holds no memory in the process that receives it: the owner
must keep the tensor (or the Handle that share() returned) until the others have opened it. Opening
memory that is gone raises ExchangeError. An opened tensor stays valid as long as it is kept, even
if the owner drops its own. The exception is GPU memory: it ends with the owner's process, because
the drivers free it.

On the CPU, shareable memory is a file in /dev/shm, which empty() creates. On a GPU, it is memory of
the allocators "direct" (used by empty()) and "caching(direct)", and memory that other libraries
allocated with cudaMalloc or hipMalloc. docs/ipc.md documents what is guaranteed if a process is
killed, and how work on GPUs is ordered.

Only memory is shared: the processes order their reads and writes themselves.
"""

import sys

from dovetail import _core

__all__ = ["Handle", "empty", "open", "share"]


class Handle:
    """Identifies a tensor's memory for other processes on this machine. share() makes it.

    tensor    the tensor, which the handle keeps alive, in the process that called share();
              elsewhere None
    dtype, shape, strides, device, readonly
              of the shared tensor; strides are in elements. A GPU can have a different index in
              another process.

    A Handle can be pickled. bytes(handle) and Handle.from_bytes() serve other channels. The bytes
    are valid only on this machine and for this version of Dovetail. Thread-safe.
    """

    __slots__ = ("_bytes", "_facts", "tensor")

    def __init__(self, data, tensor=None):
        self._facts = _core._ipc_describe(data)
        self._bytes = data
        self.tensor = tensor

    @classmethod
    def from_bytes(cls, data):
        """Return the handle with these bytes. Raises ValueError if they are not a valid handle."""
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
    """Return a Handle with which other processes can open the tensor's memory, without a copy.

    copy  True: share a copy in shareable memory, which the handle keeps alive. False: raise
          ExchangeError, with a remedy, if other processes can't open the tensor's own memory.

    Views, strides, dtype and readonly are preserved. Raises ExchangeError also for a tensor that
    requires gradients. On a GPU, a process that opens the handle sees all work given to the tensor
    before this call. Thread-safe.
    """
    _prepare()
    if copy:
        tensor = _core._ipc_copy(tensor)
    return Handle(_core._ipc_share(tensor), tensor)


def open(handle):
    """Return a tensor over the memory that a Handle identifies. Nothing is copied.

    handle  a Handle, or its bytes

    In the process that shared the memory, it is not mapped a second time. Raises ExchangeError,
    with the reason, if the memory is gone or this process can't access it; ValueError for bytes
    that are not a valid handle or reach outside the memory; RuntimeError if no backend with devices
    serves the tensor's device. Thread-safe.
    """
    data = handle._bytes if isinstance(handle, Handle) else bytes(memoryview(handle))
    return _core._ipc_open(data)


def empty(shape, *, dtype=None, device=None):
    """Return a new tensor in memory that share() accepts. The default is float32 on the CPU.

    The elements are uninitialised. Raises MemoryError if there is not enough memory (on the CPU: in
    /dev/shm).
    """
    _prepare()
    return _core._ipc_empty(shape, dtype, device)


_prepared_process = None


def _prepare():
    # multiprocessing ends forked processes without running exit handlers, so this registers its own
    # finalizer. A priority below 0 runs it after multiprocessing has waited for this process's
    # children, which may still open shared memory.
    global _prepared_process
    import os

    if _prepared_process == os.getpid():
        return
    _prepared_process = os.getpid()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _core._ipc_forget, exitpriority=-100)
