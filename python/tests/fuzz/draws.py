"""What calls_test.py draws: names of types, shapes, keys and elements.

keys(2)                         # a strategy of keys for two dimensions, some of them wrong
values((2, 3), "int8", 4)       # an array of small numbers, which every type holds
result, error = attempt(call)
"""

import numpy as np
from hypothesis import strategies as st

NAMES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
         "float16", "float32", "float64", "complex64", "complex128")  # fmt: skip
TYPED_ERRORS = (ValueError, TypeError, IndexError, BufferError)

names = st.sampled_from(NAMES)
shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
numbers = st.integers(0, 5)


def setitem(x, key, value):
    x[key] = value


def values(shape, name, first):
    count = np.prod(shape, dtype=int)
    return ((np.arange(count) + first) % 6).reshape(shape).astype(name)


def pointer(array):
    return array.__array_interface__["data"][0]


def keys(rank):
    part = st.one_of(
        st.integers(-4, 4),
        st.builds(
            slice,
            st.none() | st.integers(-6, 6),
            st.none() | st.integers(-6, 6),
            st.sampled_from([None, 1, 2, 3, -1, -2]),
        ),
        st.just(...),
        st.none(),
    )
    return st.one_of(part, st.lists(part, max_size=rank + 1).map(tuple))


def as_view_key(key):
    """The key with which NumPy gives a view, where the plain key gives a number."""
    parts = key if isinstance(key, tuple) else (key,)
    return parts if ... in parts else (*parts, ...)


def attempt(call, errors=TYPED_ERRORS):
    """(result, None) or (None, the error)."""
    try:
        return call(), None
    except errors as error:
        return None, error
