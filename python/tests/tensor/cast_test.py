"""t.to(dtype), compared bit by bit with NumPy, ml_dtypes and PyTorch, for every code of the narrow
types."""

import warnings

import ml_dtypes
import numpy as np
import pytest
import torch

import dovetail as dt

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NARROW = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
          "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]  # fmt: skip
FLOATS = ["float16", "float32", "float64", *NARROW]
TYPES = ["bool", *INTEGERS, *FLOATS]


def reference(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def codes(array):
    return array.view(f"u{array.itemsize}")


def edges(info):
    """The limits of an integer type, and numbers around powers of two."""
    values = {info.min, info.min + 1, info.max - 1, info.max, 0}
    for bit in range(info.bits - 1):
        values |= {sign * (1 << bit) + o for sign in (1, -1) for o in (-1, 0, 1)}
    return sorted(v for v in values if info.min <= v <= info.max)


def source(name):
    """All codes of types up to 16 bits; for wider types limits, all magnitudes and random codes."""
    dtype, rng = reference(name), np.random.default_rng(0)
    if name == "bool":
        return np.array([False, True] * 50)
    if dtype.itemsize <= 2:
        count = 1 << (8 * dtype.itemsize)
        return np.arange(count, dtype=f"u{dtype.itemsize}").view(dtype)
    if name in INTEGERS:
        info = np.iinfo(dtype)
        random = rng.integers(info.min, info.max, 20000, dtype=dtype, endpoint=True)
        smaller = random >> rng.integers(0, info.bits, 20000).astype(dtype)
        return np.concatenate([np.array(edges(info), dtype), random, smaller])
    random = np.frombuffer(rng.bytes(20000 * dtype.itemsize), dtype)
    sized = rng.standard_normal(40000) * 2.0 ** rng.integers(-30, 70, 40000)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 448, 464, 465, 480, 57344, 61440, 65504,
               65519, 65520, 3.4e38, 1e-45, 127.5, 128, -128.5, 255.5, 256, 2.0**31, 2.0**31 - 128,
               2.0**32, 2.0**63, 2.0**64, -1, -2.0**31, -2.0**63, 2.0**53 + 2]  # fmt: skip
    # Numbers halfway between neighbours of each narrow type, to test rounding to even.
    ties = []
    for narrow in ["float16", *NARROW]:
        numbers = np.unique(source(narrow).astype(np.float64))
        numbers = numbers[np.isfinite(numbers)]
        ties += [(numbers[1:] + numbers[:-1]) / 2]
    with np.errstate(over="ignore", under="ignore"):
        numbers = [np.asarray(x).astype(dtype) for x in [sized, special, *ties]]
    return np.concatenate([random, *numbers])


def ours(array, name):
    # NumPy exports only its own types through DLPack: those of ml_dtypes are passed as bytes.
    raw = np.ascontiguousarray(array).view(np.uint8)
    return dt.frombuffer(raw, dtype=array.dtype.name).to(name).numpy()


