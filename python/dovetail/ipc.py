"""Share a tensor's memory between processes on one machine.

    # owner                                        # borrower, started by spawn, forkserver or fork
    pool = dt.ipc.Pool(1 << 30)
    t = pool.empty((1024, 1024), dtype="int32")
    queue.put(pool.share(t))                       u = dt.ipc.open(queue.get())
                                                   u[0, 0] = 1      # t[0, 0] is 1, too

A Pool is for tensors that come and go: making, sharing, opening and releasing one takes a few
microseconds. For single tensors, empty() and share() use a pool of the process, and share() returns
a Handle that says what it names. Memory of GPUs is shared by handles, too.

A message or Handle is small and can be sent over any channel. It holds no memory in the process
that receives it: keep the tensor (or the Handle that share() returned) until the others have opened
it, or say how often a message will be opened: pool.share(t, opens=1). Opening memory that is gone
raises ExchangeError, also when it has been reused. An opened tensor stays valid as long as it is
kept, even if the owner drops its own. The exception is GPU memory: it ends with the owner's
process, because the drivers free it.

On the CPU, shareable memory lies in files in /dev/shm. On a GPU, it is memory of the allocators
"direct" (used by empty()) and "caching(direct)", and memory that other libraries allocated with
cudaMalloc or hipMalloc. docs/ipc.md documents what is guaranteed if a process is killed, who can
read and write what, and how work on GPUs is ordered.

Only memory is shared: the processes order their reads and writes themselves.
"""

import operator
import sys

from dovetail import _core

__all__ = ["Handle", "Pool", "empty", "open", "report_write_faults", "share"]


class Pool(_core._Pool):
    """Shared memory for many tensors.

    nbytes      how many bytes of tensors it has room for. They take memory as they are first used.
    max_nbytes  let it grow to so many bytes, by further files of nbytes or of one larger tensor. A
                tensor lies in one file: choose nbytes no less than the largest. None: it does not
                grow.
    memfd       True: without a file in /dev/shm. Other processes attach it by Pool.from_fd(), and
                then open its messages. Such a pool does not grow and can't be pickled.

    A pool can be pickled: the other process makes tensors in the same memory. A forked child can
    use it as it is. Who maps a pool can read all of it, and write unless it opens only messages
    that were shared with readonly=True: make a pool for each domain of trust.

    The memory goes when the process that made the pool has dropped it and its tensors, or has
    ended; other processes keep what they have open. There is no close(). Raises RuntimeError if no
    file can be made; ValueError for 0 bytes, and for max_nbytes below nbytes. That /dev/shm is full
    is a MemoryError of empty(). Thread-safe.
    """

    def __init__(self, nbytes, *, max_nbytes=None, memfd=False):
        _prepare()
        nbytes = _size("nbytes", nbytes)
        limit = nbytes if max_nbytes is None else _size("max_nbytes", max_nbytes)
        if limit < nbytes:
            raise ValueError(f"max_nbytes is {limit}, which is less than nbytes, {nbytes}")
        if memfd and limit > nbytes:
            raise ValueError(
                "a pool with memfd=True can't grow, since other processes could not open its"
                " further files: leave out max_nbytes"
            )
        super().__init__(nbytes, max_nbytes=limit, memfd=bool(memfd))

    @classmethod
    def from_fd(cls, fd):
        """Return the pool whose descriptor was received, such as by socket.recv_fds().

        The descriptor stays the caller's and can be closed. Raises ExchangeError, with the reason,
        if it is not a pool's or another user's.
        """
        if isinstance(fd, bool) or not hasattr(fd, "__index__"):
            raise TypeError(f"from_fd() takes a file descriptor, which is an int, not {fd!r}")
        fd = operator.index(fd)
        if not -(1 << 31) <= fd < 1 << 31:
            raise OverflowError(f"{fd} is beyond the numbers of file descriptors")
        return cls._attach(fd=fd)

    @classmethod
    def _attach(cls, **source):
        _prepare()
        pool = cls.__new__(cls)
        _core._Pool.__init__(pool, **source)
        return pool

    def __reduce__(self):
        if self._name is None:
            raise TypeError(
                "a pool with memfd=True can't be pickled: send its fileno() by a socket, and attach"
                " it by Pool.from_fd()"
            )
        return _open_pool, (self._name,)

    def __repr__(self):
        stats = self.stats()
        return f"Pool({stats['used_bytes']:,} of {stats['capacity']:,} bytes used)"


