"""The process that runs the checks of a library: imports it once, and forks for each check.

    python -m dlpack_conformance.worker ADAPTER DEVICE < tasks

A task is [rule, index of the check among those of the rule, case]. The first answer is the
library's version, or the problem that it can't be imported. On CUDA devices the checks share
this process: a driver that is initialised can't be used after a fork, and to initialise it takes
seconds.
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
    adapter = adapters.load(sys.argv[1]).on(sys.argv[2])
    try:
        version = str(Script(adapter).evaluate(adapter.version))
    except Exception as error:  # the library can't be imported
        worker.answer(problem=describe(error))
        return
    worker.answer(version=version)
    checks = {}
    for check in all_checks():
        checks.setdefault(check.rule, []).append(check.function)
    worker.serve(
        lambda answer, rule, index, case: _run(answer, adapter, checks[rule][index], case),
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
    answer(status=status, seen=seen, lines=lines)
    gc.collect()
    _scripts.append(script)
    return status == BROKEN


# A library may call a deleter, which is a script's function, long after the script.
_scripts: list = []


if __name__ == "__main__":
    main()
