"""Ranks of an MPI communicator, on several hosts. Public as dovetail.mpi.Group."""

import os
import time
from array import array

from mpi4py import MPI

from dovetail import mpi
from dovetail.reshard._channel import deadline_of


class Group:
    """The ranks of a communicator, for dovetail.Reshard.

    comm   of mpi4py. The group has a duplicate of it, so that its messages meet no others.
    hosts  a list with the host of each rank, as any hashable values, the same on all ranks. Ranks
           of one host share memory, others send messages. Default: what MPI says of shared memory

    All ranks of the communicator make it together; all raise ValueError if their hosts are not as
    many as the ranks, or differ. If one does not come to an exchange in time, the others get a
    TimeoutError, and the group can't be used again; its pending messages keep their memory. What
    happens when a rank ends is MPI's: mpirun ends the others. Use a Group by one thread at a time,
    as MPI was initialised.
    """

    def __init__(self, comm, *, hosts=None):
        self.rank, self.size = comm.rank, comm.size
        given = None if hosts is None else list(hosts)
        # (What is wrong on one rank has to be known to all, before what all do together.)
        texts = comm.allgather(repr(given))
        if len(set(texts)) > 1 or (given is not None and len(given) != self.size):
            raise ValueError(
                f"{self.size} ranks have {self.size} hosts, the same list on all ranks, not "
                f"{' and '.join(sorted(set(texts)))}."
            )
        self._comm = comm.Dup()
        if given is None:
            near = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
            given = self._comm.allgather(near.bcast(self.rank))  # its first rank names a host
            near.Free()
        self.hosts = given
        self._broken = None
        self._begun = []  # requests, with what they read or write

    def exchange(self, data, *, timeout=60.0):
        """Return what each rank passed, bytes, as a list by rank. All ranks call it."""
        self._check()
        deadline = deadline_of(timeout)
        counts = array("q", bytes(8 * self.size))
        own = array("q", [len(data)])
        request = self._comm.Iallgather([own, MPI.INT64_T], [counts, MPI.INT64_T])
        self._begun.append((request, (own, counts)))
        self._wait(deadline, timeout)
        received = bytearray(sum(counts))
        request = self._comm.Iallgatherv([data, MPI.BYTE], [received, (counts, None), MPI.BYTE])
        self._begun.append((request, (data, received)))
        self._wait(deadline, timeout)
        result, start = [], 0
        for count in counts:
            result.append(bytes(received[start : start + count]))
            start += count
        return result

    def prepare(self, tensor):
        """Return the message of a tensor, of any strides. Raises ExchangeError if it has none."""
        return mpi.message(tensor)

    def send(self, message, rank):
        """Begin to send a message of prepare()."""
        self._check()
        self._begun.append((self._comm.Isend(message, rank), message))

    def receive(self, message, rank):
        """Begin to receive into the tensor of a message of prepare()."""
        self._check()
        self._begun.append((self._comm.Irecv(message, rank), message))

    def finish(self, *, timeout=60.0):
        """Wait until all that was begun is sent and received. Raises TimeoutError."""
        self._check()
        self._wait(deadline_of(timeout), timeout)

    def abandon(self):
        """Use the group no more. The others get a TimeoutError."""
        self._broken = self._broken or "it was interrupted"
        _pending.extend(self._begun)
        self._begun = []

    def close(self):
        """Free the group's communicator. All ranks call it, unless an exchange failed."""
        if self._broken is None:
            self._broken = "it was closed"
            self._comm.Free()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if error[0] is not None:
            self.abandon()
        self.close()

    def __repr__(self):
        return f"Group(rank {self.rank} of {self.size}, {len(set(self.hosts))} hosts)"

    def _check(self):
        if self._broken is not None:
            raise ConnectionError(f"The group can't be used any more: {self._broken}")

    def _wait(self, deadline, timeout):
        requests = [request for request, _ in self._begun]
        # Messages make progress in calls of MPI alone, so that sleeping delays them.
        patient = time.monotonic() + 1.0
        try:
            while not MPI.Request.Testall(requests):
                now = time.monotonic()
                if now > deadline:
                    raise TimeoutError(f"another rank did not come within {timeout} s")
                if now > patient:
                    time.sleep(1e-3)
                else:
                    os.sched_yield()
        except BaseException as error:
            self._broken = str(error) or type(error).__name__
            self.abandon()
            raise
        self._begun = []


_pending: list = []  # what MPI may still read and write
