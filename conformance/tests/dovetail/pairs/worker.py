"""The process that runs the exchanges of two libraries: imports both, and forks for each exchange.

    python -m pairs.worker ADAPTER ADAPTER < tasks

A task is [index of the producer among the two, way, input]. The first answer is the libraries'
versions, or the problem that they can't be imported together.
"""

import sys

from dlpack_conformance import adapters
from dlpack_conformance.processes import Worker
from dlpack_conformance.script import Script, describe

from .exchange import both, exchange


def main():
    worker = Worker()
    pair = [adapters.load(reference) for reference in sys.argv[1:]]
    try:
        for way in {way for _, way, _ in worker.tasks}:
            script = Script(both(*pair, way))
        versions = [str(script.evaluate(adapter.version)) for adapter in pair]
    except Exception as error:  # a library can't be imported
        worker.answer(problem=describe(error))
        return
    worker.answer(versions=versions)
    worker.serve(
        lambda answer, producer, way, name: exchange(
            answer, pair[producer], pair[1 - producer], way, name
        )
    )


if __name__ == "__main__":
    main()
