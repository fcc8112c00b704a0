"""The process that runs the checks of a library, which it imports once.

    python -m dlpack_conformance.worker ADAPTER DEVICE WHOLE < tasks

A task is [rule, case]. The first answer is the library's version, or the problem that it can't be
imported. With WHOLE each case is tried, whatever has failed. On CUDA devices the checks share this
process: a driver that is initialised can't be used after a fork, and to do so takes seconds.
"""

import gc
import sys

from . import adapters
from .checks import all_checks
from .processes import Worker
from .results import BROKEN, KEPT, NOT_APPLICABLE
from .script import BrokenRuleError, KeptRuleError, NotApplicableError, Script, describe


def main():
    worker = Worker()
    reference, device, whole = sys.argv[1:]
    adapter = adapters.load(reference).on(device)
    try:
        version = " ".join(str(Script(adapter).evaluate(adapter.version)).split())
    except BaseException as error:  # the library can't be imported, or exits
        worker.answer(problem=describe(error))
        return
    worker.answer(version=version)
    checks = all_checks()
    worker.serve(
        lambda answer, rule, case: _run(answer, adapter, checks[rule].function, case),
        None if whole == "True" else lambda rule, case: (rule, str(case).partition(", ")[0]),
        may_fork=adapter.device == "cpu",
    )


def _run(answer, adapter, function, case):
    """Run a check, and answer with its lines and its result. Returns whether it failed."""
    script, lines = None, []
    try:
        script = Script(adapter, answer)
        lines = script.lines
        script.begin()
        function(script) if case is None else function(script, case)
        status, seen = KEPT, ""
    except KeptRuleError as error:
        status, seen = KEPT, str(error)
    except NotApplicableError as error:
        status, seen = NOT_APPLICABLE, str(error)
    except BrokenRuleError as error:
        status, seen = BROKEN, str(error)
    except Exception as error:
        status, seen = BROKEN, describe(error)
    if script:
        script.end()
    gc.collect()  # a crash in here is this task's
    answer(status=status, seen=seen, lines=lines if status == BROKEN else [])
    _scripts.append(script)
    return status == BROKEN


# A library may call a deleter, which is a script's function, long after the script.
_scripts: list = []


if __name__ == "__main__":
    main()
