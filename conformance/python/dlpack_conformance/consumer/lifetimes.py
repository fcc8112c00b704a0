"""How a consumer ends: what it names the capsule, when it calls the deleter, what it writes."""

from ..checks import check
from ..doors import CAPSULES, kind_of
from ..exports import VALUES, need
from ..growth import expect_steady
from ..lending import NEW_CAPSULE, VERSIONS, expect_values, lend, memory, must_take, take, taking
from ..script import NotApplicableError
from .accepts import _EMPTY, _lend_empty

# A deleter in C that does nothing: one in Python would not keep an exception, and leaves numbers.
_IDLE = "ctypes.cast(ctypes.CDLL(None).labs, ctypes.c_void_p).value"


def _wait(s):
    """Wait for the deleter, which may be called later. A library may call it when it is called, and
    finds that the device has ended its work on the memory."""
    call = f"{s.adapter.array_of([1])}, " if s.adapter.array and s.adapter.device != "cpu" else ""
    return f"gc.collect(); [({call}time.sleep(0.01)) for _ in range(200) if not deleted]"


def _lend(s, kind, **more):
    memory(s)
    lend(s, version=VERSIONS[kind], **more)
    take(s)


@check("consumer.renames", CAPSULES)
def renames(s, kind):
    _lend(s, kind)
    s.run(f'used = "{kind_of(kind).used_name}"')
    s.expect("f'\"{used}\"' in repr(capsule)", "after the import there is {capsule!r}")


@check("consumer.used-capsule", CAPSULES)
def used_capsule(s, kind):
    _lend(s, kind)
    line = taking(s).replace("y =", "z =")
    if s.tried(line) is None:
        s.broken("a capsule is taken in twice")


@check("consumer.deletes", CAPSULES)
def deletes(s, kind):
    memory(s)
    # Freed memory gets other values, so that a library may also copy and free at once.
    s.run(f"def free(address): deleted.append(address); {s.memory.overwrite(12, 99)}")
    lend(s, version=VERSIONS[kind], function="free")
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


@check("consumer.null-deleter", CAPSULES)
def null_deleter(s, kind):
    _lend(s, kind, function=None)
    s.run("del y; gc.collect()")


@check("consumer.null-context", CAPSULES)
def null_context(s, kind):
    _lend(s, kind, manager_ctx=0)
    s.run(f"del y; {_wait(s)}")
    s.expect("len(deleted) == 1", "the deleter was called {len(deleted)} times")


@check("consumer.exception", CAPSULES, devices=["cpu"])
def exception(s, kind):
    memory(s)
    lend(s, version=VERSIONS[kind], function=None, deleter=_IDLE)
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
    need(s.adapter.read_only, "the library has no read-only arrays, and should ignore the flag")
    memory(s)
    lend(s, version=(1, 3), flags=1)
    take(s)
    if s.tried(write.format(y="y")):
        return
    s.run(f"elements = {s.memory.contents}")
    s.expect("elements == list(range(12))", "read-only memory has been written: {elements}")


@check("consumer.read-only-ignored")
def read_only_ignored(s):
    if s.adapter.read_only:
        raise NotApplicableError("the library has read-only arrays")
    memory(s)
    lend(s, version=(1, 3), flags=1)
    must_take(s)
    expect_values(s, VALUES)


@check("consumer.leak", CAPSULES, ["cpu"])
def leak(s, kind):
    _lend(s, kind, function=None, deleter=_IDLE)
    s.run("del y")
    s.run(f"new = {NEW_CAPSULE}")
    body = f"capsule = new(managed, name, None)\n{taking(s)}\ny = None"
    s.run("references = sys.getrefcount(x)")
    expect_steady(s, body, "an array that was taken in")
    s.expect(
        "sys.getrefcount(x) < references + 50",
        "there are {sys.getrefcount(x) - references} more references to the producer",
    )


@check("consumer.writes-nothing", ["READ_ONLY", "legacy"])
def writes_nothing(s, case):
    memory(s)
    if s.adapter.device == "cpu":
        s.run(
            "ctypes.CDLL(None).mprotect(ctypes.c_void_p(ctypes.addressof(data)), 4096, "
            "mmap.PROT_READ)"
        )
    lend(s, **({"version": (1, 3), "flags": 1} if case == "READ_ONLY" else {"version": "legacy"}))
    take(s)
    expect_values(s, VALUES)
    if s.adapter.device != "cpu":
        s.run(f"after = {s.memory.bytes(48, 'data')}")
        s.expect("after == struct.pack('=12f', *range(12))", "the memory has {after}")
