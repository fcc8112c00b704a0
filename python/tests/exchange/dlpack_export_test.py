"""__dlpack__, __dlpack_device__ and to_dlpack: Dovetail's tensors in other libraries, and the
structs in their capsules."""

import jax
import numpy as np
import pytest
import torch
from managed import IS_COPIED, READ_ONLY, Lent, Versioned, kind_of, read, shape_of, strides_of
from peers import IMPORTERS, STANDARD, WRITERS, array

import dovetail as dt

EVERY_TYPE_OF_EVERY_PEER = [
    pytest.param(peer, name, id=f"{peer}-{name}") for peer in IMPORTERS for name in peer.dtypes
]


def aligned(name, values):
    """A tensor over memory aligned to 64 bytes. JAX copies memory with less alignment."""
    t = dt.tensor(values, dtype="float64").numpy().astype(array(name, []).dtype)
    own = dt.empty(t.shape, dtype=name)
    own.numpy()[...] = t
    return own


# Rule 16.
@pytest.mark.parametrize(("peer", "name"), EVERY_TYPE_OF_EVERY_PEER)
def test_a_tensor_of_any_type_goes_out_to_any_library_at_its_address(peer, name):
    t = aligned(name, [1, 2, 4])
    x = peer.take(t)
    assert peer.pointer(x) == t.data_ptr()
    assert peer.values(x) == ([True] * 3 if name == "bool" else [1, 2, 4])


@pytest.mark.parametrize("peer", WRITERS, ids=str)
def test_a_write_on_either_side_is_seen_on_the_other(peer):
    t = dt.tensor([1, 2, 4], dtype=dt.int32)
    x = peer.take(t)
    t[0] = -7
    assert peer.values(x) == [-7, 2, 4]
    peer.write(x, 2, 99)
    assert t.tolist() == [-7, 2, 99]


def test_a_view_goes_out_as_it_is():
    t = dt.arange(20, dtype=dt.float32).reshape(4, 5)
    for view in (t.T, t[1:, ::2], t[3], t[2, 2], t[4:], t[2:3]):
        x = torch.from_dlpack(view)
        assert (tuple(x.shape), x.tolist()) == (view.shape, view.tolist())
        assert x.stride() == view.strides
        assert np.from_dlpack(view).tolist() == view.tolist()


# Rule 14.
def test_negative_strides_go_out_to_those_who_know_them():
    t = dt.arange(6)[::-2]
    assert t.strides == (-2,)
    assert np.from_dlpack(t).strides == (-16,)
    assert np.from_dlpack(t).tolist() == [5, 3, 1]


def test_one_memory_may_be_in_five_libraries_at_once():
    t = dt.zeros(16, dtype=dt.int32)
    tensors = {peer: peer.take(t) for peer in IMPORTERS}
    for i, peer in enumerate(WRITERS[:3]):
        peer.write(tensors[peer], i, i + 1)
    for peer, x in tensors.items():
        assert peer.values(x)[:4] == [1, 2, 3, 0]
        assert peer.pointer(x) == t.data_ptr()


# Rules 34, 35.
@pytest.mark.parametrize("asked", [{}, {"max_version": None}, {"max_version": (0, 8)}], ids=str)
def test_without_a_version_from_1_on_the_capsule_is_a_legacy_one(asked):
    t = dt.arange(3)
    assert repr(t.__dlpack__(**asked)).startswith('<capsule object "dltensor" at 0x')
    assert repr(dt.to_dlpack(t, **asked)).startswith('<capsule object "dltensor" at 0x')


# Rules 4, 35.
@pytest.mark.parametrize("version", [(1, 0), (1, 3), (1, 99), (2, 0), [2, 0]], ids=str)
def test_from_version_1_on_the_capsule_says_our_version(version):
    capsule = dt.arange(3).__dlpack__(max_version=tuple(version))
    assert kind_of(capsule) is Versioned
    managed = read(capsule)
    assert (managed.major, managed.minor) == dt.dlpack_version


@pytest.mark.parametrize("version", [1, "1.0", (1,), (1, 0, 0), ("1", "0"), (1.0, 0), [1, 0]])
def test_a_version_that_is_no_pair_of_ints_is_a_type_error(version):
    with pytest.raises(TypeError):
        dt.arange(3).__dlpack__(max_version=version)


