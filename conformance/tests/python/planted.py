"""A small array library in ctypes that keeps every rule of the kit, or breaks some by switches.

    library = planted.Library("producer.copied-flag; consumer.strides legacy")      # "": none
    x = library.array([[1, 2]], "float32")

A switch is a rule, which breaks in every case, or a rule and the cases in which it breaks.

planted_export.py and planted_import.py have the two directions, planted_exchange.py has the table,
planted_buffer.py and planted_arrow.py have other protocols. planted_cuda.py is for arrays on a CUDA
device.
"""

import ctypes
import itertools
import math
import mmap
import struct

import planted_arrow
import planted_buffer
import planted_export
import planted_import

LETTERS = {"bool": "?", "int32": "i", "float32": "f", "float64": "d", "uint64": "Q"}
LETTERS |= {"uint8": "B", "int64": "q"}  # what other types are misread as


class Array:
    """Elements in memory that `owner` keeps. Strides are in elements."""

    def __init__(self, library, owner, address, dtype, shape, strides, **flags):
        self.library, self.owner, self.address, self.dtype = library, owner, address, dtype
        self.shape, self.strides = tuple(shape), tuple(strides)
        self.read_only = flags.get("read_only", False)
        self.swapped = flags.get("swapped", False)
        self.validity = None  # the bits of an array with nulls
        self.negated = flags.get("negated", False)  # the elements are those in memory, times -1
        self.base = flags.get("base")  # the array of which this one is a view

    def resolved(self):
        return self.copy() if self.negated else self

    def view(self, address, shape, strides, **flags):
        flags = {"read_only": self.read_only, "base": self, **flags}
        return Array(self.library, self.owner, address, self.dtype, shape, strides, **flags)

    @property
    def T(self):  # noqa: N802
        return self.view(self.address, self.shape[::-1], self.strides[::-1])

    def __getitem__(self, key):
        address, shape, strides = self.address, [], []
        key = key if isinstance(key, tuple) else (key,)
        for size, stride, part in itertools.zip_longest(
            self.shape, self.strides, key, fillvalue=slice(None)
        ):
            start, stop, step = part.indices(size)
            address += start * stride * self.itemsize
            shape.append(len(range(start, stop, step)))
            strides.append(stride * step)
        return self.view(address, shape, strides)

    @property
    def itemsize(self):
        return struct.calcsize(LETTERS[self.dtype])

    def reshape(self, shape):
        """To no dimensions, or with further ones of size 1."""
        kept = iter(step for n, step in zip(self.shape, self.strides, strict=True) if n > 1)
        return self.view(self.address, shape, [next(kept) if n > 1 else 1 for n in shape])

    def tolist(self):
        return self._list(self.address, self.shape, self.strides)

    def _list(self, address, shape, strides):
        if not shape:
            data = self.library.memory.read(address, self.itemsize)
            (value,) = struct.unpack(f"={LETTERS[self.dtype]}", data)
            return -value if self.negated else value
        steps = (address + i * strides[0] * self.itemsize for i in range(shape[0]))
        return [self._list(step, shape[1:], strides[1:]) for step in steps]

    def fill(self, value):
        if self.read_only:
            raise ValueError("the array is read-only")
        for index in itertools.product(*map(range, self.shape)):
            offset = sum(i * s for i, s in zip(index, self.strides, strict=True))
            element = struct.pack(f"={LETTERS[self.dtype]}", value)
            self.library.memory.write(self.address + offset * self.itemsize, element)

    def copy(self):
        return self.library.array(self.tolist(), self.dtype)

    def buffer(self):
        return planted_buffer.buffer(self)

    @property
    def __array_interface__(self):
        return planted_buffer.interface(self)

    @property
    def __cuda_array_interface__(self):
        if self.library.breaks("cuda-array-interface.absent"):
            return self.__array_interface__
        raise AttributeError("__cuda_array_interface__")

    def __arrow_c_array__(self, **request):
        return planted_arrow.export(self, request)

    def __dlpack_device__(self):
        breaks = self.library.breaks
        return (self.library.device_type, int(breaks("producer.device", "producer.device-id")))

    def __dlpack__(self, **request):
        return planted_export.export(self, request)


class Host:
    """Memory of the CPU."""

    device_type = 1

    def allocate(self, data):
        """A new block that has these bytes: (what keeps it, its address)."""
        owner = mmap.mmap(-1, max(1, len(data)))
        owner[: len(data)] = data
        return owner, ctypes.addressof(ctypes.c_char.from_buffer(owner))

    def read(self, address, size):
        return ctypes.string_at(address, size)

    def write(self, address, data):
        ctypes.memmove(address, data, len(data))

    def touch(self, array):
        ctypes.memmove(array.address, array.address, 1)

    def before_export(self, breaks, stream):
        pass

    def ask(self, breaks, x, **request):
        return x.__dlpack__(**request)


class Library:
    def __init__(self, switches="", memory=None):
        self.switches, self.memory = set((switches or "").split("; ")), memory or Host()
        self.device_type = self.memory.device_type
        if self.device_type == 2 and self.breaks("producer.cuda-type"):
            self.device_type = 13  # managed memory

    def breaks(self, *rules):
        return not self.switches.isdisjoint(rules)

    def array(self, values, dtype="float32", **flags):
        shape, flat = [], values
        while isinstance(flat, list):
            shape.append(len(flat))
            flat = flat[0] if flat else None
        flat = values if shape else [values]
        for _ in shape[1:]:
            flat = list(itertools.chain.from_iterable(flat))
        return self._new(shape, dtype, struct.pack(f"={len(flat)}{LETTERS[dtype]}", *flat), **flags)

    def zeros(self, shape, dtype):
        return self._new(shape, dtype, bytes(math.prod(shape) * struct.calcsize(LETTERS[dtype])))

    def ones(self, size, dtype="float32"):
        return self._new([size], dtype, struct.pack(f"={LETTERS[dtype]}", 1) * size)

    def _new(self, shape, dtype, data, **flags):
        start = 64 * self.breaks("producer.cpu-alignment") * (self.device_type == 1)
        owner, address = self.memory.allocate(bytes(start) + data)
        address += start
        return Array(self, owner, address, dtype, shape, row_major(shape), **flags)

    def read_only(self, array):
        return array.view(array.address, array.shape, array.strides, read_only=True)

    def negated(self):
        return self.array([-1, -2], negated=True)

    def swapped(self):
        return self.array([1, 2], "int32", swapped=True)

    def nulls(self):
        array = self.array([1.0, 2.0, 3.0])
        array.validity = (ctypes.c_uint8 * 1)(0b101)
        return array

    def from_buffer(self, x):
        return planted_buffer.take_buffer(self, x)

    def from_interface(self, x):
        return planted_buffer.take_interface(self, x)

    def from_arrow(self, x):
        return planted_arrow.take(self, x)

    def from_dlpack(self, x, **keywords):
        return planted_import.take(self, x, **keywords)


def row_major(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return strides
