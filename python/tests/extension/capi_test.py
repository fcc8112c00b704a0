"""The C interface (capi.h), called from plain C: each function, with tensors of every library."""

import gc
import sys
import weakref

import numpy as np
import paddle
import peers
import pytest
import torch
from installation import compile_c, import_file

import dovetail as dt

FLOAT32, FLOAT64, INT32 = (2, 32, 1), (2, 64, 1), (0, 32, 1)
CPU, CUDA = (1, 0), (2, 0)
READ_ONLY, IS_COPIED = 1, 2
ANY_DEVICE = -1

ALL = (*peers.EXPORTERS, peers.DOVETAIL)


def size(name):
    """The name of a size as DOVETAIL_SIZE has it."""
    return -1 - ord(name)


@pytest.fixture(scope="module")
def capi(tmp_path_factory):
    target = tmp_path_factory.mktemp("capi") / "capi_user.so"
    compile_c("python/tests/extension/capi_user.c", target, include=dt.get_include())
    return import_file(target)


def borrow(capi, *objects, **requirements):
    described, _, _ = capi.borrow(*objects, **requirements)
    return described[0] if len(objects) == 1 else described


def refusal(error, capi, *objects, **requirements):
    """The message of the error, after which the objects have as many references as before."""
    before = [sys.getrefcount(x) for x in objects]
    with pytest.raises(error) as caught:
        capi.borrow(*objects, **requirements)
    message = str(caught.value)
    del caught
    gc.collect()
    assert [sys.getrefcount(x) for x in objects] == before
    return message


def test_the_table_tells_its_size_and_its_versions(capi):
    assert capi.table() == (capi.TABLE_SIZE, 1, 0, dt.__version__)


# borrow


@pytest.mark.parametrize("peer", ALL)
def test_every_library_lends_its_own_memory(capi, peer):
    x = peer.make("float32", [1, 2, 4])
    lent = borrow(capi, x, dtype=FLOAT32, shape=(3,), ndim=1, flags=capi.C_CONTIGUOUS)
    assert lent["data"] == peer.pointer(x)
    assert (lent["shape"], lent["strides"], lent["byte_offset"]) == ((3,), (1,), 0)
    assert (lent["dtype"], lent["device"], lent["stream"]) == (FLOAT32, CPU, 0)
    assert lent["object"] is x
    is_immutable = peer.write is None
    assert lent["flags"] & ~READ_ONLY == 0
    assert bool(lent["flags"] & READ_ONLY) == is_immutable


@pytest.mark.parametrize("peer", ALL)
def test_borrowing_a_thousand_times_keeps_no_reference(capi, peer):
    x = peer.make("float32", [1, 2, 4])
    borrow(capi, x)
    gc.collect()
    before = sys.getrefcount(x)
    for _ in range(1000):
        borrow(capi, x)
    gc.collect()
    assert sys.getrefcount(x) == before


def test_strides_are_lent_as_they_are(capi):
    x = np.zeros((4, 6), dtype=np.int32)
    lent = borrow(capi, x[::-2, ::3], dtype=INT32, ndim=2, flags=capi.NDIM)
    assert (lent["shape"], lent["strides"]) == ((2, 2), (-12, 3))
    assert lent["data"] == x[3:].ctypes.data


def test_a_tensor_without_requirements_may_be_anything_in_host_memory(capi):
    for x in (np.float64(3), np.zeros((0, 3), bool), torch.zeros(2, 2).T, dt.zeros(())):
        borrow(capi, x)


def test_each_requirement_that_is_not_met_is_named_with_its_value(capi):
    x = np.zeros((4, 6), dtype=np.float32)
    assert "must be float64, and is float32" in refusal(TypeError, capi, x, dtype=FLOAT64)
    message = refusal(TypeError, capi, x, ndim=1, flags=capi.NDIM)
    assert "must have 1 dimension, and has shape (4, 6)" in message
    message = refusal(ValueError, capi, x, shape=(-1, 5), ndim=2)
    assert "must have size 5 in dimension 1, and has shape (4, 6)" in message
    assert "C-contiguous" in refusal(ValueError, capi, x.T, flags=capi.C_CONTIGUOUS)
    assert "F-contiguous" in refusal(ValueError, capi, x, flags=capi.F_CONTIGUOUS)
    message = refusal(ValueError, capi, x[:, ::2], flags=capi.INNER_CONTIGUOUS)
    assert "last dimension" in message
    message = refusal(ValueError, capi, x[::2], strides=(6, 1), ndim=2)
    assert "stride 6 in dimension 0" in message
    message = refusal(ValueError, capi, x.reshape(-1)[1:], alignment=1 << 20)
    assert "aligned to 1048576 bytes" in message
    message = refusal(TypeError, capi, x, device=CUDA[0])
    assert "cuda" in message and "cpu" in message
    x.flags.writeable = False
    assert "read-only" in refusal(BufferError, capi, x, flags=capi.WRITABLE)


