"""What set_allocator() refuses, with its errors: all of it before any memory is allocated."""

import ctypes

import pytest

import dovetail as dt

LIBC = ctypes.CDLL(None)
VALLOC, FREE = LIBC.valloc, LIBC.free


class Pool:
    def allocate(self, nbytes, stream): ...

    def deallocate(self, pointer, nbytes, stream): ...


@pytest.mark.parametrize(
    ("allocator", "error", "message"),
    [
        (3, TypeError, "allocator must be a name .*not 'int'"),
        (object(), TypeError, "not 'object'"),
        (Pool, TypeError, "the class Pool; pass an instance"),
        ((VALLOC,), TypeError, "a pair"),
        ((VALLOC, FREE, FREE), TypeError, "a pair"),
        ((VALLOC, None), TypeError, "free must be a C function.*NoneType"),
        (
            (len, FREE),
            TypeError,
            "alloc must be a C function.*for Python functions, pass an object",
        ),
        ((True, FREE), TypeError, "not 'bool'"),
        ((0, FREE), ValueError, "alloc is NULL"),
        ((VALLOC, ctypes.c_void_p(0)), ValueError, "free is NULL"),
        ((-5, FREE), ValueError, "no address"),
        ((1, 2), ValueError, "no address"),
        ([VALLOC, FREE], TypeError, "a pair of C functions.*not 'list'"),
        (ctypes.CDLL(None), TypeError, "C functions; pass a pair"),
        ("none such", ValueError, "There is no allocator"),
    ],
)
def test_what_is_no_allocator_is_refused_at_once(allocator, error, message):
    with pytest.raises(error, match=message):
        dt.set_allocator("cpu", allocator)
    assert dt.arange(3).tolist() == [0, 1, 2]


def test_objects_without_a_method_are_refused_at_once():
    class Half:
        def allocate(self, nbytes, stream): ...

    class NotCallable:
        allocate = deallocate = 5

    with pytest.raises(TypeError, match=r"\(Half\) has no function deallocate"):
        dt.set_allocator("cpu", Half())
    with pytest.raises(TypeError, match="allocate is not callable"):
        dt.set_allocator("cpu", NotCallable())


def test_a_kind_without_memory_is_refused():
    with pytest.raises(ValueError, match="ordinary and shared memory only"):
        dt.set_allocator("cpu", Pool(), "pinned")
    with pytest.raises(ValueError, match="kind must be"):
        dt.set_allocator("cpu", Pool(), "other")
    with pytest.raises(ValueError, match="ordinary and shared memory only"):
        dt.set_allocator("cpu", None, "managed")


def test_capsules_of_other_kinds_are_refused():
    capsule = dt.arange(3).__dlpack__()
    with pytest.raises(TypeError, match='capsule named "dovetail_allocator"'):
        dt.set_allocator("cpu", capsule)
    assert dt.from_dlpack(capsule).tolist() == [0, 1, 2]
