"""A pipe of multiprocessing, and memory that both processes map: its name goes through a pipe."""

import multiprocessing
from multiprocessing import shared_memory

import numpy as np
import remote
import torch.multiprocessing  # noqa: F401  (PyTorch's tensors then go through pipes in its own way)

import dovetail as dt


def serve(connection):
    """Answer what comes through the connection, until it is None."""
    while (message := connection.recv()) is not None:
        function, value, is_name = message
        answer = open_and_answer if is_name else remote.answer
        connection.send(answer(function, value))
        del value, message


def open_and_answer(function, name):
    """Return the answer on the memory of that name, which is closed again."""
    if isinstance(name, dt.ipc.Handle):
        return remote.answer(function, dt.ipc.open(name))
    segment, shape, strides, dtype = name
    block = shared_memory.SharedMemory(segment)
    try:
        return remote.answer(function, np.ndarray(shape, dtype, block.buf, strides=strides))
    finally:
        block.close()


class Pipe:
    """Connection.send: the pickle, with the memory in it. PyTorch moves its memory to a file."""

    name = "multiprocessing.Pipe"
    shared = False

    def __enter__(self):
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs,), daemon=True)
        self._process.start()
        return self

    def __exit__(self, *exception):
        self._connection.send(None)
        self._process.join()

    def ask(self, function, value, is_name=False):
        """Return remote.`function` of the value, called in the other process."""
        self._connection.send((function, value, is_name))
        return remote.answered(self._connection.recv())


class SharedMemory(Pipe):
    """Only a name travels: dovetail.ipc, multiprocessing.shared_memory, PyTorch's files."""

    name = "shared memory"
    shared = True

    def __enter__(self):
        self._array = self._block = None
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._unlink()

    def _unlink(self):
        if self._block is not None:
            self._block.close()
            self._block.unlink()

    def ask(self, function, value, is_name=True):
        if isinstance(value, dt.Tensor):
            return super().ask(function, dt.ipc.share(value), True)
        if isinstance(value, np.ndarray):
            return super().ask(function, self._name(value), True)
        return super().ask(function, value, False)

    def _name(self, array):
        """The array's elements in a block, which is made once, as for our tensor and PyTorch's."""
        if self._array is not array:
            self._unlink()
            self._block = shared_memory.SharedMemory(create=True, size=array.nbytes)
            place = array.shape, array.dtype, self._block.buf
            np.ndarray(*place, strides=array.strides)[...] = array
            self._array = array
        return self._block.name, array.shape, array.strides, array.dtype
