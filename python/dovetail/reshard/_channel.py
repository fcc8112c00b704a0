"""Frames over a socket, with deadlines, between processes of one user."""

import contextlib
import os
import socket
import struct
import time

HEAD = struct.Struct("<BQ")  # the kind of a frame, and its bytes
DATA, FAILURE = 0, 1


def is_ours(connection):
    """Whether the other end is this user's process."""
    size = struct.calcsize("3i")
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return struct.unpack("3i", credentials)[1] == os.geteuid()


def check_timeout(timeout):
    if not timeout >= 0:
        raise ValueError(f"timeout is a number of seconds, 0 or more, not {timeout}")


def deadline_of(timeout):
    """Return the time at which a timeout in seconds ends. Raises ValueError for a negative one."""
    check_timeout(timeout)
    return time.monotonic() + min(timeout, 1e6)  # more is too much for epoll


def retry(call, deadline, otherwise):
    """Call until it succeeds. TimeoutError with a text at the deadline."""
    pause = 1e-3
    while True:
        try:
            return call()
        except OSError as error:
            if time.monotonic() + pause > deadline:
                raise TimeoutError(f"{otherwise} ({error})") from None
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def send(connection, kind, data, deadline):
    connection.settimeout(max(deadline - time.monotonic(), 1e-3))
    try:
        connection.sendall(HEAD.pack(kind, len(data)) + data, socket.MSG_NOSIGNAL)
    except BaseException:
        # The other end must not take a later frame for the rest of this one.
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        raise


def receive(connection, nbytes, deadline):
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
