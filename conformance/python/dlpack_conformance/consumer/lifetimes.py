"""How a consumer ends: what it names the capsule, when it calls the deleter, what it writes."""

from ..checks import check
from ..exports import VALUES, need
from ..lending import expect_values, lend, memory, take, taking
from ..script import NotApplicableError
from .accepts import _EMPTY, _lend_empty

_KINDS = ["versioned", "legacy"]


def _wait(s):
    """Wait for the deleter, which may be called later. A library may call it when it is called, and
    finds that the device has ended its work on the memory."""
    call = f"{s.adapter.array_of([1])}, " if s.adapter.array and s.adapter.device != "cpu" else ""
    return f"gc.collect(); [({call}time.sleep(0.01)) for _ in range(200) if not deleted]"


def _lend(s, kind, **more):
    memory(s)
    lend(s, version=(1, 3) if kind == "versioned" else "legacy", **more)
    take(s)


@check("consumer.renames", _KINDS)
def renames(s, kind):
    _lend(s, kind)
    s.expect("'\"used_' in repr(capsule)", "after the import there is {capsule!r}")


@check("consumer.used-capsule", _KINDS)
def used_capsule(s, kind):
    _lend(s, kind)
    line = taking(s).replace("y =", "z =")
    if s.tried(line) is None:
        s.broken("a capsule is taken in twice")


@check("consumer.deletes", _KINDS)
def deletes(s, kind):
    memory(s)
    # Freed memory gets other values, so that a library may also copy and free at once.
    s.run(f"def free(address): deleted.append(address); {s.memory.overwrite(12, 99)}")
    lend(s, version=(1, 3) if kind == "versioned" else "legacy", function="free")
    take(s)
    s.run(f"z = {s.adapter.view.format(y='y')}" if s.adapter.view else "z = y")
    s.run("del y; gc.collect()")
    expect_values(s, VALUES[1:] if s.adapter.view else VALUES, "z")
    s.run(f"del z; {_wait(s)}")
    s.expect("len(deleted) == 1", "the deleter was called {len(deleted)} times")
    s.expect("deleted == [ctypes.addressof(managed)]", "the deleter got {deleted}")


@check("consumer.empty-deletes", _EMPTY)
def empty_deletes(s, case):
    _lend_empty(s, case)
    take(s)
    s.run(f"del y; {_wait(s)}")
    s.expect("len(deleted) == 1", "the deleter was called {len(deleted)} times")


@check("consumer.null-deleter", _KINDS)
def null_deleter(s, kind):
    _lend(s, kind, function=None)
    s.run("del y; gc.collect()")


@check("consumer.null-context", _KINDS)
def null_context(s, kind):
    _lend(s, kind, manager_ctx=0)
    s.run(f"del y; {_wait(s)}")
    s.expect("len(deleted) == 1", "the deleter was called {len(deleted)} times")


@check("consumer.exception", _KINDS, devices=["cpu"])
def exception(s, kind):
    memory(s)
    # A deleter in C that does nothing: one in Python would not keep the exception.
    idle = "ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value"
    lend(s, version=(1, 3) if kind == "versioned" else "legacy", function=None, deleter=idle)
    s.run("caught = None")
    expression = s.adapter.take.format(x="x")
    s.run(f"try: [{expression}, 1 / 0]\nexcept BaseException as error: caught = repr(error)")
    if not s.evaluate("'used_' in repr(capsule)"):
        raise NotApplicableError(f"it is refused: {s['caught']}")
    s.expect(
        "caught == \"ZeroDivisionError('division by zero')\"",
        "in place of ZeroDivisionError there is {caught}",
    )


@check("consumer.read-only")
def read_only(s):
    write = need(s.adapter.write, "the library's arrays are immutable")
    memory(s)
    lend(s, version=(1, 3), flags=1)
    take(s)
    if s.tried(write.format(y="y")):
        return
    s.run(f"elements = {s.memory.contents}")
    s.expect("elements == list(range(12))", "read-only memory has been written: {elements}")


@check("consumer.writes-nothing", ["READ_ONLY", "no flag"])
def writes_nothing(s, case):
    memory(s)
    if s.adapter.device == "cpu":
        s.run(
            "ctypes.CDLL(None).mprotect(ctypes.c_void_p(ctypes.addressof(data)), 4096, "
            "mmap.PROT_READ)"
        )
    lend(s, **({"version": (1, 3), "flags": 1} if case == "READ_ONLY" else {}))
    take(s)
    expect_values(s, VALUES)
    if s.adapter.device != "cpu":
        s.run(f"after = {s.memory.bytes(48, 'data')}")
        s.expect("after == struct.pack('=12f', *range(12))", "the memory has {after}")
