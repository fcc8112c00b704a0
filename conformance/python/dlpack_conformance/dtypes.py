"""The element types of DLPack that the kit tries: their numbers, and the bytes of 1 and 2."""

from typing import NamedTuple


class DType(NamedTuple):
    code: int
    bits: int
    lanes: int
    one_and_two: bytes  # two elements, 1 and 2 (bool: true and true), little-endian


def _standard():
    import struct

    types = {"bool": DType(6, 8, 1, b"\1\1")}
    for bits, letter in {8: "b", 16: "h", 32: "i", 64: "q"}.items():
        types[f"int{bits}"] = DType(0, bits, 1, struct.pack(f"=2{letter}", 1, 2))
        types[f"uint{bits}"] = DType(1, bits, 1, struct.pack(f"=2{letter.upper()}", 1, 2))
    for bits, letter in {16: "e", 32: "f", 64: "d"}.items():
        types[f"float{bits}"] = DType(2, bits, 1, struct.pack(f"=2{letter}", 1, 2))
    for bits, letter in {64: "f", 128: "d"}.items():
        types[f"complex{bits}"] = DType(5, bits, 1, struct.pack(f"=4{letter}", 1, 0, 2, 0))
    return types


# Maps a name, as NumPy and ml_dtypes spell it, to the type.
DTYPES = {
    **_standard(),
    "bfloat16": DType(4, 16, 1, b"\x80\x3f\x00\x40"),
    "float8_e3m4": DType(7, 8, 1, b"\x30\x40"),
    "float8_e4m3": DType(8, 8, 1, b"\x38\x40"),
    "float8_e4m3b11fnuz": DType(9, 8, 1, b"\x58\x60"),
    "float8_e4m3fn": DType(10, 8, 1, b"\x38\x40"),
    "float8_e4m3fnuz": DType(11, 8, 1, b"\x40\x48"),
    "float8_e5m2": DType(12, 8, 1, b"\x3c\x40"),
    "float8_e5m2fnuz": DType(13, 8, 1, b"\x40\x44"),
    "float8_e8m0fnu": DType(14, 8, 1, b"\x7f\x80"),
}

# The codes of the struct module that a buffer's format may have for a type.
BUFFER_FORMATS = {
    "bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
    "uint32": "I", "int64": "lq", "uint64": "LQ", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip

# The formats of Arrow's C data interface.
ARROW_FORMATS = {
    "int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i", "uint32": "I",
    "int64": "l", "uint64": "L", "float16": "e", "float32": "f", "float64": "g",
}  # fmt: skip

_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


def typestr_of(dtype):
    """The array interface's string for a type; None if it has none."""
    if dtype.code not in _KINDS:
        return None
    return f"{'|' if dtype.bits == 8 else '<'}{_KINDS[dtype.code]}{dtype.bits // 8}"
