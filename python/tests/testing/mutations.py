"""Runs scenes that may crash: memory is shared, then its first owner is changed.

    outcomes = play(SETUP, doors, mutations)     # {"door | mutation": "kept", "lost" or "crashed"}

Each scene runs in a forked child of one process that has imported the libraries. SETUP is code that
defines make(), which returns an owner with the float32 values 0, 1, 2, ... A door is an expression
over the owner x that gives a NumPy array over its memory. A mutation is a statement over x. "kept"
means that the array still has its values, even after other memory was allocated and written. A
mutation may also keep the memory by raising an error.
"""

import json

from process import run_python

COUNT = 250_000  # 1 MB, which malloc maps: reading it after free crashes or gives 7

_PROLOGUE = """
import json, os, resource, signal, warnings
import numpy as np
warnings.simplefilter("ignore")
COUNT = {count}
"""

_EPILOGUE = """
def scene(door, mutation):
    names = dict(globals(), x=make())
    array = names["array"] = eval(door, names)
    assert array[1] == 1, array
    try:
        exec(mutation, names)
    except Exception:
        pass
    filler = [np.full(COUNT, 7, np.float32) for _ in range(8)] + [make() for _ in range(2)]
    for f in filler[-2:]:
        f[:] = 7
    kept = array[1] == 1 and array[COUNT - 1] == COUNT - 1
    os._exit(0 if kept else 10)

def play(door, mutation):
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(60)
        for crash in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT):
            signal.signal(crash, signal.SIG_DFL)  # Paddle's own handlers can wait forever
        os.close(2)
        try:
            scene(door, mutation)
        finally:
            os._exit(20)
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return {0: "kept", 10: "lost", 20: "no scene"}.get(code, "crashed")

played = {f"{d} | {m}": play(doors[d], mutations[m]) for d in doors for m in mutations}
print(json.dumps(played), flush=True)
os._exit(0)  # Paddle's exit handlers can crash in a process that has forked
"""


def play(setup, doors, mutations):
    given = f"\ndoors = {doors!r}\nmutations = {mutations!r}\n"
    code = _PROLOGUE.format(count=COUNT) + setup + given + _EPILOGUE
    return json.loads(run_python(code).splitlines()[-1])
