"""What a library makes of objects with __arrow_c_array__."""

from ..checks import check
from ..lending import NEW_CAPSULE, expect_values, memory
from ..script import KeptRuleError, NotApplicableError, describe
from ..structs import format_of
from .structs import ArrowArray, ArrowSchema

_CAPSULES = f"new = {NEW_CAPSULE}"
_FREES = "lambda a: (freed.append('{what}'), ctypes.memset(a + {release}, 0, 8)) and None"
_ADDRESS = "ctypes.cast({name}, ctypes.c_void_p).value"


def _lend(s, length=4, null_count=0, offset=0, validity="0", released=False):
    """x = an object with an array of float32 in `data`."""
    s.run(
        "freed = []; free_array, free_schema = map(ctypes.CFUNCTYPE(None, ctypes.c_void_p), "
        f"({_FREES.format(what='array', release=ArrowArray.release.offset)}, "
        f"{_FREES.format(what='schema', release=ArrowSchema.release.offset)}))"
    )
    s.run(
        f"format = ctypes.create_string_buffer(b'f'); validity = (ctypes.c_uint8 * 1)({validity}); "
        "buffers = (ctypes.c_void_p * 2)("
        + ("ctypes.addressof(validity)" if null_count else "None")
        + ", ctypes.addressof(data))"
    )
    release = "0" if released else _ADDRESS.format(name="free_array")
    s.run(
        f'array = ctypes.create_string_buffer(struct.pack("{format_of(ArrowArray)}", '
        f"{length}, {null_count}, {offset}, 2, 0, ctypes.addressof(buffers), 0, 0, {release}, 0))"
    )
    s.run(
        f'schema = ctypes.create_string_buffer(struct.pack("{format_of(ArrowSchema)}", '
        f"ctypes.addressof(format), 0, 0, 2, 0, 0, 0, {_ADDRESS.format(name='free_schema')}, 0))"
    )
    s.run(_CAPSULES)
    s.run(
        'x = type("Producer", (), {"__arrow_c_array__": lambda self, requested_schema=None: ('
        'new(schema, b"arrow_schema", None), new(array, b"arrow_array", None))})()'
    )


def _take(s):
    """y = the array over x. Returns the exception if it is refused."""
    return s.tried(f"y = {s.adapter.take_arrow.format(x='x')}")


@check("from-arrow.elements", ["plain", "at an offset"], devices=["cpu"])
def elements(s, name):
    memory(s)
    offset = 3 if "offset" in name else 0
    _lend(s, offset=offset)
    error = _take(s)
    if error:
        s.raised(f"y = {s.adapter.take_arrow.format(x='x')}", f"it is refused: {describe(error)}")
    expect_values(s, [float(offset + i) for i in range(4)])


@check("from-arrow.nulls", ["counted", "not counted"], devices=["cpu"])
def nulls(s, which):
    memory(s)
    _lend(s, null_count=1 if which == "counted" else -1, validity="0b1101")
    error = _take(s)
    if error:
        raise KeptRuleError(f"it is refused: {describe(error)}")
    expect_values(s, [0.0, None, 2.0, 3.0])


@check("from-arrow.moves", devices=["cpu"])
def moves(s):
    memory(s)
    _lend(s)
    error = _take(s)
    if error:
        raise NotApplicableError(f"it is refused: {describe(error)}")
    s.run(f"left = ctypes.c_void_p.from_buffer(array, {ArrowArray.release.offset}).value")
    s.expect("left is None", "the array is still in its capsule")
    s.run(f"z = {s.adapter.view.format(y='y')}" if s.adapter.view else "z = y")
    s.run("del y; gc.collect()")
    s.run(f"values = {s.adapter.values.format(y='z')}")
    s.expect("values[-1] == 3 and 'array' not in freed", "it was released before its last use")
    s.run("del z; gc.collect()")
    s.expect("freed.count('array') == 1", "release() was called {freed.count('array')} times")


@check("from-arrow.released", devices=["cpu"])
def released(s):
    memory(s)
    _lend(s, released=True)
    if _take(s) is None:
        s.broken("an array whose release is NULL is taken in")
