"""The stride of a dimension of size 0 or 1, or of a tensor without elements, has no meaning and can
be any number. (UndefinedBehaviorSanitizer detects overflows.)"""

import ctypes
import pickle

import numpy as np
import pytest
import torch
from managed import Lent

import dovetail as dt

FAR = [-(2**63), 2**63 - 1, 2**62]


def lend(shape, strides, far, **fields):
    """A tensor of bytes 0, 1, 2, ... in which `far` replaces each stride that is None."""
    lent = Lent(shape, [far if s is None else s for s in strides], **fields)
    lent.memory[:256] = bytes(range(256))
    return dt.from_dlpack(lent.capsule())


BYTES = {"code": 1, "bits": 8}
SHAPES = {
    "one between": ((2, 1, 3), (3, None, 1)),
    "one around": ((1, 4, 1), (None, 1, None)),
    "one element": ((1, 1), (None, None)),
    "turned": ((3, 1, 2), (1, None, 3)),
    "backwards": ((1, 3), (None, 2)),
    "rows of one": ((200, 1), (1, None)),
    "none": ((3, 0, 2), (None, None, None)),
}


def expected(shape, strides):
    offsets = np.zeros(shape, np.uint8)
    for dim, stride in enumerate(strides):
        if stride is not None:
            at = [1] * len(shape)
            at[dim] = shape[dim]
            offsets += (np.arange(shape[dim]) * stride).astype(np.uint8).reshape(at)
    return offsets


def assigned(t):
    out = dt.zeros(t.shape, dtype=t.dtype)
    out[...] = t
    return out


WAYS = {
    "tolist": lambda t: np.array(t.tolist()).reshape(t.shape),
    "numpy": lambda t: t.numpy(),
    "np.from_dlpack": np.from_dlpack,
    "np.asarray of the interface": lambda t: np.asarray(t.__array_interface__ and t),
    "memoryview": lambda t: np.array(memoryview(t).tolist()).reshape(t.shape),
    "torch": lambda t: dt.convert(t, torch.Tensor).numpy(),
    "copy": lambda t: t.copy().numpy(),
    "copy in K order": lambda t: t.copy(order="K").numpy(),
    "copy in F order": lambda t: t.copy(order="F").numpy(),
    "cast": lambda t: t.to(dt.float32).numpy(),
    "cast to a narrow type": lambda t: t.to(dt.float16).to(dt.float32).numpy(),
    "assignment": lambda t: assigned(t).numpy(),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)).numpy(),
    "view": lambda t: t[..., None].numpy()[..., 0],
    "reversed": lambda t: t[::-1].numpy()[::-1],
    "reshape": lambda t: t.reshape(-1).numpy().reshape(t.shape),
}


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_they_change_nothing(way, name, far):
    shape, strides = SHAPES[name]
    t = lend(shape, strides, far, **BYTES)
    seen = np.asarray(WAYS[way](t))
    assert seen.shape == shape
    np.testing.assert_array_equal(seen, expected(shape, strides))


@pytest.mark.parametrize("far", FAR)
def test_they_change_nothing_where_elements_have_lanes_or_share_bytes(far):
    pairs = lend((1, 3), (None, 1), far, **BYTES, lanes=2)
    cast = pairs.to(dt.dtype("int32x2"))
    assert list((ctypes.c_int32 * 6).from_address(cast.data_ptr())) == [*range(6)]
    nibbles = lend((3, 1), (1, None), far, code=17, bits=4)
    assert nibbles.tolist() == [[0.0], [0.0], [0.5]]
    assert nibbles.to(dt.float32).tolist() == nibbles.copy().tolist() == nibbles.tolist()
    assert repr(nibbles) == repr(nibbles.copy())


@pytest.mark.parametrize("far", FAR)
def test_they_change_nothing_in_a_destination(far):
    t = lend((2, 1, 2), (2, None, 1), far, **BYTES)
    t[...] = np.array([[[9, 8]], [[7, 6]]], np.uint8)
    assert t.tolist() == [[[9, 8]], [[7, 6]]]
    dt.copyto(t, np.arange(4, dtype=np.int64).reshape(2, 1, 2), casting="unsafe")
    assert t.tolist() == [[[0, 1]], [[2, 3]]]
    t[:, 0, 1] = 5
    assert t.tolist() == [[[0, 5]], [[2, 5]]]
