"""Ranks of an MPI communicator, on several hosts. Public as dovetail.mpi.Group."""

import os
import time
from array import array

from mpi4py import MPI

from dovetail import mpi


class Group:
    """The ranks of a communicator, for dovetail.Reshard.

    comm   of mpi4py. The group has a duplicate of it, so that its messages meet no others.
    hosts  a list with the host of each rank, as any values. Ranks of one host share memory, others
           send messages. Default: what MPI says of shared memory

    All ranks of the communicator make it together. If one does not come to an exchange in time, the
    others get a TimeoutError, and the group can't be used again; its pending messages keep their
    memory. What happens when a rank ends is MPI's: mpirun ends the others. Use a Group by one
    thread at a time, as MPI was initialised.
    """

    def __init__(self, comm, *, hosts=None):
        self._comm = comm.Dup()
        self.rank, self.size = comm.rank, comm.size
        if hosts is None:
            near = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
            hosts = self._comm.allgather(near.bcast(self.rank))  # its first rank names a host
            near.Free()
        self.hosts = list(hosts)
        if len(self.hosts) != self.size:
            raise ValueError(f"{self.size} ranks have {self.size} hosts, not {len(self.hosts)}.")
        self._broken = None

    def exchange(self, data, *, timeout=60.0):
        """Return what each rank passed, bytes, as a list by rank. All ranks call it."""
        self._check()
        deadline = time.monotonic() + timeout
        counts = array("q", bytes(8 * self.size))
        own = array("q", [len(data)])
        request = self._comm.Iallgather([own, MPI.INT64_T], [counts, MPI.INT64_T])
        self._wait([request], deadline, timeout, (own, counts))
        received = bytearray(sum(counts))
        request = self._comm.Iallgatherv([data, MPI.BYTE], [received, (counts, None), MPI.BYTE])
        self._wait([request], deadline, timeout, (data, received))
        result, start = [], 0
        for count in counts:
            result.append(bytes(received[start : start + count]))
            start += count
        return result

    def send(self, tensor, rank):
        """Begin to send a tensor, of any strides. Returns what wait() waits for."""
        self._check()
        return self._comm.Isend(mpi.message(tensor), rank)

    def receive(self, tensor, rank):
        """Begin to receive a tensor's elements. Returns what wait() waits for."""
        self._check()
        return self._comm.Irecv(mpi.message(tensor), rank)

    def wait(self, requests, *, timeout=60.0):
        """Wait until the elements are sent and received. Raises TimeoutError."""
        self._wait(requests, time.monotonic() + timeout, timeout, ())

    def abandon(self):
        """Use the group no more. The others get a TimeoutError."""
        self._broken = self._broken or "it was interrupted"

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

    def _wait(self, requests, deadline, timeout, buffers):
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
            _pending.append((requests, buffers))
            raise


_pending: list = []  # what MPI may still read and write
