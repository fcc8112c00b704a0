"""Layouts and types that a consumer may refuse, but must not misread."""

from ..checks import check
from ..dtypes import DTYPES
from ..exports import VALUES
from ..lending import expect_values, lend, memory, take_or_refuse, values
from ..script import KeptRuleError, NotApplicableError, describe

# Maps a name to (shape, strides, index of the first element, elements) of 0 … 11 in memory.
STRIDED = {
    "transposed": ((4, 3), (1, 4), 0, [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]),
    "sliced": ((2, 2), (4, 1), 5, [[5, 6], [9, 10]]),
    "stepped": ((3, 2), (4, 2), 0, [[0, 2], [4, 6], [8, 10]]),
    "reversed": ((3, 4), (-4, 1), 8, VALUES[::-1]),
    "reversed in both": ((3, 4), (-4, -1), 11, [row[::-1] for row in VALUES[::-1]]),
    "broadcast": ((3, 4), (0, 1), 0, VALUES[:1] * 3),
    "of three dimensions": ((2, 2, 3), (3, 6, 1), 0, [[[0, 1, 2], [6, 7, 8]],
                                                      [[3, 4, 5], [9, 10, 11]]]),
}  # fmt: skip


@check("consumer.strides", STRIDED)
def strided(s, name):
    shape, strides, first, elements = STRIDED[name]
    memory(s)
    lend(s, shape, strides, at=4 * first)
    take_or_refuse(s)
    expect_values(s, elements)


@check("consumer.unused-strides", ["large", "zero", "negative"])
def unused_strides(s, which):
    memory(s)
    step = {"large": 1 << 61, "zero": 0, "negative": -5}[which]
    lend(s, (3, 1, 4), (4, step, 1))
    take_or_refuse(s)
    expect_values(s, [[row] for row in VALUES])


@check("consumer.byte-offset", [4, 16, 256])
def byte_offset(s, offset):
    memory(s, f"[99] * {offset // 4} + list(range(12))", count=offset // 4 + 12)
    lend(s, byte_offset=offset)
    take_or_refuse(s)
    expect_values(s, VALUES)


@check("consumer.misaligned", [1, 2, 4, 8, 16, 32, 64, 128])
def misaligned(s, offset):
    s.run(s.memory.allocate("c_float", 12, "range(12)", offset))
    lend(s, at=offset)
    take_or_refuse(s)
    expect_values(s, VALUES)


@check("consumer.lanes", [2, 4], devices=["cpu"])
def lanes(s, count):
    if "types" in s.adapter.passes_on:
        raise NotApplicableError("the library passes types on")
    memory(s)
    lend(s, (12 // count,), (1,), lanes=count)
    take_or_refuse(s)
    error = s.tried(f"values = {values(s)}")
    if error:
        raise KeptRuleError(f"its elements can't be read: {describe(error)}")
    rows = [list(range(i, i + count)) for i in range(0, 12, count)]
    s.expect(f"values in ({rows}, {list(range(12))})", "its elements are {values}")


@check("consumer.type", lambda adapter: adapter.dtypes.split())
def type_(s, name):
    dtype = DTYPES[name]
    memory(s, dtype.one_and_two, "c_char", len(dtype.one_and_two))
    lend(s, (2,), (1,), code=dtype.code, bits=dtype.bits, lanes=dtype.lanes)
    take_or_refuse(s)
    expect_values(s, [True, True] if name == "bool" else [1, 2])
