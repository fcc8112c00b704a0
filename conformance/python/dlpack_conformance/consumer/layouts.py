"""Layouts and types that a consumer may refuse, but must not misread."""

from ..cases import DTYPES, LAYOUTS, WHOLE, product, split
from ..checks import check
from ..doors import CAPSULES
from ..exports import VALUES
from ..lending import (
    BEFORE_STRIDES,
    VERSIONS,
    expect_values,
    lend,
    lend_view,
    memory,
    must_refuse,
    serve_copies,
    take,
    take_or_refuse,
    taking,
    values,
)
from ..script import KeptRuleError, NotApplicableError, describe


def _cases(adapter, seed):
    copies = ("", "copy=True") if adapter.take_with("copy=True") else ("",)
    return [*product(seed, LAYOUTS, adapter.types, CAPSULES, copies)]


@check("consumer.strides", _cases)
def strided(s, case):
    layout, dtype, _, (door, *copy) = split(case)
    expected = lend_view(s, layout, dtype, version=VERSIONS[door])
    if copy:
        serve_copies(s)
    take_or_refuse(s, *copy)
    expect_values(s, expected)


@check("consumer.unused-strides", [f"{w}, {d}" for w in ("large", "zero", "-5") for d in CAPSULES])
def unused_strides(s, case):
    which, door = case.split(", ")
    memory(s)
    step = {"large": 1 << 61, "zero": 0, "-5": -5}[which]
    lend(s, (3, 1, 4), (4, step, 1), version=VERSIONS[door])
    take_or_refuse(s)
    expect_values(s, [[row] for row in VALUES])


_NULL_STRIDES = "NULL strides"


def _offsets(adapter, seed):
    offsets = ("16 bytes", "64 bytes", "256 bytes")
    for i, offset in enumerate(offsets):
        types = adapter.types if seed is WHOLE else ["float32", *adapter.types[i :: len(offsets)]]
        for layout in ("plain", "transposed", "scalar", _NULL_STRIDES):
            for j, dtype in enumerate(dict.fromkeys(types)):
                doors = CAPSULES if seed is WHOLE or j == 0 else [CAPSULES[(j + seed) % 2]]
                yield from (f"{layout}, {dtype}, {offset}, {door}" for door in doors)


@check("consumer.byte-offset", _offsets)
def byte_offset(s, case):
    layout, dtype, _, (offset, door) = split(case.replace(_NULL_STRIDES, "plain"))
    more = {"version": VERSIONS[door]}
    if case.startswith(_NULL_STRIDES):
        more = {"version": BEFORE_STRIDES[door], "strides": None}
    expected = lend_view(s, layout, dtype, offset=int(offset.split()[0]), **more)
    take_or_refuse(s)
    expect_values(s, expected)


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


@check(
    "consumer.type", lambda adapter, seed: [f"{n}, {d}" for n in adapter.types for d in CAPSULES]
)
def type_(s, case):
    name, door = case.split(", ")
    expected = lend_view(s, LAYOUTS["plain"], DTYPES[name], version=VERSIONS[door])
    take_or_refuse(s)
    expect_values(s, expected)


# The types that may have just one width, by their codes.
_SUB_BYTE = {"float6_e2m3fn": 15, "float6_e3m2fn": 16, "float4_e2m1fn": 17}


@check("consumer.sub-byte", _SUB_BYTE)
def sub_byte(s, name):
    if "types" in s.adapter.passes_on:
        raise NotApplicableError("the library passes types on")
    memory(s)
    lend(s, code=_SUB_BYTE[name], bits=8)
    must_refuse(s, f"{name} of 8 bits")


@check("consumer.keywords", ["device=None", "copy=None"])
def keywords(s, keyword):
    memory(s)
    lend(s)
    line = taking(s, keyword)
    error = s.tried(line)
    if isinstance(error, TypeError):
        s.raised(line, f"from_dlpack({keyword}) raises {describe(error)}")


@check("consumer.device", CAPSULES)
def device(s, door):
    memory(s)
    here = s.adapter.here
    if here is None:
        lend(s, version=VERSIONS[door])
        take(s)
        s.run("held = managed, deleter, shape, strides")
        if s.tried("here = y.device"):
            raise NotApplicableError("nothing is known of the library's devices")
        here = "here"
    lend(s, version=VERSIONS[door])
    line = taking(s, f"device={here}")
    error = s.tried(line)
    if isinstance(error, TypeError):
        raise NotApplicableError(f"no keyword device: {describe(error)}")
    if error and s.tried(taking(s)):
        raise NotApplicableError(f"it is refused: {describe(error)}")
    if error:
        s.raised(line, f"device={here} raises {describe(error)}")
    expect_values(s, VALUES)


_OLD = "copy=True, a producer without copy="
_COPIES = [*(f"copy={copy}, {door}" for copy in (True, False) for door in CAPSULES), _OLD]


@check("consumer.copy", _COPIES)
def copy(s, case):
    keyword, door = case.split(", ")
    memory(s)
    if case == _OLD:
        lend(s, version="legacy", arguments="stream=None")
    else:
        lend(s, version=VERSIONS[door])
        serve_copies(s)
    take(s, keyword)
    expect_values(s, VALUES)  # waits for a copy that is not made at once
    s.run(s.memory.overwrite(12, 99))
    if keyword == "copy=True":
        expect_values(s, VALUES)
    else:
        expect_values(s, [[99.0] * 4] * 3)
