"""from_dlpack imports other libraries' tensors and hand-made capsules without a copy."""

import ctypes

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from managed import CPU, READ_ONLY, SUBBYTE_TYPE_PADDED, Lent, Producer
from peers import EXPORTERS, JAX, PADDLE, STANDARD, WRITERS, array

import dovetail as dt

EVERY_TYPE_OF_EVERY_PEER = [
    pytest.param(peer, name, id=f"{peer}-{name}") for peer in EXPORTERS for name in peer.dtypes
]


# Rule 16.
@pytest.mark.parametrize(("peer", "name"), EVERY_TYPE_OF_EVERY_PEER)
def test_a_tensor_of_any_library_and_type_comes_in_at_its_address(peer, name):
    x = peer.make(name, [1, 2, 4])
    t = dt.from_dlpack(x)
    assert (t.dtype, t.shape, t.strides) == (dt.dtype(name), (3,), (1,))
    assert t.data_ptr() == peer.pointer(x)
    assert t.device == dt.Device("cpu")
    assert t.tolist() == ([True] * 3 if name == "bool" else [1, 2, 4])


class LegacyOnly:
    """A tensor of a library before DLPack 1.0: __dlpack__ has no keyword except stream."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.x.__dlpack__()


# (PyArrow's arrays are read-only, and refuse a legacy capsule.)
# Rule 36.
@pytest.mark.parametrize("peer", [*WRITERS, JAX], ids=str)
def test_a_producer_without_versions_gives_the_same_tensor(peer):
    x = peer.make("float32", [1, 2, 4])
    t = dt.from_dlpack(LegacyOnly(x))
    assert t.data_ptr() == peer.pointer(x)
    assert t.tolist() == [1, 2, 4]


@pytest.mark.parametrize("peer", WRITERS, ids=str)
def test_a_write_on_either_side_is_seen_on_the_other(peer):
    x = peer.make("int32", [1, 2, 4])
    t = dt.from_dlpack(x)
    t[0] = -7
    assert peer.values(x) == [-7, 2, 4]
    peer.write(x, 2, 99)
    assert t.tolist() == [-7, 2, 99]


@pytest.mark.parametrize("kind", ["versioned", "legacy"])
@pytest.mark.parametrize("name", STANDARD)
def test_a_capsule_itself_can_be_taken(kind, name):
    x = array(name, [1, 2, 4])
    capsule = x.__dlpack__(max_version=(1, 0) if kind == "versioned" else None)
    t = dt.from_dlpack(capsule)
    assert t.data_ptr() == x.ctypes.data
    assert np.array_equal(t.numpy(), x)


def test_a_dovetail_tensor_comes_in_as_another_view_of_the_same_memory():
    a = dt.arange(6)
    b = dt.from_dlpack(a)
    b[0] = 5
    assert a is not b
    assert a.data_ptr() == b.data_ptr()
    assert a.tolist() == [5, 1, 2, 3, 4, 5]


LAYOUTS = {
    "0-D": lambda x: x[3, 2],
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "transposed": lambda x: x.T,
    "every other": lambda x: x[::2, 1::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
    "no rows": lambda x: x[4:],
    "one row": lambda x: x[2:3],
}


# Rules 8, 14.
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
def test_a_view_comes_in_with_the_shape_strides_and_start_it_has(layout, library):
    view = LAYOUTS[layout](np.arange(20, dtype=np.float64).reshape(4, 5))
    if library is torch.from_numpy and not (isinstance(view, np.ndarray) and view.flags.writeable):
        view = np.array(view)
    t = dt.from_dlpack(library(np.asarray(view)))
    assert t.shape == view.shape
    if view.size:
        assert t.strides == tuple(s // 8 for s in np.asarray(view).strides)
    assert t.tolist() == view.tolist()


# Rule 14.
@pytest.mark.parametrize("axes", [(slice(None, None, -1),), (slice(None), slice(None, None, -2))])
def test_negative_strides_come_in_as_a_view_whose_start_is_its_first_element(axes):
    x = np.arange(20, dtype=np.int16).reshape(4, 5)
    view = x[axes]
    t = dt.from_dlpack(view)
    assert t.strides == tuple(s // 2 for s in view.strides)
    assert t.data_ptr() == view.__array_interface__["data"][0]
    t[0, 0] = -5
    assert view[0, 0] == -5
    assert t.tolist() == view.tolist()


# Rules 8, 11.
@pytest.mark.parametrize("version", [(1, 3), (1, 0), (1, 9), None], ids=str)
@pytest.mark.parametrize("strides", ["contiguous", None], ids=["strides", "NULL strides"])
def test_element_0_lies_byte_offset_bytes_behind_data(version, strides):
    lent = Lent((2, 3), strides, version=version, byte_offset=20).fill(range(6), at=20)
    t = dt.from_dlpack(lent.capsule())
    assert t.data_ptr() == lent.address + 20
    assert t.strides == (3, 1)
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]


# Rules 8, 12.
@pytest.mark.parametrize("null", [True, False])
def test_a_number_without_dimensions_is_found_at_its_offset_too(null):
    lent = Lent((), None if null else (), null_shape=null, byte_offset=8).fill([2.5], at=8)
    t = dt.from_dlpack(lent.capsule())
    assert (t.shape, t.strides, t.item()) == ((), (), 2.5)


# Rule 13.
def test_strides_of_sizes_0_and_1_are_kept_and_reach_nothing():
    lent = Lent((1, 2, 1), (1 << 60, 1, -(1 << 61))).fill([1, 2])
    t = dt.from_dlpack(lent.capsule())
    assert t.strides == (1 << 60, 1, -(1 << 61))
    assert t.is_contiguous()
    assert t.tolist() == [[[1], [2]]]
    assert dt.from_dlpack(Lent((0, 3), (1 << 62, 1 << 62)).capsule()).tolist() == []


# Rule 9.
def test_an_offset_of_bytes_that_no_element_is_aligned_to_is_accepted():
    lent = Lent((2,), byte_offset=3).fill([1.5, -2], at=3)
    t = dt.from_dlpack(lent.capsule())
    assert t.data_ptr() % 4 == 3
    assert t.tolist() == [1.5, -2]


# Rule 18.
def test_packed_float4_reads_lowest_bits_first():
    # 0x42 holds 1 (code 2) and 2 (code 4); 0x65 holds 3 (code 5) and 4 (code 6).
    lent = Lent((4,), code=17, bits=4).fill([0x42, 0x65], ctypes.c_uint8)
    t = dt.from_dlpack(lent.capsule())
    assert (t.dtype.name, t.nbytes) == ("float4_e2m1fn", 2)
    assert t.tolist() == [1, 2, 3, 4]


# Rule 18.
def test_padded_float4_has_a_byte_for_each_element():
    lent = Lent((2,), code=17, bits=4, flags=SUBBYTE_TYPE_PADDED).fill([2, 4], ctypes.c_uint8)
    assert dt.from_dlpack(lent.capsule()).tolist() == [1, 2]


# Rule 18.
def test_the_flag_of_padding_means_nothing_for_elements_that_fill_bytes():
    integers = Lent((2,), code=1, bits=8, flags=SUBBYTE_TYPE_PADDED)
    bytes_ = dt.from_dlpack(integers.fill([0x21, 0x43], ctypes.c_uint8).capsule())
    assert bytes_.view("uint4").tolist() == [1, 2, 3, 4]
    floats = dt.from_dlpack(Lent((2,), flags=SUBBYTE_TYPE_PADDED).fill([1.5, -2]).capsule())
    assert dt.convert(floats, torch.Tensor).tolist() == [1.5, -2]
    lanes = Lent((2,), code=17, bits=4, lanes=2, flags=SUBBYTE_TYPE_PADDED)
    pairs = dt.from_dlpack(lanes.fill([0x42, 0x65], ctypes.c_uint8).capsule())
    assert pairs.to("float32x2").view("float32").tolist() == [1, 2, 3, 4]


# Rule 18.
def test_torch_exports_float4_in_pairs_and_jax_one_by_one():
    x = torch.tensor([0x42, 0x65], dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    pairs = dt.from_dlpack(x)
    single = dt.from_dlpack(jnp.array([1, 2, 3, 4, 6], dtype=jnp.float4_e2m1fn))
    assert (pairs.shape, pairs.dtype.lanes, pairs.nbytes) == ((2,), 2, 2)
    assert pairs.data_ptr() == x.data_ptr()
    assert (single.shape, single.dtype.lanes, single.nbytes) == ((5,), 1, 3)
    assert single.tolist() == [1, 2, 3, 4, 6]


# Rule 43.
def test_a_read_only_numpy_array_stays_read_only():
    x = np.arange(3)
    x.flags.writeable = False
    t = dt.from_dlpack(x)
    assert t.readonly
    with pytest.raises(ValueError, match="read-only"):
        t[0] = 1
    assert x[0] == 0
    assert not dt.from_dlpack(np.arange(3)).readonly


# Rule 43.
@pytest.mark.parametrize(("flags", "readonly"), [(0, False), (READ_ONLY, True)])
def test_the_flag_says_whether_a_capsule_is_read_only(flags, readonly):
    assert dt.from_dlpack(Lent(flags=flags).capsule()).readonly is readonly


# Rule 34.
def test_arrays_of_jax_never_change_so_their_legacy_capsules_come_in_read_only():
    t = dt.from_dlpack(JAX.make("float32", [1, 2, 4]))
    assert t.readonly
    with pytest.raises(ValueError, match="read-only"):
        t[0] = 9
    assert not dt.from_dlpack(Lent(version=None).capsule()).readonly


# Rule 34.
@pytest.mark.parametrize("buffer", [b"memory", bytearray(b"memory")], ids=["read-only", "writable"])
def test_a_legacy_capsule_is_read_only_where_the_buffer_of_its_producer_is(buffer):
    class Shown(type(buffer)):
        lent = Lent(version=None)

        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, **_):
            return self.lent.capsule()

    x = Shown(buffer)
    t = dt.from_dlpack(x)
    assert t.data_ptr() == x.lent.address
    assert t.readonly is isinstance(buffer, bytes)


def test_a_paddle_tensor_that_says_its_device_index_is_none_comes_in():
    x = PADDLE.make("float32", [1, 2, 4])
    assert x.__dlpack_device__()[1] is None
    assert dt.from_dlpack(x).device == dt.Device("cpu")


@pytest.mark.parametrize("device", [(1,), 1, "cpu", None, (1, 0, 0)], ids=repr)
def test_a_dlpack_device_that_is_no_pair_is_a_type_error(device):
    lent = Lent()
    with pytest.raises(TypeError, match="__dlpack_device__"):
        dt.from_dlpack(Producer(lambda **_: lent.capsule(), device))
    assert lent.deletions == 0


def test_what_dlpack_gives_must_be_a_capsule():
    with pytest.raises(TypeError, match="not a capsule"):
        dt.from_dlpack(Producer(lambda **_: 5))


class WithoutDLPack:
    def __dlpack_device__(self):
        return (1, 0)


# Rule 44.
@pytest.mark.parametrize(
    ("x", "missing"),
    [
        (WithoutDLPack(), "__dlpack__"),
        ([1, 2], "__dlpack__"),
        (None, "__dlpack__"),
        (b"bytes", "__dlpack__"),
    ],
    ids=repr,
)
def test_an_object_without_the_protocol_is_an_attribute_error_that_names_what_is_missing(
    x, missing
):
    with pytest.raises(AttributeError, match=f"'{missing}'"):
        dt.from_dlpack(x)


@pytest.mark.parametrize("count", range(0, 33, 8))
def test_any_number_of_dimensions_comes_in(count):
    x = np.zeros((1,) * count + (2,))[..., 1]
    assert dt.from_dlpack(x).shape == (1,) * count
    assert dt.from_dlpack(Lent((1,) * 64).capsule()).ndim == 64


# Rules 15, 44.
@pytest.mark.parametrize(
    "x",
    [
        np.arange(3, dtype=">i4"),
        np.zeros(3, dtype="datetime64[s]"),
        np.zeros(3, dtype=[("a", np.int32), ("b", np.int8)])["a"],
        torch.quantize_per_tensor(torch.zeros(2), 0.1, 10, torch.qint8),
    ],
    ids=["other byte order", "dates", "strides between bytes", "quantized"],
)
def test_what_its_producer_cannot_export_is_a_buffer_error(x):
    with pytest.raises(BufferError):
        dt.from_dlpack(x)


# Rule 55.
@pytest.mark.parametrize(
    "x",
    [
        torch.zeros(2, requires_grad=True),
        torch.tensor([1 + 2j]).conj(),
        torch.tensor([1 + 2j]).conj().imag,
        torch.sparse_coo_tensor([[0]], [1.0], (2,)),
    ],
    ids=["requires grad", "conjugate", "negation", "sparse"],
)
def test_a_torch_tensor_that_is_more_than_its_memory_is_refused(x):
    with pytest.raises(BufferError):
        dt.from_dlpack(x)


def test_a_subclass_of_torch_tensor_is_asked_by_its_own_method():
    class Own(torch.Tensor):
        def __dlpack__(self, **_):
            raise BufferError("not this one")

    with pytest.raises(BufferError, match="not this one"):
        dt.from_dlpack(torch.zeros(2).as_subclass(Own))
