"""What functions in plain C return (capi.h): made tensors and written arguments. And their loops on
several threads."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import peers
import pytest
import torch
from installation import compile_c, import_file, run
from leaks import leaves_nothing

import dovetail as dt

FLOAT32, FLOAT64, INT32, INT64 = (2, 32, 1), (2, 64, 1), (0, 32, 1), (0, 64, 1)
CPU = (1, 0)
IS_QUIET = IS_DROPPED = True
WITH_GIL, WITHOUT_GIL, OWN_THREAD = range(3)
X = np.float32([1, 2, 4])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    target = tmp_path_factory.mktemp("capi") / "capi_results.so"
    source = "python/tests/extension/capi_results.c"
    compile_c(source, target, "-lpthread", include=dt.get_include())
    return target


@pytest.fixture(scope="module")
def capi(path):
    return import_file(path)


# can_hold


def test_a_library_can_hold_its_types(capi):
    for like in (X, torch.ones(1), dt.zeros(1)):
        for dtype in (FLOAT32, INT32, INT64):
            assert capi.can_hold(like, dtype) == 1


def test_jax_has_wide_types_only_when_they_are_enabled(capi):
    array = jnp.float32([1])
    for has_wide in (0, 1):
        with jax.enable_x64(bool(has_wide)):
            assert capi.can_hold(array, INT64) == has_wide
            assert capi.can_hold(array, FLOAT64) == has_wide
            assert capi.can_hold(array, INT32) == 1


def test_objects_of_no_known_library_can_hold_every_type(capi):
    for like in (None, 3, "text", object()):
        assert capi.can_hold(like, INT64) == 1


def test_an_error_of_the_library_is_passed_on(capi, monkeypatch):
    array = jnp.float32([1])
    with monkeypatch.context() as broken:
        broken.delattr(jax, "config")
        with pytest.raises(AttributeError, match="config"):
            capi.can_hold(array, INT64)
        with pytest.raises(AttributeError, match="config"):
            capi.make("indices", (array,), array)
    assert capi.can_hold(array, INT32) == 1


# make and result


@pytest.mark.parametrize("peer", (*peers.EXPORTERS, peers.DOVETAIL))
def test_a_made_result_is_of_the_class_of_an_argument(capi, peer):
    x = peer.make("float32", [1, 2, 4])
    result, made = capi.make("same_size", (x,), x)
    assert type(result) is type(x)
    assert peer.values(result) == [0, 0, 0]
    assert peer.values(x) == [1, 2, 4]
    assert made == {
        "shape": (3,),
        "strides": (1,),
        "dtype": FLOAT32,
        "device": CPU,
        "has_object": 0,
        "has_stream": 0,
        "is_copied": 1,
    }


def test_sizes_and_types_are_those_of_the_arguments(capi):
    _, made = capi.make("two_rows_twice_as_long", (X, X), X)
    assert (made["shape"], made["strides"], made["dtype"]) == ((2, 6), (6, 1), FLOAT64)
    assert capi.make("scalar", (X,), X)[0].shape == ()
    assert capi.make("same_shape", (np.zeros((2, 0, 4), np.float32),), X)[0].shape == (2, 0, 4)
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        assert capi.make("same_type", (x,), x)[0].dtype == dtype
    assert capi.make("on_any_device", (X,), X)[1]["device"] == CPU


def test_a_type_that_no_argument_has_is_the_first_that_the_library_has(capi):
    assert capi.make("indices", (X,), X)[0].dtype == np.int64
    array = jnp.float32([1, 2])
    for has_wide in (False, True):
        with jax.enable_x64(has_wide):
            result, made = capi.make("indices", (array,), array)
            assert made["dtype"] == (INT64 if has_wide else INT32)
            assert result.dtype == ("int64" if has_wide else "int32")


def test_a_result_like_nothing_is_a_dovetail_tensor(capi):
    for like in (None, 3, "text"):
        result, _ = capi.make("same_size", (X,), like)
        assert type(result) is dt.Tensor
        assert result.tolist() == [0, 0, 0]


@pytest.mark.parametrize("is_quiet", [False, True])
@pytest.mark.parametrize(
    ("error", "words", "name"),
    [
        (ValueError, "no argument has the size m", "unknown_size"),
        (ValueError, "a size of it is not said", "any_size"),
        (ValueError, "its sizes are not said", "any_shape"),
        (ValueError, "its type is not said", "any_type"),
        (ValueError, "no argument has its leading dimensions", "unknown_leading"),
        (ValueError, "", "overflowing"),
        (MemoryError, "", "too_large"),
    ],
)
def test_a_result_that_can_not_be_made_is_an_error(capi, error, words, name, is_quiet):
    x = X.copy()
    before = sys.getrefcount(x)
    with pytest.raises(error, match=words):
        capi.make(name, (x,), x, is_quiet)
    assert sys.getrefcount(x) == before


def test_a_quiet_call_refuses_its_arguments_without_an_error(capi):
    assert capi.make("same_size", (X, X[:2]), X, IS_QUIET) == 1
    assert capi.make("same_type", (X, X.astype(np.float64)), X, IS_QUIET) == 1
    assert capi.make("same_shape", (X[None], X), X, IS_QUIET) == 1
    with pytest.raises(ValueError, match=r"argument 2 .* has size n = 2"):
        capi.make("same_size", (X, X[:2]), X)


def test_a_class_that_takes_no_result_is_an_error(capi):
    with pytest.raises(TypeError, match="str objects can't be made"):
        capi.make("same_size", (X,), str)


def test_an_argument_that_was_written_is_returned_itself(capi):
    for x in (X.copy(), torch.tensor([1.0, 2.0, 4.0]), dt.tensor([1.0, 2.0, 4.0])):
        before = sys.getrefcount(x)
        result = capi.increment(x)
        assert result is x
        assert sys.getrefcount(x) == before + 1
        del result
        assert sys.getrefcount(x) == before
        assert x.tolist() == [2, 3, 5]


def test_an_array_that_never_changes_is_copied_and_the_copy_returned(capi):
    array = jnp.float32([1, 2, 4])
    result = capi.increment(array)
    assert type(result) is type(array)
    assert (result.tolist(), array.tolist()) == ([2, 3, 5], [1, 2, 4])
    frozen = X.copy()
    frozen.flags.writeable = False
    with pytest.raises(BufferError, match=r"increment\(\): .* is read-only"):
        capi.increment(frozen)


def test_nothing_is_left_of_results(capi):
    x = X.copy()

    def every_way():
        capi.make("same_size", (x, x), x)
        capi.make("indices", (x,), None)
        capi.make("same_shape", (x,), x, False, IS_DROPPED)
        capi.can_hold(x, INT64)
        capi.increment(x)
        assert capi.make("same_size", (x, 3), x, IS_QUIET) == 1
        for name, like in (("unknown_size", x), ("overflowing", x), ("same_size", str)):
            try:
                capi.make(name, (x,), like)
            except (ValueError, TypeError):
                pass
            else:
                raise AssertionError(name)

    leaves_nothing(every_way, watched=[x], times=20_000)


# parallel_for


@pytest.fixture(params=[1, 2, 7])
def threads(request):
    before = dt.get_num_threads()
    dt.set_num_threads(request.param)
    yield request.param
    dt.set_num_threads(before)


@pytest.mark.parametrize("caller", [WITH_GIL, WITHOUT_GIL, OWN_THREAD])
def test_each_index_is_visited_once(capi, threads, caller):
    capi.increment(X.copy())  # the GIL is not needed once a tensor was borrowed
    for count in (1, 2, 5, 1000, 100_003):
        for grain in (-1, 0, 1, 7, 1000, 1 << 40):
            visits = bytearray(count)
            parts, with_gil = capi.visit(visits, count, grain, caller)
            assert visits == b"\1" * count
            assert 1 <= parts <= count
            if grain >= count or threads == 1:
                assert parts == 1
            if parts > 1 or caller != WITH_GIL:
                assert with_gil == 0


@pytest.mark.parametrize("caller", [WITH_GIL, WITHOUT_GIL, OWN_THREAD])
def test_nothing_is_done_without_iterations(capi, caller):
    capi.increment(X.copy())
    for count in (0, -1):
        assert capi.visit(bytearray(1), count, 1, caller) == (0, 0)


def test_large_loops_have_parts_for_several_threads(capi):
    before = dt.get_num_threads()
    dt.set_num_threads(4)
    try:
        assert capi.visit(bytearray(1000), 1000, 1, WITH_GIL)[0] > 4
        assert capi.visit(bytearray(1000), 1000, 400, WITH_GIL)[0] in (2, 3)
    finally:
        dt.set_num_threads(before)


def test_without_a_package_this_thread_does_the_whole_loop(path):
    code = """if True:
        import sys
        sys.path.insert(0, sys.argv[1])
        import capi_results
        visits = bytearray(1000)
        assert capi_results.visit(visits, 1000, 1, 0) == (1, 1)
        assert visits == b"\\1" * 1000
        assert capi_results.visit(visits, 0, 1, 0) == (0, 0)
        for function, arguments in (
            (capi_results.can_hold, (None, (0, 64, 1))),
            (capi_results.make, ("scalar", (), None)),
        ):
            try:
                function(*arguments)
            except ModuleNotFoundError as error:
                print(error)
    """
    printed = run(sys.executable, "-I", "-c", code, path.parent)
    assert printed == "No module named 'dovetail'\n" * 2
