"""Scenes that may end in a crash: memory is handed on, then its first owner is changed.

    outcomes = play(SETUP, doors, mutations)     # {"door | mutation": "kept", "lost" or "crashed"}

Each scene runs in a child of one process that has imported the libraries. SETUP is code that
defines make(), which gives an owner with the values 0, 1, 2, ... as float32. A door is an
expression over the owner x that gives a NumPy array over its memory; a mutation is a statement over
x. "kept": the array still reads what it did, also after other memory was allocated and written. An
error that the mutation raises is a way to keep the memory.
"""

import json

from process import run_python

COUNT = 250_000  # 1 MB, which malloc maps: whoever reads it after it was freed crashes, or reads 7

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
            signal.signal(crash, signal.SIG_DFL)  # Paddle has handlers, which may wait for ever
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
os._exit(0)  # Paddle's own end may crash in a process that has forked
"""


def play(setup, doors, mutations):
    given = f"\ndoors = {doors!r}\nmutations = {mutations!r}\n"
    code = _PROLOGUE.format(count=COUNT) + setup + given + _EPILOGUE
    return json.loads(run_python(code).splitlines()[-1])
