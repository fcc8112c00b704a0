"""What does it cost to carry a tensor to another process, compared with NumPy's and PyTorch's?

./bazelw run -c opt //benchmarks:carriage [-- DIRECTORY] [--quick]

Engines carry the same matrix as a tensor of each library from one process to another on this
machine. The time is that until the other process has it and has answered; a ratio is Dovetail's
time divided by NumPy's through the same engine. First the other process tells what it saw, and how
often Dovetail allocated memory on both sides, as each copy of its own would. The first run installs
the engines (environment.py).
"""

import pickle
import sys

import environment

environment.use()

from pipes import Pipe, SharedMemory  # noqa: E402

import machine  # noqa: E402
import measure  # noqa: E402
import report  # noqa: E402
from dask_workers import Workers  # noqa: E402
from mpi import Buffers, Objects  # noqa: E402
from ray_actor import Actor  # noqa: E402
from remote import seen  # noqa: E402
from values import KINDS, SIZES, values  # noqa: E402

import dovetail as dt  # noqa: E402

ENGINES = [Pipe, SharedMemory, Objects, Buffers, Workers, Actor]
MESSAGES = 10


def facts(engine, value):
    """Return what the other process saw, and how often Dovetail allocated for MESSAGES messages."""
    engine.ask("seen", value)  # what is made once
    ours = dt.allocator_stats("cpu")["allocations"]
    theirs = engine.ask("seen", value)["allocations"]
    for _ in range(MESSAGES):
        fact = engine.ask("seen", value)
    made = dt.allocator_stats("cpu")["allocations"] - ours + fact.pop("allocations") - theirs
    return fact, made


def check(engine, kind, size, tensors):
    """Compare what arrives with what was sent. Return a line on Dovetail's own copies.

    Drops the tensors that the engine does not take.
    """
    sent = seen(tensors["dovetail"])
    del sent["allocations"]
    line = f"{engine.name}, {kind}, {size}: not taken"
    for library, value in list(tensors.items()):
        try:
            fact, made = facts(engine, value)
        except Exception as error:
            print(
                f"{engine.name}, {kind}: without {library}: {_first_line(error)}", file=sys.stderr
            )
            del tensors[library]
            continue
        assert fact["checksum"] == sent["checksum"], (engine.name, kind, library)
        if library == "dovetail":
            assert fact == sent, (engine.name, kind, fact, sent)
            line = f"{engine.name}, {kind}, {size}: {made} allocations in {MESSAGES} messages"
    return line


def _first_line(error):
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"


def carried(program, engine, sizes, lines):
    """Yield the measured rows of one engine."""
    for kind, goal in KINDS.items():
        for size, nbytes in sizes.items():
            if not program.selects(f"{engine.name}, {kind}, {size}"):
                continue
            tensors = values(kind, nbytes, shared=engine.shared)
            lines.append(check(engine, kind, size, tensors))
            functions = {
                library: lambda value=value: engine.ask("got", value)
                for library, value in tensors.items()
            }
            row = measure.Row(f"{engine.name}, {kind}, {size}", functions, "numpy", goal)
            yield from program.measure([row], repetitions=5)
            row.functions = {}  # lets the memory go


def own_share(program):
    """Return a row: what Dovetail adds to a message, beside what NumPy adds."""
    tensors = values("C order", 1024)
    ours, array = tensors["dovetail"], tensors["numpy"]
    functions = {"dovetail": lambda: carry_by_hand(ours), "numpy": lambda: carry_by_hand(array)}
    return program.measure([measure.Row("pickled and loaded, 1 KiB", functions, "numpy", 1.0)])


def carry_by_hand(value):
    buffers = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


NOTE = """Two processes on one machine. The time is that of a message and its answer, with Dask that
of a scatter."""


def main():
    made = report.parser(__doc__)
    made.add_argument("--quick", action="store_true", help="only 1 KiB and 1 MiB")
    options = made.parse_args()
    program = report.Program(options)
    machine.use_threads(2)
    sizes = {size: SIZES[size] for size in ("1 KiB", "1 MiB")} if options.quick else SIZES
    rows, lines = own_share(program), []
    for engine_class in ENGINES:
        if not any(
            program.selects(f"{engine_class.name}, {kind}, {size}")
            for kind in KINDS
            for size in sizes
        ):
            continue
        with engine_class() as engine:
            rows.extend(carried(program, engine, sizes, lines))
    program.publish("carriage", "Tensors between processes", NOTE, rows, more="\n".join(lines))


if __name__ == "__main__":
    main()
