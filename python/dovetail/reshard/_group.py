"""Ranks of one host that meet: a socket from each to rank 0."""

import contextlib
import hashlib
import operator
import os
import selectors
import socket
import struct
import time
import weakref

_GREETING = struct.Struct("<8sII")  # the format, the rank, the number of ranks
_FORMAT = b"dtgroup1"
_HEAD = struct.Struct("<BI")  # the kind of a frame, and its bytes
_DATA, _FAILURE = 0, 1
_MOST = 1 << 28  # bytes of a frame
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
        if not 0 <= self.rank < self.size:
            raise ValueError(f"The rank is a number from 0 to size - 1, not {rank} of {size}.")
        self._sockets = {}  # by rank: of all others in rank 0, and of rank 0 in the others
        self._broken = None
        address = (
            b"\0dovetail.group."
            + hashlib.blake2b(f"{os.getuid()} {name}".encode(), digest_size=16).hexdigest().encode()
        )
        deadline = time.monotonic() + timeout
        _groups.add(self)
        try:
            if self.rank == 0:
                self._accept(address, name, deadline, timeout)
            else:
                self._connect(address, name, deadline, timeout)
        except BaseException:
            self.close()
            raise

    def exchange(self, data, *, timeout=60.0):
        """Return what each rank passed, bytes, as a list by rank. All ranks call it.

        timeout  how many seconds to wait for the others. Raises TimeoutError, with their ranks.
        """
        if self._broken is not None:
            raise ConnectionError(f"The group can't be used any more: {self._broken}")
        deadline = time.monotonic() + timeout
        try:
            if self.rank == 0:
                return self._gather(bytes(data), deadline, timeout)
            return self._ask(bytes(data), deadline, timeout)
        except BaseException as error:
            self._fail(str(error) or type(error).__name__)
            raise

    def close(self):
        """Leave the group."""
        self._broken = self._broken or "it was closed"
        for connection in self._sockets.values():
            connection.close()
        self._sockets = {}

    def abandon(self):
        """Leave the group in the middle of what all do: the others get a ConnectionError."""
        self._fail(f"rank {self.rank} was interrupted")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"Group(rank {self.rank} of {self.size})"

    def _accept(self, address, name, deadline, timeout):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            _retry(lambda: listener.bind(address), deadline, f"a group {name!r} exists already")
            listener.listen(min(self.size, 4096))
            while len(self._sockets) < self.size - 1:
                listener.settimeout(max(deadline - time.monotonic(), 1e-3))
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    raise TimeoutError(
                        f"{self._absent(self._sockets)} did not come within {timeout} s"
                    ) from None
                self._greet(connection, deadline)
        for connection in self._sockets.values():
            _send(connection, _DATA, b"", deadline)

    def _greet(self, connection, deadline):
        if not _is_ours(connection):
            return connection.close()
        try:
            format_, rank, size = _GREETING.unpack(_receive(connection, _GREETING.size, deadline))
        except OSError:
            return connection.close()
        reason = None
        if format_ != _FORMAT:
            reason = "a process comes from another version of Dovetail"
        elif size != self.size:
            reason = f"rank {rank} has a size of {size}, and rank 0 of {self.size}"
        elif rank in self._sockets or not 0 < rank < self.size:
            reason = f"two processes have the rank {rank}"
        if reason is None:
            self._sockets[rank] = connection
            return None
        self._sockets[rank, connection] = connection
        self._fail(reason)
        raise ValueError(f"The group can't be made: {reason}.")

    def _connect(self, address, name, deadline, timeout):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sockets[0] = connection
        _retry(lambda: connection.connect(address), deadline, f"rank 0 of {name!r} did not come")
        if not _is_ours(connection):
            raise PermissionError(f"Rank 0 of the group {name!r} is another user's process.")
        greeting = _GREETING.pack(_FORMAT, self.rank, self.size)
        connection.sendall(greeting)
        self._answer(deadline, timeout)

    def _ask(self, data, deadline, timeout):
        try:
            _send(self._sockets[0], _DATA, data, deadline)
        except TimeoutError:
            raise
        except OSError:  # rank 0 may have said why
            pass
        answer = memoryview(self._answer(deadline, timeout))
        result = []
        for _ in range(self.size):
            (nbytes,) = struct.unpack_from("<I", answer)
            result.append(bytes(answer[4 : 4 + nbytes]))
            answer = answer[4 + nbytes :]
        return result

    def _answer(self, deadline, timeout):
        """Return the data of a frame of rank 0, or raise what rank 0 failed by."""
        try:
            kind, nbytes = _HEAD.unpack(_receive(self._sockets[0], _HEAD.size, deadline + _GRACE))
            data = _receive(self._sockets[0], nbytes, deadline + _GRACE)
        except TimeoutError:
            raise TimeoutError(
                f"rank 0 or a rank that it waits for did not come within {timeout} s"
            ) from None
        except OSError:
            raise ConnectionError("rank 0 has ended or left the group") from None
        if kind == _FAILURE:
            kind, _, text = data.decode(errors="replace").partition(" ")
            raise _FAILURES.get(kind, ConnectionError)(text)
        return data

    def _gather(self, own, deadline, timeout):
        frames = {0: own}
        with selectors.DefaultSelector() as selector:
            for rank, connection in self._sockets.items():
                selector.register(connection, selectors.EVENT_READ, rank)
            while len(frames) < self.size:
                ready = selector.select(max(deadline - time.monotonic(), 0))
                if not ready:
                    raise TimeoutError(f"{self._absent(frames)} did not come within {timeout} s")
                for key, _ in ready:
                    frames[key.data] = self._frame(key.data, key.data in frames, deadline)
        parts = [frames[rank] for rank in range(self.size)]
        answer = b"".join(struct.pack("<I", len(part)) + part for part in parts)
        for rank, connection in self._sockets.items():
            try:
                _send(connection, _DATA, answer, deadline)
            except TimeoutError:
                raise
            except OSError:
                raise ConnectionError(f"rank {rank} has ended or left the group") from None
        return parts

    def _frame(self, rank, has_come, deadline):
        """Return what a rank sent. A rank that has come says no more, unless it ends."""
        try:
            kind, nbytes = _HEAD.unpack(_receive(self._sockets[rank], _HEAD.size, deadline))
            if kind == _DATA and nbytes <= _MOST and not has_come:
                return _receive(self._sockets[rank], nbytes, deadline)
        except TimeoutError:
            raise
        except OSError:
            pass
        raise ConnectionError(f"rank {rank} has ended or left the group")

    def _fail(self, reason):
        """Tell the others why, in rank 0, and leave the group."""
        self._broken = reason
        if self.rank == 0:
            kind = "TimeoutError" if "did not come" in reason else "ConnectionError"
            for connection in self._sockets.values():
                with contextlib.suppress(OSError):
                    deadline = time.monotonic() + _GRACE
                    _send(connection, _FAILURE, f"{kind} {reason}".encode(), deadline)
        self.close()

    def _absent(self, present):
        ranks = [rank for rank in range(1, self.size) if rank not in present]
        more = f" and {len(ranks) - 8} more" if len(ranks) > 8 else ""
        return f"rank {', '.join(map(str, ranks[:8]))}{more}"