def test_each_requirement_that_is_met_lets_the_tensor_in(capi):
    x = np.zeros((4, 6), dtype=np.float32)
    borrow(capi, x, shape=(-1, 6), strides=(6, 1), ndim=2, alignment=4, device=ANY_DEVICE)
    borrow(capi, x.T, flags=capi.F_CONTIGUOUS | capi.WRITABLE, device=CPU[0])
    borrow(capi, x[::2], flags=capi.INNER_CONTIGUOUS, strides=(-(2**63), 1), ndim=2)


def test_what_is_no_tensor_or_does_not_share_its_memory_is_refused(capi):
    for x in (None, 3, "text", [1.0], object(), {}):
        assert type(x).__name__ in refusal(TypeError, capi, x)
    message = refusal(BufferError, capi, torch.zeros(3, requires_grad=True))
    assert "detach()" in message
    assert "neg" in refusal(BufferError, capi, torch._neg_view(torch.zeros(3)))


def test_errors_name_the_function_and_the_argument(capi):
    x = np.zeros(3)
    wanted = {"dtype": FLOAT32}
    assert refusal(TypeError, capi, x, **wanted).startswith("argument 1 (numpy.ndarray)")
    message = refusal(TypeError, capi, x, function="scale", names=("values",), **wanted)
    assert message.startswith("scale(): argument 'values' (numpy.ndarray)")
    assert refusal(TypeError, capi, x, call=False, **wanted).startswith("the argument (numpy.")


def test_sizes_of_one_name_agree_among_the_arguments_of_a_call(capi):
    x, y = np.zeros((2, 3)), np.zeros((2, 4))
    names = {"shape": (size("n"), size("k")), "ndim": 2}
    _, position, sizes = capi.borrow(x, x, **names)
    assert position == 2
    assert sizes == [(size("n"), 2, 1), (size("k"), 3, 1)]
    message = refusal(ValueError, capi, x, y, **names)
    assert "argument 2 (numpy.ndarray) has size k = 4 in dimension 1" in message
    assert "argument 1 has k = 3" in message
    message = refusal(ValueError, capi, x, shape=(size("n"), size("n")), ndim=2)
    assert "another dimension has n = 2" in message


def test_a_call_has_room_for_eight_named_sizes(capi):
    letters = [size(letter) for letter in "abcdefghi"]
    assert len(capi.borrow(np.zeros((1,) * 8), shape=tuple(letters[:8]), ndim=8)[2]) == 8
    message = refusal(ValueError, capi, np.zeros((1,) * 9), shape=tuple(letters), ndim=9)
    assert "named size i" in message and "at most 8" in message


def test_a_quiet_call_refuses_without_an_error(capi):
    assert capi.borrow(np.zeros(3), dtype=FLOAT32, quiet=True) == 1
    assert capi.borrow("text", quiet=True) == 1
    assert capi.borrow(torch.zeros(3, requires_grad=True), quiet=True) == 1

    class Interrupted:
        def __dlpack__(self, **keywords):
            raise KeyboardInterrupt

        def __dlpack_device__(self):
            return CPU

    with pytest.raises(KeyboardInterrupt):
        capi.borrow(Interrupted(), quiet=True)


def test_a_copy_is_made_only_where_it_is_allowed_and_needed(capi):
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    wanted = {"dtype": FLOAT32, "flags": capi.C_CONTIGUOUS | capi.ALLOW_COPY}
    lent = borrow(capi, x, **wanted)
    assert (lent["data"], lent["flags"]) == (x.data_ptr(), 0)
    lent = borrow(capi, x.T, **wanted)
    assert lent["data"] != x.data_ptr()
    assert (lent["flags"], lent["held"], lent["strides"]) == (IS_COPIED, True, (2, 1))
    wanted = {"dtype": FLOAT64, "flags": capi.ALLOW_CAST}
    lent = borrow(capi, x, **wanted)
    assert (lent["dtype"], lent["flags"]) == (FLOAT64, IS_COPIED)
    refusal(TypeError, capi, x, dtype=INT32, flags=capi.ALLOW_CAST)
    writable = capi.C_CONTIGUOUS | capi.ALLOW_COPY | capi.WRITABLE
    refusal(ValueError, capi, x.T, dtype=FLOAT32, flags=writable)