def by_numpy(array, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "float8_e8m0fnu" in (array.dtype.name, name) and array.dtype.name != name:
            array = array.astype(np.float32)  # ml_dtypes has no casts between float8 types
        return array.astype(reference(name))


def by_torch(array, source_name, name):
    raw = torch.from_numpy(array.view(np.uint8).copy()).view(getattr(torch, source_name))
    return raw.to(getattr(torch, name)).view(torch.uint8).numpy().view(reference(name))


def is_nan(array):
    if array.dtype.name not in FLOATS:
        return np.zeros(array.shape, bool)
    return np.isnan(array.astype(np.float64))


def check(array, cast, expected, counts):
    """Assert equal codes where `counts` is true. A NaN only has to be NaN on both sides."""
    nan = is_nan(expected)
    np.testing.assert_array_equal(is_nan(cast)[counts], nan[counts])
    wrong = np.flatnonzero((codes(cast) != codes(expected)) & ~nan & counts)
    shown = [(array[i], cast[i], expected[i]) for i in wrong[:5]]
    assert not len(wrong), f"{len(wrong)} differ: {shown}"


def in_range(array, name):
    """True where a number, without its fraction, is in the range of an integer type."""
    info = np.iinfo(name)
    number = np.trunc(array.astype(np.float64))
    with np.errstate(invalid="ignore"):
        return (number >= float(info.min)) & (number < float(info.max) + (info.bits < 64))


@pytest.mark.parametrize("to", TYPES)
@pytest.mark.parametrize("name", TYPES)
def test_casts_are_those_of_numpy_and_ml_dtypes(name, to):
    array = source(name)
    counts = np.ones(array.shape, bool)
    if to in INTEGERS and name in NARROW:
        # ml_dtypes gives the nearest integer for infinities and 0 for NaN; NumPy and torch do not.
        counts = np.isfinite(array.astype(np.float64))
    if to in INTEGERS and name in FLOATS and np.iinfo(to).bits >= 32 and to[0] == "u":
        # Out of range: NumPy's results depend on an element's position in the array.
        number = array.astype(np.float64)
        counts &= in_range(array, to) | (number < 0) & (number > -(2.0**31))
    check(array, ours(array, to), by_numpy(array, to), counts)


IN_TORCH = [t for t in TYPES if hasattr(torch, t)]


@pytest.mark.parametrize("to", IN_TORCH)
@pytest.mark.parametrize("name", IN_TORCH)
def test_casts_are_those_of_torch(name, to):
    array = source(name)
    number = array.astype(np.float64)
    counts = np.ones(array.shape, bool)
    if to == "float8_e8m0fnu":  # torch gives a magnitude for 0 and negative numbers
        counts = array.astype(np.float32) > 0
    if to == "float8_e4m3fn":  # torch saturates
        with np.errstate(invalid="ignore"):
            counts = ~(np.abs(number) > 464)
    if to == "float16" and name == "float64":  # torch rounds twice
        counts = array.astype(np.float32) == array
    if to in INTEGERS and name in FLOATS and (to[0] == "u" or np.iinfo(to).bits < 32):
        counts = in_range(array, to)
    if to in INTEGERS and name in NARROW:
        counts &= np.isfinite(number)
    check(array, ours(array, to), by_torch(array, name, to), counts)


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float8_e5m2"])
def test_nan_keeps_its_sign(name):
    array = source(name)
    array = array[is_nan(array)]
    for to in FLOATS:
        expected = by_numpy(array, to)
        assert is_nan(ours(array, to)).all()
        if to != "float8_e8m0fnu" and "fnuz" not in to:
            np.testing.assert_array_equal(np.signbit(ours(array, to).astype(np.float64)),
                                          np.signbit(expected.astype(np.float64)))  # fmt: skip


@pytest.mark.parametrize("to", ["complex64", "complex128"])
def test_real_numbers_become_complex_ones(to):
    for name in TYPES:
        array = source(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(ours(array, to), array.astype(np.float64).astype(to))


def test_complex_numbers_become_complex_ones_of_another_size():
    parts = source("float64")
    numbers = parts[: len(parts) // 2 * 2].view(np.complex128)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(ours(numbers, "complex64"), numbers.astype(np.complex64))
        smaller = numbers.astype(np.complex64)
    np.testing.assert_array_equal(ours(smaller, "complex128"), smaller.astype(np.complex128))
    np.testing.assert_array_equal(ours(numbers, "bool"), numbers.astype(bool))


@pytest.mark.parametrize("to", ["float32", "int64", "bfloat16"])
def test_complex_numbers_do_not_become_real_ones(to):
    with pytest.raises(ValueError, match=f"complex64 to {to}.*imaginary"):
        dt.tensor([1j]).to(to)


SUB_BYTE = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6,
            "float6_e3m2fn": 6}  # fmt: skip


@pytest.mark.parametrize("name", SUB_BYTE)
def test_elements_that_share_bytes_are_cast_from_every_code(name):
    bits = SUB_BYTE[name]
    packed = sum(code << (i * bits) for i, code in enumerate(range(1 << bits)))
    raw = packed.to_bytes((1 << bits) * bits // 8, "little")
    t = dt.frombuffer(raw, dtype=name, count=1 << bits)
    values = t.tolist()
    for to in ["float32", "float64", "int64", "bfloat16", "float8_e4m3"]:
        assert t.to(to).tolist() == [int(v) if to == "int64" else v for v in values]
    assert t.to("bool").tolist() == [v != 0 for v in values]
    assert t.to("float32").to(name).tolist() == values
    assert bytes(dt.frombuffer(t.to("float64").to(name), dtype="uint8")) == raw


@pytest.mark.parametrize("name", ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"])
def test_floats_round_to_those_that_share_bytes_as_in_ml_dtypes(name):
    numbers = np.linspace(-40, 40, 12801, dtype=np.float32)
    expected = by_numpy(numbers, name).astype(np.float32)
    assert dt.from_dlpack(numbers).to(name).tolist() == expected.tolist()


VIEWS = [
    lambda x: x,
    lambda x: x.T,
    lambda x: x[:, ::-2],
    lambda x: x[1:, 3:90],
    lambda x: x.reshape(10, 6, -1).transpose(2, 0, 1),
    lambda x: x[0, 0],
    lambda x: x[:0],
]


@pytest.mark.parametrize("view", range(len(VIEWS)))
@pytest.mark.parametrize("name, to", [("float32", "bfloat16"), ("uint8", "float32"),
                                      ("float64", "float16"), ("int64", "int8")])  # fmt: skip
def test_views_are_cast_in_their_own_memory_order(view, name, to):
    array = np.random.default_rng(1).integers(0, 100, (60, 110)).astype(name)
    x = VIEWS[view](array)
    cast = VIEWS[view](dt.from_dlpack(array)) if view != 4 else dt.from_dlpack(x)
    cast = cast.to(to)
    expected = x.astype(reference(to), order="K")
    assert cast.dtype.name == to
    assert not cast.readonly
    np.testing.assert_array_equal(cast.numpy(), expected)
    if x.size:
        assert cast.strides == tuple(s // expected.itemsize for s in expected.strides)
