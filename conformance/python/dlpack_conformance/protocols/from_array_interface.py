"""What a library makes of objects with __array_interface__."""

from ..cases import LAYOUTS, nested
from ..checks import check
from ..exports import VALUES, need
from ..lending import expect_values, memory
from ..script import KeptRuleError, NotApplicableError, describe


def _lend(s, shape=(3, 4), strides=None, at=0, read_only=False, typestr="<f4"):
    """x = an object over `data`, which `owner` shows to be alive."""
    s.run(
        f"interface = dict(version=3, shape={shape}, typestr={typestr!r}, strides={strides}, "
        f"data=(ctypes.addressof(data) + {at}, {read_only}))"
    )
    s.run('x = type("Owner", (), {"__array_interface__": interface})()')


def _take(s):
    """y = the array over x. Returns the exception if it is refused."""
    return s.tried(f"y = {s.adapter.take_interface.format(x='x')}")


@check("from-array-interface.elements", LAYOUTS, devices=["cpu"])
def elements(s, name):
    layout = LAYOUTS[name]
    memory(s)
    strides = None if name == "plain" else tuple(4 * stride for stride in layout.strides)
    _lend(s, tuple(layout.shape), strides, 4 * layout.offset)
    error = _take(s)
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")
    expect_values(s, nested(layout.shape, layout.places))


@check("from-array-interface.byte-order", devices=["cpu"])
def byte_order(s):
    memory(s, "struct.pack('>12f', *range(12))", "c_char", 48)
    _lend(s, typestr=">f4")
    error = _take(s)
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")
    expect_values(s, VALUES)


@check("from-array-interface.read-only", devices=["cpu"])
def read_only(s):
    write = need(s.adapter.write, "the library's arrays are immutable")
    memory(s)
    _lend(s, read_only=True)
    error = _take(s)
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")
    if s.tried(write.format(y="y")) is None:
        s.expect("data[:] == list(range(12))", "read-only memory has been written: {data[:]}")


@check("from-array-interface.holds", devices=["cpu"])
def holds(s):
    memory(s)
    _lend(s)
    s.run("alive = __import__('weakref').ref(x)")
    error = _take(s)
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")
    s.run(f"data[0] = 99; shared = {s.adapter.values.format(y='y')}[0][0] == 99")
    s.run(f"z = {s.adapter.view.format(y='y')}" if s.adapter.view else "z = y")
    s.run("del x, y; gc.collect()")
    s.expect("alive() or not shared", "the memory is used, and its object is gone")
    s.run("del z; gc.collect()")
    s.expect("not alive()", "the object is kept after the last use of its memory")
