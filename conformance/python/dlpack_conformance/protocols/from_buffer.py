"""What a library makes of objects with buffers."""

from ..checks import check
from ..exports import need
from ..lending import expect_values
from ..script import KeptRuleError, NotApplicableError, describe

_BUFFERS = {
    "plain": ("x = __import__('array').array('f', range(4))", [0, 1, 2, 3]),
    "stepped": ("x = memoryview(__import__('array').array('f', range(8)))[::2]", [0, 2, 4, 6]),
    "reversed": ("x = memoryview(__import__('array').array('f', range(4)))[::-1]", [3, 2, 1, 0]),
}


def _take(s):
    """y = the array over x. Returns the exception if it is refused."""
    return s.tried(f"y = {s.adapter.take_buffer.format(x='x')}")


@check("from-buffer.elements", _BUFFERS, devices=["cpu"])
def elements(s, name):
    line, expected = _BUFFERS[name]
    s.run(line)
    error = _take(s)
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")
    expect_values(s, expected)


@check("from-buffer.read-only", devices=["cpu"])
def read_only(s):
    write = need(s.adapter.write, "the library's arrays are immutable")
    s.run("memory = bytearray(struct.pack('=4f', *range(4))); x = memoryview(memory).toreadonly()")
    error = _take(s)
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")
    if s.tried(write.format(y="y")) is None:
        s.run("values = [*struct.unpack('=4f', memory)]")
        s.expect("values == [0, 1, 2, 3]", "read-only memory has been written: {values}")


@check("from-buffer.holds", devices=["cpu"])
def holds(s):
    s.run("x = __import__('array').array('f', range(4))")
    error = _take(s)
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")
    s.run("x[0] = 7")
    s.run(f"shared = {s.adapter.values.format(y='y')}[0] == 7")
    # An array that has lent a buffer can't grow, which would move its memory.
    error = s.tried("x.extend(range(1 << 20))")
    if error is None and s["shared"]:
        s.broken("the memory is used without a buffer: it was moved meanwhile")
    s.run("del y; gc.collect()")
    error = s.tried("x.extend(range(1 << 20))")
    if error:
        s.raised("x.extend(range(1 << 20))", f"the buffer is not released: {describe(error)}")