def _open_pool(name):
    return Pool._attach(name=name)


def _size(name, value):
    """Return a number of bytes as an int that C++ takes."""
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a number of bytes, an int, not {value!r}")
    value = operator.index(value)
    if value < 0:
        raise ValueError(f"{name} is a number of bytes, not {value}")
    if value >= 1 << 63:
        raise OverflowError(f"{name} is {value}, which is more bytes than can be addressed")
    return value


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


def share(tensor, *, copy=False, readonly=False):
    """Return a Handle with which other processes can open the tensor's memory, without a copy.

    tensor    of Dovetail, or another library's, as from_dlpack() takes it
    copy      True: share a copy in shareable memory, which the handle keeps alive. False: raise
              ExchangeError, with a remedy, if other processes can't open the tensor's own memory.
    readonly  True: who opens the handle gets memory that can't be written, as in Pool.share(). Only
              on the CPU.

    Views, strides, dtype and readonly are preserved. Raises ExchangeError also for a tensor that
    requires gradients, and TypeError for what is no tensor. On a GPU, a process that opens the
    handle sees all work given to the tensor before this call. Thread-safe.
    """
    _prepare()
    if type(tensor) is not _core.Tensor:
        tensor = _core._ipc_tensor(tensor)
    if copy:
        tensor = _core._ipc_copy(tensor)
    return Handle(_core._ipc_share(tensor, bool(readonly)), tensor)


def open(handle):
    """Return a tensor over the memory that a message of Pool.share() or a Handle names.

    handle  the message, a Handle, or its bytes

    Nothing is copied. In a process that has the memory mapped already, it is not mapped a second
    time. Raises ExchangeError, with the reason, if the memory is gone or this process can't access
    it; ValueError for bytes that are not a valid handle or reach outside the memory; MemoryError if
    256 processes have it open already, or it can't be mapped; RuntimeError if no backend with
    devices serves the tensor's device. Thread-safe.
    """
    if type(handle) is bytes:
        return _core._ipc_open(handle)
    if isinstance(handle, Handle):
        # (A Handle keeps the memory: the reference to it stays until the memory is open.)
        return _core._ipc_open(handle._bytes)
    try:
        data = bytes(memoryview(handle))
    except TypeError:
        raise TypeError(f"open() takes a message (bytes) or a Handle, not {type(handle)}") from None
    return _core._ipc_open(data)


def empty(shape, *, dtype=None, device=None, isolated=False):
    """Return a new tensor in memory that share() accepts. The default is float32 on the CPU.

    isolated  True: in a file of its own. Otherwise the tensor lies beside the other ones that this
              process makes here, and who opens one can read and write them all.

    The elements are uninitialised. Raises MemoryError if there is not enough memory (on the CPU: in
    /dev/shm); ValueError for an isolated tensor on a GPU.
    """
    _prepare()
    return _core._ipc_empty(shape, dtype, device, bool(isolated))


def report_write_faults():
    """From now on, name the tensor when a write to read-only shared memory ends this process.

    Call it in the process that opens the memory, before it does so, and after
    faulthandler.enable(). The message goes to standard error; then the signal SIGSEGV takes its
    course. The 512 tensors that were opened last are known by name.
    """
    _core._ipc_report_write_faults()


_prepared_process = None


def _prepare():
    # multiprocessing ends forked processes without running exit handlers, so this registers its own
    # finalizer. A priority below 0 runs it after multiprocessing has waited for this process's
    # children, which may still open shared memory.
    global _prepared_process
    import os

    if _prepared_process == os.getpid():
        return
    if _prepared_process is None:
        os.register_at_fork(before=_prepare)  # multiprocessing may be imported only later
    _prepared_process = 0
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        _prepared_process = os.getpid()
        util.Finalize(None, _core._ipc_forget, exitpriority=-100)
        util.register_after_fork(_core, _prepare_anew)


def _prepare_anew(_):
    # A new process of multiprocessing forgets all finalizers before it calls this.
    global _prepared_process
    _prepared_process = 0
    _prepare()
