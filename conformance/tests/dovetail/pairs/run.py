"""Runs the exchanges of all pairs of libraries, in a process for each two libraries."""

import concurrent.futures
import itertools
import os

from dlpack_conformance import adapters
from dlpack_conformance.processes import answers
from dlpack_conformance.script import reproduction

from .exchange import both, expression_of
from .inputs import INPUTS
from .results import DONE, DOVETAIL, NONE, OWN, WAYS, Exchange, Matrix


def run_pairs(libraries=None, inputs=None):
    """Try every exchange of an array between two libraries, and return a Matrix of the results.

    `libraries` are names that the kit knows, or paths of files with an ADAPTER (default: all that
    are installed); `inputs` are names of arrays (default: all). Where Dovetail is among the
    libraries, dovetail.convert() is tried, too. Raises LookupError if there is no such adapter.
    """
    references = adapters.installed() if libraries is None else libraries
    loaded = {reference: adapters.load(reference) for reference in references}
    matrix = Matrix([adapter.name for adapter in loaded.values()])
    ways = WAYS if DOVETAIL in matrix.libraries else [OWN]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(lambda two: _run_two(two, ways, inputs or INPUTS),
                            itertools.combinations(loaded.items(), 2)):  # fmt: skip
            matrix.add(one)
    return matrix


def _run_two(two, ways, inputs):
    """The Matrix of two libraries, which are pairs of (reference, adapter)."""
    references, pair = zip(*two, strict=True)
    matrix = Matrix([adapter.name for adapter in pair])
    tasks = []
    for index, way, name in itertools.product((0, 1), ways, inputs):
        producer, consumer = pair[index], pair[1 - index]
        if INPUTS[name].expressions(producer) and expression_of(consumer, way):
            tasks.append([index, way, name])
        else:
            matrix.exchanges.append(Exchange(producer.name, consumer.name, way, name, NONE))
    for task, answer in answers(f"{__package__}.worker", references, tasks):
        if task is not None:
            matrix.exchanges.append(_exchange(pair, *task, **answer))
        elif "problem" in answer:
            matrix.problems.append(f"{' and '.join(matrix.libraries)}: {answer['problem']}")
        else:
            matrix.versions.update(zip(matrix.libraries, answer["versions"], strict=True))
    return matrix


def _exchange(pair, index, way, name, status, seen, lines, nanoseconds=None, errors=""):
    producer, consumer = pair[index], pair[1 - index]
    shown = [] if status in DONE else reproduction(both(producer, consumer, way), lines)
    return Exchange(
        producer.name, consumer.name, way, name, status, seen, nanoseconds, shown, errors
    )