# Rule 33.
def test_the_arguments_of_dlpack_are_by_keyword():
    t = dt.arange(3)
    with pytest.raises(TypeError):
        t.__dlpack__(None)
    with pytest.raises(TypeError, match="colour"):
        t.__dlpack__(colour="red")
    with pytest.raises(TypeError):
        dt.to_dlpack(np.zeros(2))


# Rule 48.
@pytest.mark.parametrize("stream", [None, -1])
def test_on_the_cpu_there_is_no_stream_to_wait_for(stream):
    assert dt.from_dlpack(dt.arange(3).__dlpack__(stream=stream)).tolist() == [0, 1, 2]


# Rule 48.
@pytest.mark.parametrize("stream", [0, 1, 2, 12345])
def test_a_stream_on_the_cpu_is_refused(stream):
    with pytest.raises(dt.StreamError, match="stream") as raised:
        dt.arange(3).__dlpack__(stream=stream)
    assert isinstance(raised.value, BufferError) and isinstance(raised.value, RuntimeError)


@pytest.mark.parametrize("stream", [object(), "1", 1.0, True])
def test_a_stream_that_is_no_int_is_a_type_error(stream):
    with pytest.raises(TypeError, match="stream"):
        dt.arange(3).__dlpack__(stream=stream)


# Rule 32.
def test_the_device_is_the_capsules():
    t = dt.arange(3)
    tensor = read(t.__dlpack__()).dl_tensor
    assert t.__dlpack_device__() == (tensor.device_type, tensor.device_id) == (1, 0)
    assert [type(part) for part in t.__dlpack_device__()] == [int, int]


