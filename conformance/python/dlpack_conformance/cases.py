"""The layouts and element types of cases.toml, and the cases that they make together.

>>> list(product(0, ["plain", "transposed"], ["int8"], ["versioned", "legacy"]))
['plain, int8, versioned', 'transposed, int8, legacy']
"""

import dataclasses
import itertools
import struct

from .rules import load

_COUNT = 12  # elements of the 3 x 4 array of which each layout is a view
WHOLE = None  # in place of a seed: the whole product


@dataclasses.dataclass(frozen=True)
class Layout:
    shape: tuple
    strides: tuple
    offset: int = 0

    @property
    def places(self):
        """Where the elements are, in row-major order."""
        indices = itertools.product(*map(range, self.shape))
        return [
            self.offset + sum(i * step for i, step in zip(index, self.strides, strict=True))
            for index in indices
        ]


@dataclasses.dataclass(frozen=True)
class DType:
    name: str
    code: int
    bits: int
    one: int | None = None
    mantissa: int = 0
    largest: int = 11  # of uint64: few libraries make 2**64 - 1 of a number

    @property
    def lent(self):
        """The same as memory that a library reads."""
        return dataclasses.replace(self, largest=2**64 - 1)

    @property
    def size(self):
        """Of an element, in bytes."""
        return self.bits // 8

    @property
    def letter(self):
        """The struct module's format, of complex numbers that of their halves; None: none."""
        letters = {0: "bhiq", 1: "BHIQ", 2: " efd", 5: "   fd", 6: "?"}.get(self.code)
        return letters and letters[self.size.bit_length() - 1]

    def numbers(self, places=range(_COUNT)):
        """The elements at these places of the 3 x 4 array, as Python's numbers."""
        if self.one is not None:
            scale = 1 << self.mantissa
            return [(1 + p % scale / scale) * 2.0 ** (p // scale) for p in places]
        # The last one shows whether a sign is read.
        largest = self.largest if self.bits == 64 else (1 << self.bits) - 1
        last = {0: -1, 1: largest}.get(self.code)
        kind = {6: lambda p: p % 2 == 1, 5: complex, 2: float}.get(self.code)
        return [kind(p) if kind else last if p == 11 else p for p in places]

    def encoded(self, places=range(_COUNT)):
        """Their bytes, one after the other."""
        if self.one is not None:
            return b"".join((self.one + p).to_bytes(self.size, "little") for p in places)
        numbers = self.numbers(places)
        if self.code == 5:
            numbers = [half for n in numbers for half in (n.real, n.imag)]
        return struct.pack(f"={len(numbers)}{self.letter}", *numbers)


_TABLES = load("cases.toml")
LAYOUTS = {name: Layout(**fields) for name, fields in _TABLES["layouts"].items()}
DTYPES = {name: DType(name, **fields) for name, fields in _TABLES["types"].items()}


def nested(shape, numbers):
    """Numbers in row-major order as nested lists."""
    if not shape:
        return numbers[0]
    size = len(numbers) // shape[0] if shape[0] else 0
    return [nested(shape[1:], numbers[i * size : (i + 1) * size]) for i in range(shape[0])]


def product(seed, layouts, types, *ways):
    """The cases of a product, as texts: every layout of every type with one of the ways, which a
    seed rotates, or with all of them for the seed WHOLE.

    Each type and each layout meets every way, if there are as many of the others as ways.
    """
    ways = list(itertools.product(*ways))
    for (i, layout), (j, dtype) in itertools.product(enumerate(layouts), enumerate(types)):
        chosen = ways if seed is WHOLE else [ways[(i + j + seed) % len(ways)]]
        for way in chosen:
            yield ", ".join(filter(None, [layout, dtype, *way]))


def split(case):
    """The Layout and DType of a case, and what follows."""
    layout, dtype, *ways = case.split(", ")
    return LAYOUTS[layout], DTYPES[dtype], layout, ways
