"""What does it cost to reshard a tensor, beside MPI, DTensor and a plain copy?

./bazelw run -c opt //benchmarks:reshard_peers [-- DIRECTORY]

A float32 matrix of 64 MiB has its rows on two or four ranks, and gets its columns there. All ranks
are on this machine and are started by mpirun. The time is that until all ranks are done, with what
it takes to tell them ("nothing"). "messages" is Dovetail with each rank on a host of its own, as it
were. "Alltoallw" has MPI's subarray types; "pack, Alltoall" copies by NumPy to and from contiguous
buffers; "DTensor" is redistribute() by gloo. "memcpy" copies each rank's rows by NumPy, in all
ranks at once, from shared to private memory, as Dovetail does; "memcpy, private" from private
memory. The
first run installs the engines (environment.py).
"""

import multiprocessing.connection
import pathlib
import shutil
import subprocess
import sys

import environment

environment.use()

import measure  # noqa: E402
import mpi_settings  # noqa: E402
import report  # noqa: E402

WAYS = [
    "dovetail",
    "messages",
    "Alltoallw",
    "pack, Alltoall",
    "DTensor",
    "memcpy",
    "memcpy, private",
    "nothing",
]
NOTE = """How long `dt.Reshard` takes. 64 MiB of float32, from rows to columns; all ranks on one
machine, by Open MPI. A ratio is Dovetail's time, through shared memory, divided by that of the
named way."""


class Ranks:
    """Ranks of MPI that do what they are told, and say when all are done."""

    def __init__(self, count):
        program = pathlib.Path(__file__).with_name("reshard_ranks.py")
        with multiprocessing.connection.Listener(family="AF_UNIX") as listener:
            command = [shutil.which("mpirun"), "-n", str(count), "--bind-to", "none"]
            command += [sys.executable, program, listener.address]
            self._process = subprocess.Popen(command)
            self._connection = listener.accept()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._connection.send(None)
        self._process.wait()

    def run(self, way):
        self._connection.send(way)
        if self._connection.recv() != "done":
            raise RuntimeError(f"{way}: wrong elements")

    def row(self, name, baseline, goal):
        for way in WAYS:
            self.run(way)
            self.run("check " + way)
        functions = {way: lambda way=way: self.run(way) for way in WAYS}
        return measure.Row(name, functions, baseline, goal)


def main():
    mpi_settings.use()
    options = report.parser(__doc__).parse_args()
    # (The ranks are started first: the program pins itself, and what it starts, to one processor.)
    with Ranks(2) as two, Ranks(4) as four:
        program = report.Program(options)
        rows = [
            two.row("2 ranks", "Alltoallw", 0.4),
            four.row("4 ranks", "memcpy", 1.25),
        ]
        program.publish("reshard_peers", "Reshard", NOTE, program.measure(rows))


if __name__ == "__main__":
    main()
