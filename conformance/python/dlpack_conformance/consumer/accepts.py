"""What has to be taken in: plain arrays of either kind of capsule, and how they are asked for."""

from ..checks import check
from ..doors import CAPSULES
from ..exports import VALUES
from ..lending import BEFORE_STRIDES, VERSIONS, lend, memory, must_have_values, must_take, taking
from ..script import NotApplicableError, describe


@check("consumer.accepts", CAPSULES)
def accepts(s, kind):
    memory(s)
    lend(s, version=VERSIONS[kind])
    must_take(s)
    must_have_values(s, VALUES)


def _must_ask(s):
    if "__dlpack__" in s.adapter.take:
        raise NotApplicableError("the library takes capsules alone")


@check("consumer.asks")
def asks(s):
    _must_ask(s)
    take = taking(s)
    s.run("calls = []")
    s.run(
        'x = type("Producer", (), {"__dlpack__": lambda self, **given: calls.append(given), '
        f'"__dlpack_device__": lambda self: {s.adapter.dlpack_device}}})()'
    )
    s.run(f"try: {take}\nexcept Exception: pass")
    s.expect("calls", "__dlpack__() is not called with keywords")
    s.expect(
        "(calls[0].get('max_version') or (0, 0)) >= (1, 0)", "__dlpack__() is called with {calls}"
    )
    if s.adapter.device == "cpu":
        s.expect("calls[0].get('stream') is None", "__dlpack__() is called with {calls}")


@check("consumer.old-producer")
def old_producer(s):
    _must_ask(s)
    memory(s)
    lend(s, version="legacy", arguments="stream=None")
    must_take(s)
    must_have_values(s, VALUES)


@check("consumer.propagates")
def propagates(s):
    _must_ask(s)
    s.run("class Producer:\n    def __dlpack__(self, **_): raise BufferError('not this one')")
    s.run(f"Producer.__dlpack_device__ = lambda self: {s.adapter.dlpack_device}; x = Producer()")
    error = s.tried(taking(s))
    if error is None:
        s.broken("there is no exception")
    if not isinstance(error, BufferError):
        s.raised(taking(s), f"in place of a BufferError there is {describe(error)}")


@check("consumer.minor")
def minor(s):
    memory(s)
    lend(s, version=(1, 99))
    must_take(s)
    must_have_values(s, VALUES)


@check("consumer.scalar", ["NULL shape and strides", "shape and strides"])
def scalar(s, how):
    memory(s, "[5]", count=1)
    null = how.startswith("NULL")
    lend(s, (), None if null else (), null_shape=null)
    must_take(s)
    must_have_values(s, 5)


_EMPTY = {
    "(0,), NULL": ((0,), (1,), 0),
    "(0,), data": ((0,), (1,), None),
    "(2, 0), NULL": ((2, 0), (1, 1), 0),
    "(2, 0), data": ((2, 0), (1, 1), None),
}


def _lend_empty(s, case):
    shape, strides, start = _EMPTY[case]
    memory(s)
    lend(s, shape, strides, **({} if start is None else {"start": "0"}))


@check("consumer.empty", _EMPTY)
def empty(s, case):
    _lend_empty(s, case)
    must_take(s)
    must_have_values(s, [] if case.startswith("(0,)") else [[], []])


@check("consumer.null-strides", CAPSULES)
def null_strides(s, kind):
    memory(s)
    lend(s, strides=None, version=BEFORE_STRIDES[kind])
    must_take(s)
    must_have_values(s, VALUES)
