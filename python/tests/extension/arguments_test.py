"""Tensors of every library as arguments of C++ functions, bound in each of the ways."""

import array

import ml_dtypes
import numpy as np
import peers
import pytest
import torch

import dovetail as dt

pytest_plugins = ["bindings"]
READERS = (*peers.EXPORTERS, peers.DOVETAIL)
WRITERS = (*peers.WRITERS, peers.DOVETAIL)


def address(x):
    return x.__array_interface__["data"][0]


@pytest.mark.parametrize("peer", READERS)
def test_a_function_reads_the_librarys_own_memory(ext, peer):
    x = peer.make("float32", [1, 2, 4])
    assert ext.address(x) == peer.pointer(x)
    assert (ext.rank(x), ext.size(x)) == (1, 3)


@pytest.mark.parametrize("peer", WRITERS)
def test_a_function_writes_the_librarys_own_memory(ext, peer):
    x, y = peer.make("float32", [1, 2, 4]), peer.make("float32", [10, 20, 40])
    out = peer.make("float32", [0, 0, 0])
    assert ext.add(x, y, out) is None
    assert peer.values(out) == [11, 22, 44]
    assert peer.values(x) == [1, 2, 4]
    assert ext.writable(out) == peer.pointer(out)


class Bare:
    """Has __dlpack__ alone, as NumPy takes it."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, **request):
        return self.source.__dlpack__(**request)


class ArrayAlone:
    """Says that it has no __dlpack__, and has an array."""

    __dlpack__ = None
    array = np.float32([1, 2, 4])

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_an_argument_lacks_methods_as_imports_may(ext):
    x = np.float32([1, 2, 4])
    assert ext.address(Bare(x)) == address(x)
    assert ext.size(ArrayAlone()) == 3
    dense = peers.paddle.base.core.DenseTensor()  # its buffer raises a BufferError
    dense.set(x, peers.paddle.base.core.CPUPlace())
    assert ext.size(dense) == 3


def test_libraries_mix_in_one_call(ext):
    out = array.array("f", [0, 0, 0])
    ext.add(torch.tensor([1.0, 2, 4]), np.float32([10, 20, 40]), out)
    assert out.tolist() == [11, 22, 44]


@pytest.mark.parametrize("peer", READERS)
def test_every_type_is_taken_by_the_function_for_it_alone(ext, peer):
    known = {name for name in (*peers.STANDARD, "bfloat16") if hasattr(ext, name)}
    for name in peer.dtypes:
        x = peer.make(name, [1, 0, 1])
        if name in known:
            assert getattr(ext, name)(x) == peer.pointer(x)
            assert ext.kind(x) == name
        for other in known - {name}:
            with pytest.raises(TypeError):
                getattr(ext, other)(x)


def test_an_array_of_ml_dtypes_type_is_taken_as_that_type(ext):
    a = np.ones((2, 3), ml_dtypes.bfloat16)
    assert ext.bfloat16(a) == address(a)
    assert ext.kind(a) == "bfloat16"
    for other in (ext.float32, ext.int16):
        with pytest.raises(TypeError):
            other(a)


def test_strides_of_every_kind_are_followed(ext):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    views = [a, a.T, a[::-1], a[:, ::-2], a[1:, 1:], np.broadcast_to(a[0], (3, 4)), a[:0]]
    for view in views:
        weights = np.arange(1, view.size + 1).reshape(view.shape)
        assert ext.elements(view) == (view * weights).sum()
    t = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    assert ext.elements(t.T) == (t.T.numpy() * np.arange(1, 13).reshape(4, 3)).sum()
    assert ext.elements(t[:, :1].expand(3, 5)) == ext.elements(t[:, :1].expand(3, 5).contiguous())


def test_tensors_without_elements_and_without_dimensions_are_tensors(ext):
    for x in (np.zeros((0, 3), np.float32), torch.zeros(0, 3), dt.empty(0, 3)):
        assert (ext.rank(x), ext.size(x)) == (2, 0)
        assert ext.matrix(x) == 0
    scalar = np.array(3, np.float32)
    assert (ext.rank(scalar), ext.size(scalar)) == (0, 1)
    assert ext.address(scalar) == address(scalar)


def test_fixed_and_named_sizes_are_checked(ext):
    assert ext.matrix(np.zeros((5, 3), np.float32)) == 5
    assert ext.square(torch.zeros(4, 4)) == 4
    a, b = np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([[1, 0, 2], [0, 1, 2]])
    out = np.zeros((3, 3), np.float32)
    ext.product(a, b, out)
    assert (out == a @ b).all()


def test_contiguity_is_required_where_asked_for(ext):
    a = np.zeros((3, 4), np.float32)
    assert ext.c_contiguous(a) == ext.inner_contiguous(a) == address(a)
    assert ext.inner_contiguous(a[:, :2]) == address(a)
    assert ext.f_contiguous(a.T) == address(a)
    line = np.zeros((1, 4), np.float32)[:, ::4]  # one element: every stride will do
    for function in (ext.c_contiguous, ext.f_contiguous, ext.inner_contiguous):
        assert function(line) == address(line)
        assert function(np.zeros((0, 4), np.float32)[:, ::2]) is not None
    for function, bad in [
        (ext.c_contiguous, a.T),
        (ext.c_contiguous, a[:, :2]),
        (ext.f_contiguous, a),
        (ext.inner_contiguous, a[:, ::2]),
        (ext.c_contiguous, a[::-1]),
    ]:
        with pytest.raises(ValueError, match="strides"):
            function(bad)


def test_strides_may_be_required_one_by_one(ext):
    a = np.zeros((3, 8), np.float32)
    assert ext.strided(a[:, ::2]) == 8
    with pytest.raises(ValueError, match="stride 2 in dimension 1"):
        ext.strided(a)


def test_alignment_is_that_of_the_type_or_as_asked_for(ext):
    room = np.zeros(200, np.uint8)
    start = -address(room) % 64
    aligned = room[start : start + 16].view(np.float32)
    assert ext.aligned(aligned) == address(aligned)
    four = room[start + 4 : start + 20].view(np.float32)
    with pytest.raises(ValueError, match="aligned to 64 bytes"):
        ext.aligned(four)
    odd = room[start + 1 : start + 17].view(np.float32)
    with pytest.raises(ValueError, match="aligned to 4 bytes"):
        ext.c_contiguous(odd)
    assert ext.address(odd) == address(odd)


def test_read_only_memory_goes_to_const_arguments_alone(ext):
    x = np.zeros(3, np.float32)
    x.flags.writeable = False
    assert ext.read_only(x) and ext.read_only(b"abc") and not ext.read_only(bytearray(3))
    assert ext.tagged(x) == address(x)
    with pytest.raises(BufferError, match="read-only"):
        ext.writable(x)
    with pytest.raises(BufferError, match="read-only"):
        ext.writable(peers.JAX.make("float32", [1]))


def test_a_copy_is_made_only_where_it_is_allowed_and_needed(ext):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert ext.copied(a) == (False, 11)
    assert ext.copied(a.T) == (True, 11)
    assert ext.copied(torch.arange(12.0).reshape(3, 4)[:, ::2]) == (True, 10)
    with pytest.raises(TypeError, match="must be float32"):
        ext.copied(a.astype(np.float64))


def test_a_cast_of_the_same_kind_is_made_only_where_it_is_allowed(ext):
    for x in (np.arange(3.0), np.arange(3), torch.arange(3, dtype=torch.bfloat16)):
        assert ext.cast(x) == (True, 2)
    assert ext.cast(np.array([False, True])) == (True, 1)
    assert ext.cast(np.arange(3, dtype=np.float32)) == (False, 2)
    with pytest.raises(TypeError, match="must be float32, and is complex64"):
        ext.cast(np.zeros(3, np.complex64))


def test_an_optional_argument_may_be_none(ext):
    assert ext.optional(None) == -1
    assert ext.optional(np.zeros(5, np.float32)) == 5
    with pytest.raises(TypeError, match="must be float32"):
        ext.optional(np.zeros(5))


def test_overloads_are_told_apart_by_type(ext):
    assert ext.kind(np.zeros(1, np.int8)) == "int8"
    assert ext.kind(torch.zeros(1, dtype=torch.bfloat16)) == "bfloat16"
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ext.kind(np.zeros(1, np.float16))
    assert ext.address(np.zeros(1, np.float16)) != 0  # the refusal left nothing behind


def test_arguments_have_names_and_methods_have_arguments(ext):
    x = np.float32([1, 2])
    ext.named(out=x, x=x, y=x)
    assert x.tolist() == [2, 4]
    accumulator = ext.Accumulator()
    accumulator.add(x)
    accumulator.add(torch.tensor([1.0]))
    assert accumulator.sum == 7


def test_the_body_may_run_without_the_gil(ext):
    assert ext.without_gil(np.zeros(1, np.float32))


def test_arguments_among_others_keep_their_order(ext):
    result = ext.scaled(2.0, torch.tensor([3.0]), np.zeros(4, np.int8)[:1])
    assert type(result) is torch.Tensor and result.tolist() == [6]


def test_the_signature_says_what_is_wanted(ext):
    assert "float32[n], C-contiguous, writable" in ext.add.__doc__
    assert "any[...], any device" in ext.address.__doc__
    assert "float32[*, 3]" in ext.matrix.__doc__
    assert "float32[rows, k]" in ext.product.__doc__