_FAILURES = {"TimeoutError": TimeoutError}

# A forked child has the sockets too, and would keep the group from seeing its parent's end.
_groups = weakref.WeakSet()


def _leave_in_child():
    for group in list(_groups):
        group._broken = "it is the parent's"
        group.close()


os.register_at_fork(after_in_child=_leave_in_child)


def _is_ours(connection):
    """Whether the other end is this user's process."""
    size = struct.calcsize("3i")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return struct.unpack("3i", credentials)[1] == os.geteuid()


def _retry(call, deadline, otherwise):
    """Call until it succeeds. TimeoutError with a text at the deadline."""
    pause = 1e-3
    while True:
        try:
            return call()
        except (ConnectionError, FileNotFoundError, OSError) as error:
            if time.monotonic() + pause > deadline:
                raise TimeoutError(f"{otherwise} ({error})") from None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _send(connection, kind, data, deadline):
    connection.settimeout(max(deadline - time.monotonic(), 1e-3))
    connection.sendall(_HEAD.pack(kind, len(data)) + data)


def _receive(connection, nbytes, deadline):
    """Return so many bytes. TimeoutError, or ConnectionError if the other end is closed."""
    data = bytearray(nbytes)
    view = memoryview(data)
    while view:
        connection.settimeout(max(deadline - time.monotonic(), 1e-3))
        received = connection.recv_into(view)
        if not received:
            raise ConnectionError("closed")
        view = view[received:]
    return data