# Rule 41.
def test_the_cpu_can_be_asked_for_and_is_one_place():
    t = dt.arange(3)
    managed = read(t.__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert (managed.dl_tensor.data, managed.flags) == (t.data_ptr(), 0)
    with pytest.raises(BufferError, match="one CPU"):
        t.__dlpack__(dl_device=(1, 5))


# Rule 42.
@pytest.mark.parametrize("device", [(1, 0), (2, 0)], ids=str)
def test_who_asks_for_the_cpu_gives_no_stream(device):
    t = dt.from_dlpack(Lent(device=device).capsule())
    with pytest.raises(BufferError, match="stream"):
        t.__dlpack__(dl_device=(1, 0), stream=1)


# Rule 41.
def test_a_device_that_nobody_serves_is_refused_by_name():
    with pytest.raises(BufferError, match="hexagon"):
        dt.arange(3).__dlpack__(dl_device=(16, 0))
    with pytest.raises(BufferError, match="copy=False"):
        dt.arange(3).__dlpack__(dl_device=(16, 0), copy=False)


@pytest.mark.parametrize("device", [1, (1,), ("cpu", 0), (1, 0, 0)], ids=str)
def test_a_device_that_is_no_pair_of_ints_is_a_type_error(device):
    with pytest.raises(TypeError):
        dt.arange(3).__dlpack__(dl_device=device)


# Rules 38, 39.
@pytest.mark.parametrize("copy", [None, False])
def test_without_a_copy_the_capsule_has_our_pointer_and_no_flag(copy):
    t = dt.arange(3)
    managed = read(t.__dlpack__(max_version=(1, 0), copy=copy))
    assert (managed.dl_tensor.data, managed.flags) == (t.data_ptr(), 0)


# Rules 6, 37, 40.
@pytest.mark.parametrize("function", [dt.Tensor.__dlpack__, dt.to_dlpack])
def test_a_copy_is_flagged_and_belongs_to_the_consumer(function):
    t = dt.arange(20).reshape(4, 5)[::-1, ::2]
    capsule = function(t, max_version=(1, 0), copy=True)
    managed = read(capsule)
    assert managed.flags == IS_COPIED
    assert managed.dl_tensor.data != t.data_ptr()
    assert np.from_dlpack(Holder(capsule)).tolist() == t.tolist()


class Holder:
    """An object that returns one capsule, for consumers that accept no bare capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return self.capsule


def test_copy_takes_true_false_and_none_only():
    with pytest.raises(TypeError, match="copy"):
        dt.arange(3).__dlpack__(copy=1)
    with pytest.raises(ValueError, match="ambiguous"):
        dt.arange(3).__dlpack__(copy=np.arange(3))
    assert read(dt.arange(3).__dlpack__(max_version=(1, 0), copy=np.True_)).flags == 2


def read_only_tensor():
    x = np.arange(3)
    x.flags.writeable = False
    return dt.from_dlpack(x)


# Rule 43.
def test_a_read_only_tensor_says_so_in_the_flags_and_stays_read_only():
    t = read_only_tensor()
    assert read(t.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert read(t[1:].__dlpack__(max_version=(1, 0))).flags == READ_ONLY
    assert not np.from_dlpack(t).flags.writeable
    assert np.from_dlpack(dt.arange(3)).flags.writeable
    assert dt.from_dlpack(t.__dlpack__(max_version=(1, 0))).readonly


# Rules 34, 37.
def test_a_read_only_tensor_has_no_legacy_capsule_but_a_copy_has():
    t = read_only_tensor()
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()
    if jax.__version_info__ < (0, 12):  # later ones ask for versioned capsules
        with pytest.raises(BufferError, match="read-only"):
            jax.dlpack.from_dlpack(t)
    assert read(t.__dlpack__(copy=True)).dl_tensor.data != t.data_ptr()
    assert read(t.__dlpack__(copy=True, max_version=(1, 0))).flags == IS_COPIED


# Rule 44.
@pytest.mark.parametrize("export", [dt.to_dlpack, dt.from_dlpack, np.from_dlpack, np.asarray])
def test_a_tensor_that_requires_grad_is_refused_with_the_remedy(export):
    t = dt.zeros(3).requires_grad_()
    with pytest.raises(BufferError, match=r"require gradient.*detach\(\)"):
        export(t)
    export(t.detach())


# Rule 16.
@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("name", [*STANDARD, "bfloat16", "float8_e4m3fn", "float4_e2m1fn"])
def test_the_capsule_says_the_type_of_dlpack(name, version):
    t = dt.empty(4, dtype=name)
    tensor = read(t.__dlpack__(max_version=version)).dl_tensor
    assert (tensor.code, tensor.bits, tensor.lanes) == (t.dtype.code, t.dtype.bits, 1)


# Rule 8.
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_the_start_of_a_view_is_in_data_and_the_offset_is_0(version):
    t = dt.arange(20).reshape(4, 5)[1:, 2::2]
    managed = read(t.__dlpack__(max_version=version))
    assert (managed.dl_tensor.data, managed.dl_tensor.byte_offset) == (t.data_ptr(), 0)
    assert (shape_of(managed), strides_of(managed)) == ((3, 2), (5, 2))


# Rules 11, 13.
@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("shape", [(1,), (0,), (2, 0), (3, 1, 2)], ids=str)
def test_strides_are_written_whatever_the_shape(shape, version):
    t = dt.zeros(shape)
    managed = read(t.__dlpack__(max_version=version))
    assert bool(managed.dl_tensor.strides)
    assert strides_of(managed) == t.strides


# Rules 10, 12.
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_no_elements_no_data_and_no_dimensions_no_strides(version):
    empty = read(dt.zeros(2, 0).__dlpack__(max_version=version)).dl_tensor
    number = read(dt.tensor(1.5).__dlpack__(max_version=version)).dl_tensor
    assert empty.data is None
    assert (number.ndim, bool(number.strides)) == (0, False)
    assert number.data is not None


# Rule 11.
def test_strides_given_as_null_go_out_written():
    t = dt.from_dlpack(Lent((2, 3), None).capsule())
    assert strides_of(read(t.__dlpack__())) == (3, 1)


def test_a_capsule_of_ours_comes_back_as_the_same_memory():
    t = dt.arange(6).reshape(2, 3)
    for version in (None, (1, 0)):
        back = dt.from_dlpack(t[1:].__dlpack__(max_version=version))
        assert (back.data_ptr(), back.tolist()) == (t[1:].data_ptr(), [[3, 4, 5]])