def test_a_tensor_that_is_made_for_the_call_lives_until_it_ends(capi):
    deleted = []

    class Producer:
        def __init__(self):
            self.array = np.zeros(3)

        def __dlpack__(self, **keywords):
            array = self.array.copy()
            weakref.finalize(array, deleted.append, "gone")
            return array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return CPU

    assert borrow(capi, Producer())["held"]
    gc.collect()
    assert deleted == ["gone"]


# from_python and to_python


@pytest.mark.parametrize("peer", ALL)
def test_memory_is_shared_beyond_the_object(capi, peer):
    x = peer.make("float32", [1, 2, 4])
    pointer = peer.pointer(x)
    capsule = capi.from_python(x)
    del x
    gc.collect()
    t = dt.utils.dlpack.from_dlpack(capsule)
    assert (t.data_ptr(), t.tolist()) == (pointer, [1, 2, 4])


def test_a_managed_tensor_that_nobody_takes_releases_its_object(capi):
    x = np.zeros(3)
    before = sys.getrefcount(x)
    capsule = capi.from_python(x)
    assert sys.getrefcount(x) == before + 1
    del capsule
    assert sys.getrefcount(x) == before
    for wrong in (None, "text", torch.zeros(3, requires_grad=True)):
        with pytest.raises((TypeError, BufferError)):
            capi.from_python(wrong)


@pytest.mark.parametrize("peer", ALL)
@pytest.mark.parametrize("by_class", [False, True])
def test_a_result_is_of_the_class_of_the_argument_and_shares_the_memory(capi, peer, by_class):
    like = peer.make("float32", [0])
    deleted = capi.deleted()
    result = capi.to_python(type(like) if by_class else like, 32)
    assert type(result) is type(like)
    assert peer.values(result) == [1, 2, 3]
    assert capi.deleted() == deleted
    del result
    gc.collect()
    assert capi.deleted() == deleted + 1


def test_a_result_like_nothing_that_is_known_is_a_dovetail_tensor(capi):
    for like in (None, 3, bytearray(4), np.float32(0)):
        deleted = capi.deleted()
        result = capi.to_python(like, 32)
        assert type(result) is dt.Tensor
        assert result.tolist() == [1, 2, 3]
        del result
        assert capi.deleted() == deleted + 1


def test_a_managed_tensor_is_taken_when_it_is_refused_too(capi):
    deleted = capi.deleted()
    with pytest.raises(BufferError, match="3 bits"):
        capi.to_python(None, 3)
    assert capi.deleted() == deleted + 1
    with pytest.raises(TypeError, match="str objects can't be made"):
        capi.to_python(str, 32)
    assert capi.deleted() == deleted + 2


# empty


def test_an_empty_tensor_is_row_major_and_writable(capi):
    x = np.from_dlpack(dt.utils.dlpack.from_dlpack(capi.empty(FLOAT32, CPU, 2, (2, 3))))
    assert (x.shape, x.strides, x.dtype) == ((2, 3), (12, 4), np.float32)
    x[:] = 7
    scalar = dt.utils.dlpack.from_dlpack(capi.empty(INT32, CPU, 0, None))
    assert (scalar.shape, scalar.dtype) == ((), dt.int32)
    assert dt.utils.dlpack.from_dlpack(capi.empty(INT32, CPU, 2, (0, 3))).shape == (0, 3)


@pytest.mark.parametrize(
    ("error", "dtype", "device", "ndim", "shape"),
    [
        (ValueError, FLOAT32, CPU, -1, (1,)),
        (ValueError, FLOAT32, CPU, 1, None),
        (ValueError, FLOAT32, CPU, 1, (-1,)),
        (ValueError, FLOAT32, CPU, 65, (1,) * 65),
        (ValueError, FLOAT32, CPU, 3, (2**40, 2**40, 2)),
        (MemoryError, FLOAT32, CPU, 1, (2**55,)),
        (ValueError, (2, 3, 1), CPU, 1, (1,)),
        (ValueError, (99, 32, 1), CPU, 1, (1,)),
        (RuntimeError, FLOAT32, (15, 0), 1, (1,)),
        (RuntimeError, FLOAT32, (77, 0), 1, (1,)),
    ],
)
def test_no_tensor_is_made_of_what_makes_no_sense(capi, error, dtype, device, ndim, shape):
    with pytest.raises(error):
        capi.empty(dtype, device, ndim, shape)


# current_stream


@pytest.mark.parametrize("like", [None, 3, np.zeros(1), torch.zeros(1), paddle.zeros([1])])
def test_host_memory_has_no_stream(capi, like):
    assert capi.current_stream(like, CPU) == 0
