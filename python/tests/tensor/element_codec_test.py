"""Encoding and decoding of elements, compared bit by bit with ml_dtypes and NumPy."""

import ml_dtypes
import numpy as np
import pytest

import dovetail as dt

ML_DTYPES = ["bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
             "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
             "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]  # fmt: skip
INTEGERS = {"int2": 2, "int4": 4, "uint2": 2, "uint4": 4}


def reference(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def bits_of(name):
    return dt.dtype(name).bits


def pack(codes, bits):
    """Pack codes of `bits` bits each into bytes, lowest bits first."""
    number = 0
    for i, code in enumerate(codes):
        number |= int(code) << (i * bits)
    return number.to_bytes(-(-len(codes) * bits // 8), "little")


def decode(name, codes):
    return dt.frombuffer(pack(codes, bits_of(name)), dtype=name, count=len(codes)).tolist()


def encode(name, values):
    raw = bytes(dt.frombuffer(dt.tensor(values, dtype=name), dtype=dt.uint8))
    number = int.from_bytes(raw, "little")
    bits = bits_of(name)
    return [number >> (i * bits) & ((1 << bits) - 1) for i in range(len(values))]


def reference_codes(name, values):
    array = np.array(values, dtype=np.float64).astype(reference(name))
    return (array.view(f"u{array.itemsize}") & ((1 << bits_of(name)) - 1)).tolist()


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize("name", [*ML_DTYPES, "float16"])
def test_every_code_reads_as_in_ml_dtypes(name):
    bits = bits_of(name)
    codes = np.arange(1 << bits, dtype=np.uint16 if bits > 8 else np.uint8)
    expected = codes.view(reference(name)).astype(np.float32).astype(np.float64)
    ours = np.array(decode(name, codes.tolist()))
    np.testing.assert_array_equal(ours, expected)
    numbers = ~np.isnan(expected)
    assert (np.signbit(ours) == np.signbit(expected))[numbers].all()


@pytest.mark.parametrize("name", [*ML_DTYPES, "float16"])
def test_every_code_is_written_back_as_it_was(name):
    codes = list(range(1 << bits_of(name)))
    values = decode(name, codes)
    numbers = [(code, v) for code, v in zip(codes, values, strict=True) if v == v]
    assert encode(name, [v for _, v in numbers]) == [code for code, _ in numbers]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [*ML_DTYPES, "float16", "float32"])
def test_doubles_round_as_in_ml_dtypes(name):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(4000) * 2.0 ** rng.integers(-20, 20, 4000)
    halfway = np.array(sorted(v for v in decode(name, range(1 << min(bits_of(name), 8))) if v == v))
    values = [*values.tolist(), *((halfway[1:] + halfway[:-1]) / 2).tolist()]
    if name == "float8_e8m0fnu":
        values = [abs(v) for v in values if v != 0]
    values = [v for v in values if np.isfinite(v)]
    # ml_dtypes converts a double through float32, which rounds twice: use float32 values.
    values = np.array(values, dtype=np.float32).astype(np.float64).tolist()
    assert encode(name, values) == reference_codes(name, values)


@pytest.mark.parametrize("name", INTEGERS)
def test_narrow_integers_read_and_write_every_code(name):
    bits = INTEGERS[name]
    codes = list(range(1 << bits))
    signed = name.startswith("int")
    expected = [c - (1 << bits) if signed and c >> (bits - 1) else c for c in codes]
    assert decode(name, codes) == expected
    assert encode(name, expected) == codes
    for outside in [max(expected) + 1, min(expected) - 1]:
        with pytest.raises(OverflowError, match=name):
            dt.tensor([outside], dtype=name)


@pytest.mark.parametrize(
    "name", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_integers_read_and_write_their_bytes(name):
    info = np.iinfo(name)
    values = [info.min, info.min + 1, 0, 1, info.max - 1, info.max]
    array = np.array(values, dtype=name)
    assert dt.frombuffer(array, dtype=name).tolist() == values
    assert bytes(dt.tensor(values, dtype=name)) == array.tobytes()


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers_read_and_write_their_bytes(name):
    array = np.array([0, 1.5 - 2.25j, -0.0j, 1e30 + 1e-30j, complex("nan+infj")], dtype=name)
    ours = dt.frombuffer(array, dtype=name)
    np.testing.assert_array_equal(np.array(ours.tolist()), array.astype(complex))
    assert bytes(dt.tensor(array.tolist(), dtype=name)) == array.tobytes()


def test_pairs_of_halves_are_complex32():
    pair = np.array([1.5, -2.25], dtype=np.float16)
    assert dt.frombuffer(pair, dtype=dt.complex32).tolist() == [1.5 - 2.25j]


def test_pairs_of_bfloat16_are_bcomplex32():
    pair = np.array([1.5, -2.25], dtype=ml_dtypes.bfloat16)
    t = dt.frombuffer(pair.view(np.uint8), dtype=dt.bcomplex32)
    assert t.tolist() == [1.5 - 2.25j]
    t[0] = 1 + 2**-8  # rounds to even
    assert t.to(dt.complex64).tolist() == [1]
    assert dt.tensor([t[0], 1j], dtype=dt.bcomplex32).to(dt.complex32).tolist() == [1, 1j]


def test_any_byte_but_zero_is_true():
    assert dt.frombuffer(bytes([0, 1, 2, 255]), dtype=dt.bool).tolist() == [False, True, True, True]


def test_elements_at_odd_addresses_are_read_and_written():
    for name in ["int16", "float32", "float64", "complex128"]:
        size = dt.dtype(name).itemsize
        memory = bytearray(3 * size + 1)
        tensor = dt.frombuffer(memory, dtype=name, offset=1)
        tensor[:] = [1, 2, 3]
        assert tensor.tolist() == [1, 2, 3]
        assert np.frombuffer(memory, name, offset=1).tolist() == [1, 2, 3]
