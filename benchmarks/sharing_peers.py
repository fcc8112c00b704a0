"""What does a tensor cost that another process reads, by shared memory and by pickles?

./bazelw run -c opt //benchmarks:sharing_peers [-- DIRECTORY]

Each call makes a tensor of PyTorch, fills it from another one, shares it, sends its name through a
pipe, waits until the other process has opened it and read an element, and frees it. "To 8" sends
the name to eight processes and waits for all. "fill" is the copy alone, and "pipe" the round trip
of 64 bytes alone. All processes run on one processor, since waking another one costs more than the
rest. "Writer's part" is what the writer does itself: make, fill, share and free; the readers are on
the other processors. With a directory, also writes sharing_peers.md and sharing_peers.svg there.
"""

import contextlib
import multiprocessing
import os
import pickle
import time
from multiprocessing import shared_memory
from multiprocessing.reduction import ForkingPickler

import machine
import measure
import numpy as np
import report
import torch
import torch.multiprocessing

import dovetail as dt

KIB, MIB = 1 << 10, 1 << 20
READERS = 8

NOTE = """float32 tensors; two processes, PyTorch on both sides, connected by a pipe. A call is
make, fill, share, send, open, read, answer, free. All on one processor. The writer's part is make,
fill, share and free, with the readers on the other processor."""


def take_by_dovetail(message):
    return torch.from_dlpack(dt.ipc.open(message))[-1].item()


def take_by_shared_memory(message):
    block = shared_memory.SharedMemory(message.decode())
    value = torch.frombuffer(block.buf, dtype=torch.float32)[-1].item()
    block.close()
    return value


def take_by_pickle(message):
    return pickle.loads(message)[-1].item()


def take_nothing(message):
    return None


def serve(connection, take):
    torch.set_num_threads(1)
    with contextlib.suppress(EOFError):
        while True:
            take(connection.recv_bytes())
            connection.send_bytes(b"done")


class Readers:
    """Processes that take what is sent to them."""

    def __init__(self, take, count=READERS):
        context = multiprocessing.get_context("spawn")
        self._ends, self._processes = [], []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=serve, args=(theirs, take), daemon=True)
            process.start()
            self._ends.append(ours)
            self._processes.append(process)

    def run_on(self, processors):
        for process in self._processes:
            os.sched_setaffinity(process.pid, processors)

    def send(self, message, count=1):
        self.send_each([message] * count)

    def send_each(self, messages):
        count = len(messages)
        for end, message in zip(self._ends, messages, strict=False):
            end.send_bytes(message)
        for end in self._ends[:count]:
            end.recv_bytes()


class Ways:
    """The ways from a filled tensor to a reader, each with readers of its own."""

    def __init__(self):
        self._pool = dt.ipc.Pool(512 * MIB)
        self._dovetail = Readers(take_by_dovetail)
        self._blocks = Readers(take_by_shared_memory)
        self._pickles = Readers(take_by_pickle)
        self._nothing = Readers(take_nothing, 1)

    def pool(self, source, count=1):
        _t, message = self._shared(source)
        self._dovetail.send(message, count)

    def _shared(self, source):
        t = self._pool.empty(source.shape, dtype="float32")
        torch.from_dlpack(t).copy_(source)
        return t, self._pool.share(t)

    def writers_part(self, source, count, calls=100):
        """The time of the writer's own part of pool()."""
        spent = 0
        for _ in range(calls):
            begin = time.perf_counter_ns()
            t, message = self._shared(source)
            spent += time.perf_counter_ns() - begin
            self._dovetail.send(message, count)
            begin = time.perf_counter_ns()
            del t
            spent += time.perf_counter_ns() - begin
        return measure.Time(spent / calls, spent / calls, calls)

    def writers_row(self, name, nbytes, repetitions):
        others = machine.ALLOWED - os.sched_getaffinity(0)
        self._dovetail.run_on(others or machine.ALLOWED)
        source = torch.rand(nbytes // 4)
        counts = {"dovetail": READERS, "to one reader": 1}
        times = {name: [] for name in counts}
        for _ in range(repetitions):
            for library, count in counts.items():
                times[library].append(self.writers_part(source, count))
        return measure.Row(name, {}, "to one reader", 1.3, times)

    def handle(self, source, count=1):
        t = dt.ipc.empty(source.shape, dtype="float32")
        torch.from_dlpack(t).copy_(source)
        self._dovetail.send(bytes(dt.ipc.share(t)), count)

    def shared_memory(self, source, count=1):
        block = shared_memory.SharedMemory(create=True, size=source.nbytes)
        array = np.ndarray(source.shape, np.float32, block.buf)
        torch.from_numpy(array).copy_(source)
        self._blocks.send(block.name.encode(), count)
        del array
        block.close()
        block.unlink()

    def torch(self, source, count=1):
        t = torch.empty_like(source).copy_(source)
        # PyTorch counts on one reader for each pickle.
        self._pickles.send_each([bytes(ForkingPickler.dumps(t)) for _ in range(count)])

    def pickle(self, source, count=1):
        t = torch.empty_like(source).copy_(source)
        self._pickles.send(pickle.dumps(t.numpy(), protocol=5), count)

    def pipe(self, source, count=1):
        self._nothing.send(bytes(64))


def row(ways, name, nbytes, goal, baseline, count=1):
    source = torch.rand(nbytes // 4)
    target = torch.empty_like(source)
    functions = {
        "dovetail": lambda: ways.pool(source, count),
        "dovetail's handles": lambda: ways.handle(source, count),
        "torch": lambda: ways.torch(source, count),
        "shared_memory": lambda: ways.shared_memory(source, count),
        "pickle": lambda: ways.pickle(source, count),
        "fill": lambda: target.copy_(source),
        "pipe": lambda: ways.pipe(source),
    }
    return measure.Row(name, functions, baseline, goal)


def main():
    torch.set_num_threads(1)
    torch.multiprocessing.set_sharing_strategy("file_system")
    program = report.Program(report.parser(__doc__).parse_args())
    ways = Ways()
    rows = [
        row(ways, "64 KiB", 64 * KIB, 0.85, "pickle"),
        row(ways, "1 MiB", MIB, 0.3, "pickle"),
        row(ways, "64 MiB", 64 * MIB, 1.8, "fill"),
        row(ways, "64 KiB, to 8", 64 * KIB, 0.85, "pickle", READERS),
        row(ways, "1 MiB, to 8", MIB, 0.3, "pickle", READERS),
    ]
    measured = program.measure(rows)
    if program.is_whole:
        repetitions = program.repetitions(measure.REPETITIONS)
        measured.append(ways.writers_row("1 MiB, to 8: writer's part", MIB, repetitions))
    program.publish("sharing_peers", "Tensors to other processes", NOTE, measured)


if __name__ == "__main__":
    main()
