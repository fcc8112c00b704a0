"""A check is a script that is written down while it runs: a fault is its own reproduction.

    def a_copy_is_flagged(s):
        s.run("x = np.array([1, 2])")
        s.run("capsule = x.__dlpack__(max_version=(1, 0), copy=True)")
        ...
        s.expect("flags & 2", "the flags of a copy are {flags}")

Each line runs in one namespace and is recorded first: after a crash the last recorded line is the
one that crashed.
"""

import re

from . import cuda
from .memory import MEMORIES

# What lines may use without importing it; the reproduction imports what it names.
MODULES = ("ctypes", "gc", "math", "mmap", "os", "resource", "struct", "sys", "threading", "time")


class BrokenRuleError(Exception):
    """The library does otherwise than the rule says. The message is what was seen."""


class NotApplicableError(Exception):
    """The rule says nothing here. The message is the reason."""


class KeptRuleError(Exception):
    """The library may do this and no more is to be seen. The message is what it does."""


class Script:
    """The lines of one check of one library, run as they are added."""

    def __init__(self, adapter, record=lambda **what: None):
        self.adapter, self.lines, self._record = adapter, [], record
        self.namespace = {"__name__": "__main__", **{name: __import__(name) for name in MODULES}}
        self._code = []  # a capsule's name may be a constant of a line
        self.memory = MEMORIES[adapter.device]
        self.execute(adapter.setup)

    def begin(self):
        """Run what the lines may use. It may initialise the device's driver, which is then of no
        use to forked processes."""
        if self.adapter.device == "cuda":
            for block in cuda.preamble():
                self.execute(block)

    def end(self):
        if "gate" in self.namespace:
            gate = self.namespace["gate"]
            gate[0] = 1  # a process with a stream that is held up may not end
            gate[4] = 1  # the watchdog ends: the scripts that share a process have one each

    def __getitem__(self, name):
        return self.namespace[name]

    def execute(self, line):
        """Run lines that the reproduction does not need."""
        self._code.append(compile(line, "<check>", "exec"))
        exec(self._code[-1], self.namespace)

    def evaluate(self, expression):
        return eval(expression, self.namespace)

    def run(self, line):
        """Run a line, which may be a block, as a part of the reproduction."""
        self.note(line)
        self.execute(line)

    def note(self, line):
        """Add a line to the reproduction."""
        self.lines.append(line)
        self._record(line=line)

    def show(self, struct):
        """Add a struct, as structs.dump() makes it, to the result, in place of the last one."""
        self._record(struct=struct)

    def tried(self, line):
        """Run a line that may fail, and return the exception if it does. A failed line is dropped,
        and what its traceback holds is freed."""
        self.note(line)
        try:
            self.execute(line)
        except Exception as error:
            self.lines.pop()
            self._record(dropped=True)
            return error.with_traceback(None)
        return None

    def expect(self, condition, seen):
        """Assert a condition. `seen` tells what is wrong, and may name variables in braces."""
        message = f"f{seen!r}" if "{" in seen else repr(seen)
        self.note(f"assert {condition}, {message}")
        if not self.evaluate(condition):
            raise BrokenRuleError(self.evaluate(message))
        self.lines.pop()

    def broken(self, seen):
        """Report what was seen in the last line, which should have raised an exception."""
        line = self.lines.pop().replace("\n", "\n    ")
        self.note(f"try:\n    {line}\nexcept Exception: pass\nelse: raise AssertionError({seen!r})")
        raise BrokenRuleError(seen)

    def raised(self, line, seen):
        """Report that a line raised what it should not have."""
        self.note(line)
        raise BrokenRuleError(seen)


def reproduction(adapter, lines):
    """The script of a check, which runs by itself with the library alone."""
    blocks = cuda.preamble([adapter.setup, *lines]) if adapter.device == "cuda" else []
    text = "\n".join([*blocks, *lines])
    used = [name for name in MODULES if re.search(rf"\b{name}\.", text)]
    imports = [f"import {', '.join(used)}"] if used else []
    return [*imports, *blocks, *adapter.setup.splitlines(), *lines]


def describe(error):
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
