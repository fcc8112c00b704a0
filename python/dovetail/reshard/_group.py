"""Ranks of one host that meet: a socket from each to rank 0."""

import contextlib
import hashlib
import operator
import os
import selectors
import socket
import struct
import threading
import time
import weakref

from dovetail.reshard._channel import (
    DATA,
    FAILURE,
    HEAD,
    deadline_of,
    is_ours,
    receive,
    retry,
    send,
)

_GREETING = struct.Struct("<8sII")  # the format, the rank, the number of ranks
_FORMAT = b"dtgroup1"
_ANY_VERSION = b"dtgroup"
_MOST = 1 << 28  # bytes of a frame
_MOST_RANKS = 1 << 20
_GRACE = 0.25  # seconds, in which rank 0 can still say why it gave up


class Group:
    """Processes of one host that exchange messages, such as those of a Reshard.

    name     of the group, a text that other groups of the host don't use at the same time
    rank     of this process, 0 to size - 1
    size     the number of processes
    timeout  how many seconds to wait until all have come

    The processes are of one user; nobody else can join. All exchanges go through rank 0. When one
    process ends, even by SIGKILL, the others get a ConnectionError at their next exchange or in the
    one that they wait in; after an error the group can't be used again. A forked child is not in
    the group. Use a Group by one thread at a time.

    Raises TimeoutError, with the ranks that did not come, and ValueError for a rank that is there
    already or another size.
    """

    def __init__(self, name, rank, size, *, timeout=60.0):
        self.rank, self.size = operator.index(rank), operator.index(size)
        if not 0 <= self.rank < self.size <= _MOST_RANKS:
            raise ValueError(
                f"The size is a number up to {_MOST_RANKS}, and the rank one from 0 to size - 1, "
                f"not {size} and {rank}."
            )
        if name == "none":
            raise ValueError(
                'The name "none" is that of every torchrun without --rdzv-id; take a unique one.'
            )
        self._sockets = {}  # by rank: of all others in rank 0, and of rank 0 in the others
        self._joining = []  # in rank 0: what it listens on, and connections without a rank yet
        self._broken = None
        self._busy = threading.Lock()
        address = _address(name)
        deadline = deadline_of(timeout)
        _groups.add(self)
        try:
            if self.rank == 0:
                self._accept(address, name, deadline, timeout)
            else:
                self._connect(address, name, deadline, timeout)
        except BaseException as error:
            self._fail(error, (ConnectionError, TimeoutError, ValueError))
            raise

    def exchange(self, data, *, timeout=60.0):
        """Return what each rank passed, bytes, as a list by rank. All ranks call it.

        timeout  how many seconds to wait for the others. Raises TimeoutError, with their ranks.
        """
        if self._broken is not None:
            raise ConnectionError(f"The group can't be used any more: {self._broken}")
        deadline = deadline_of(timeout)
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("Another thread uses this group; give each thread its own.")
        try:
            data = bytes(memoryview(data))
            if len(data) > _MOST:
                raise ValueError(f"A message has at most {_MOST} bytes, not {len(data)}.")
            if self.rank == 0:
                return self._gather(data, deadline, timeout)
            return self._ask(data, deadline, timeout)
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            self._busy.release()

    def close(self):
        """Leave the group."""
        self._broken = self._broken or "it was closed"
        for connection in (*self._joining, *self._sockets.values()):
            connection.close()
        self._joining, self._sockets = [], {}

    def abandon(self):
        """Leave the group during an exchange or a run. The others get a ConnectionError."""
        self._fail(ConnectionError(f"rank {self.rank} was interrupted"))

    def __reduce__(self):
        raise TypeError("a Group can't be pickled: make one in the other process")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"Group(rank {self.rank} of {self.size})"

    def _accept(self, address, name, deadline, timeout):
        with _fork_lock:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._joining.append(listener)
        retry(lambda: listener.bind(address), deadline, f"a group {name!r} exists already")
        listener.listen(4096)
        listener.setblocking(False)
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ, None)
            try:
                while len(self._sockets) < self.size - 1:
                    ready = selector.select(max(deadline - time.monotonic(), 0))
                    if not ready or time.monotonic() > deadline:
                        raise self._timeout(self._sockets, timeout)
                    for key, _ in ready:
                        if key.fileobj is listener:
                            self._let_in(listener, selector)
                        elif isinstance(key.data, bytearray):
                            self._greet(key.fileobj, key.data, selector)
                        else:
                            self._frame(key.data, self._sockets, deadline)
            except BaseException:
                with contextlib.suppress(OSError):  # who has come is told, too
                    while self._let_in(listener, selector):
                        pass
                raise
        # Before any rank can use the name again.
        for connection in self._joining:
            connection.close()
        self._joining = []
        for rank, connection in self._sockets.items():
            self._send_to(rank, connection, b"", deadline)

    def _let_in(self, listener, selector):
        """Accept a connection, and return whether there was one.

        Its greeting is read as it comes: it may be a stranger's.
        """
        with _fork_lock:
            try:
                connection, _ = listener.accept()
            except BlockingIOError:
                return False
            self._joining.append(connection)
        if is_ours(connection):
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ, bytearray())
        else:
            self._joining.remove(connection)
            connection.close()
        return True

    def _greet(self, connection, greeting, selector):
        """Read a part of a greeting. After all of it, the connection is a rank's."""
        try:
            received = connection.recv(_GREETING.size - len(greeting))
        except OSError:
            received = b""
        greeting += received
        if received and len(greeting) < _GREETING.size:
            return
        if not received or not greeting.startswith(_ANY_VERSION):
            selector.unregister(connection)
            self._joining.remove(connection)
            return connection.close()
        format_, rank, size = _GREETING.unpack(greeting)
        reason = None
        if format_ != _FORMAT:
            reason = "a process comes from another version of Dovetail"
        elif size != self.size:
            reason = f"rank {rank} has a size of {size}, and rank 0 of {self.size}"
        elif rank in self._sockets or not 0 < rank < self.size:
            reason = f"two processes have the rank {rank}"
        if reason is not None:
            raise ValueError(f"The group can't be made: {reason}.")
        selector.modify(connection, selectors.EVENT_READ, rank)
        self._sockets[rank] = connection
        self._joining.remove(connection)

    def _connect(self, address, name, deadline, timeout):
        with _fork_lock:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._sockets[0] = connection
        connection.setblocking(False)  # a full backlog is tried again
        retry(lambda: connection.connect(address), deadline, f"rank 0 of {name!r} did not come")
        if not is_ours(connection):
            self.close()
            raise PermissionError(f"Rank 0 of the group {name!r} is another user's process.")
        with contextlib.suppress(OSError):  # rank 0 may have said why
            greeting = _GREETING.pack(_FORMAT, self.rank, self.size)
            connection.sendall(greeting, socket.MSG_NOSIGNAL)
        self._answer(deadline, timeout)

    def _ask(self, data, deadline, timeout):
        with contextlib.suppress(OSError):  # rank 0 may say why
            send(self._sockets[0], DATA, data, deadline)
        answer = memoryview(self._answer(deadline, timeout))
        result = []
        try:
            for _ in range(self.size):
                (nbytes,) = struct.unpack_from("<I", answer)
                result.append(bytes(answer[4 : 4 + nbytes]))
                answer = answer[4 + nbytes :]
        except struct.error:
            raise ConnectionError("rank 0 sent what is no answer") from None
        return result

    def _answer(self, deadline, timeout):
        """Return the data of a frame of rank 0, or raise what rank 0 failed by."""
        try:
            kind, nbytes = HEAD.unpack(receive(self._sockets[0], HEAD.size, deadline + _GRACE))
            if nbytes > (_MOST + 4) * self.size:
                raise ConnectionError("too many bytes")
            data = receive(self._sockets[0], nbytes, deadline + _GRACE)
        except TimeoutError:
            raise TimeoutError(
                f"rank 0 or a rank that it waits for did not come within {timeout} s"
            ) from None
        except OSError:
            raise ConnectionError("rank 0 has ended or left the group") from None
        if kind == FAILURE:
            raise _failure(data)
        return data

    def _gather(self, own, deadline, timeout):
        frames = {0: own}
        with selectors.DefaultSelector() as selector:
            for rank, connection in self._sockets.items():
                selector.register(connection, selectors.EVENT_READ, rank)
            while len(frames) < self.size:
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    raise self._timeout(frames, timeout)
                for key, _ in ready:
                    frames[key.data] = self._frame(key.data, frames, deadline)
        parts = [frames[rank] for rank in range(self.size)]
        answer = b"".join(struct.pack("<I", len(part)) + part for part in parts)
        for rank, connection in self._sockets.items():
            self._send_to(rank, connection, answer, deadline)
        return parts

    def _frame(self, rank, present, deadline):
        """Return what a rank sent. Of those that are present only the end is expected."""
        data = None
        with contextlib.suppress(ConnectionError):
            try:
                kind, nbytes = HEAD.unpack(receive(self._sockets[rank], HEAD.size, deadline))
                if nbytes <= _MOST and (kind == FAILURE or rank not in present):
                    data = receive(self._sockets[rank], nbytes, deadline)
            except TimeoutError:
                raise TimeoutError(f"rank {rank} did not come with all of its message") from None
        if data is None:
            raise ConnectionError(f"rank {rank} has ended or left the group")
        if kind != FAILURE:
            return bytes(data)
        failure = _failure(data)
        if isinstance(failure, TimeoutError):
            absent = self._absent({*present, rank})
            failure = TimeoutError(f"{absent} did not come while rank {rank} waited")
        raise failure

    def _send_to(self, rank, connection, data, deadline):
        try:
            send(connection, DATA, data, deadline)
        except TimeoutError:
            raise TimeoutError(f"rank {rank} did not come for the answer") from None
        except OSError:
            raise ConnectionError(f"rank {rank} has ended or left the group") from None

    def _fail(self, error, kinds=(ConnectionError, TimeoutError)):
        """Leave the group, and tell the others why. The texts of these kinds are for all ranks."""
        reason = str(error)
        if not isinstance(error, kinds):
            reason = f"rank {self.rank} failed: {error!r}"
        self._broken = self._broken or reason
        kind = type(error).__name__ if isinstance(error, kinds) else ""
        deadline = time.monotonic() + _GRACE
        for connection in (*self._joining, *self._sockets.values()):
            with contextlib.suppress(OSError):
                send(connection, FAILURE, f"{kind} {reason}".encode(), deadline)
        self.close()

    def _timeout(self, present, timeout):
        return TimeoutError(f"{self._absent(present)} did not come within {timeout} s")

    def _absent(self, present):
        """Name the ranks that are not present. It is rank 0 if all others are."""
        ranks = [rank for rank in range(1, self.size) if rank not in present] or [0]
        more = f" and {len(ranks) - 8} more" if len(ranks) > 8 else ""
        return f"rank {', '.join(map(str, ranks[:8]))}{more}"


_FAILURES = {"TimeoutError": TimeoutError, "ValueError": ValueError}


def _failure(data):
    """Return the exception of another rank's failure."""
    kind, _, reason = data.decode(errors="replace").partition(" ")
    return _FAILURES.get(kind, ConnectionError)(reason)


# A forked child has the sockets too, and would keep the group from seeing its parent's end.
_groups: weakref.WeakSet = weakref.WeakSet()
# Held while a socket is made that its group does not have yet: another thread may fork.
_fork_lock = threading.RLock()


def _leave_in_child():
    _fork_lock.release()
    for group in list(_groups):
        group._broken = "it is the parent's"
        group.close()


os.register_at_fork(
    before=_fork_lock.acquire,
    after_in_parent=_fork_lock.release,
    after_in_child=_leave_in_child,
)


def _address(name):
    """Return the address of a group's socket: a name of this user's."""
    digest = hashlib.blake2b(f"{os.getuid()} {name}".encode(), digest_size=16).hexdigest()
    return b"\0dovetail.group." + digest.encode()
