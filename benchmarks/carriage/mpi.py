"""MPI (mpi4py with Open MPI): a second process that MPI spawns."""

import sys

import mpi_settings
import remote

import dovetail as dt


class Objects:
    """mpi4py.util.pkl5's send and recv: pickles of protocol 5, whose buffers are messages."""

    name = "MPI, objects"
    shared = False

    def __enter__(self):
        mpi_settings.use()
        from mpi4py import MPI
        from mpi4py.util import pkl5

        spawned = MPI.COMM_SELF.Spawn(sys.executable, args=[__file__], maxprocs=1)
        self._peer = pkl5.Intercomm(spawned)
        return self

    def __exit__(self, *exception):
        self._peer.send(None, 0)
        self._peer.Disconnect()

    def ask(self, function, value):
        """Return remote.`function` of the value, called in the other process."""
        self._peer.send((function, value), 0)
        return remote.answered(self._peer.recv(source=0))


class Buffers(Objects):
    """Send into a buffer that the other process has: no pickle, where MPI takes the memory.

    Tensors are passed to mpi4py as they are where it takes them, else by dovetail.mpi.
    """

    name = "MPI, buffers"

    def __enter__(self):
        self._prepared = None
        return super().__enter__()

    def ask(self, function, value):
        if self._prepared is not value:
            self._message = _way_into(value)
            super().ask("keep", value)
            self._prepared = value
        self._peer.send((function, None), 0)
        self._peer.Send(self._message(value), 0)
        return remote.answered(self._peer.recv(source=0))


def _way_into(value):
    """Return the function that makes mpi4py's message of such a value. BufferError without one."""
    from mpi4py import MPI

    try:
        MPI.COMM_SELF.Bcast(value)
    except BufferError:
        if not isinstance(value, dt.Tensor):
            raise
        from dovetail.mpi import message

        return message
    return lambda value: value


def serve():
    from mpi4py import MPI
    from mpi4py.util import pkl5

    peer = pkl5.Intercomm(MPI.Comm.Get_parent())
    while (message := peer.recv(source=0)) is not None:
        function, value = message
        if function == "keep":
            buffer, way, answer = value, _way_into(value), None
        elif value is None:
            peer.Recv(way(buffer), 0)
            answer = remote.answer(function, buffer)
        else:
            answer = remote.answer(function, value)
        del value, message
        peer.send(answer, 0)
    peer.Disconnect()


if __name__ == "__main__":
    serve()
