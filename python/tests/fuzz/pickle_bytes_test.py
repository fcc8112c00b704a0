"""Pickles of tensors, types and handles of shared memory, with wrong arguments and damaged bytes.

A pickle may run any function, so nobody should load one from a stranger. But what reaches Dovetail
from a damaged pickle is an error or a tensor inside its memory: never a crash.
"""

import io
import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from profiles import run

import dovetail as dt

TYPED_ERRORS = (TypeError, ValueError, BufferError, OverflowError, MemoryError)
TYPES = ["bool", "int4", "int8", "int64", "uint2", "float16", "float32", "float64", "bfloat16",
         "complex64", "float8_e4m3fn", "float6_e2m3fn", "float4_e2m1fn"]  # fmt: skip

anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.binary(max_size=8), st.just(object()), st.lists(st.integers(), max_size=2),
)  # fmt: skip
blocks = st.one_of(
    st.binary(max_size=64),
    st.binary(max_size=64).map(bytearray),
    st.binary(max_size=64).map(memoryview),
    st.binary(max_size=64).map(pickle.PickleBuffer),
    st.integers(0, 8).map(lambda n: np.zeros((n, 2), np.float32).T),
    st.integers(0, 8).map(lambda n: np.zeros(2 * n, np.uint8)[::2]),
    st.integers(0, 8).map(dt.arange),
    anything,
)
type_names = st.one_of(
    st.sampled_from(TYPES),
    st.sampled_from(["float32x4", "float32x65535", "int8x0", "handle", "float31", "", "\0"]),
    st.sampled_from(TYPES).map(dt.dtype),
    anything,
)
sizes = st.one_of(
    st.integers(0, 5), st.integers(-2, 2**65), st.sampled_from([2**31, 2**62, 2**63 - 1]), anything
)
shapes = st.one_of(
    st.lists(st.integers(0, 5), max_size=3).map(tuple),
    st.lists(sizes, max_size=4).map(tuple),
    st.lists(st.just(1), min_size=60, max_size=70).map(tuple),
    anything,
)
flags = st.one_of(st.booleans(), anything)


def read_whole(tensor):
    """All elements, unless damaged strides, shapes or types repeat a few bytes as gigabytes."""
    assert isinstance(tensor, dt.Tensor)
    if tensor.nbytes < 1_000_000:
        tensor.copy()
        if tensor.dtype.lanes == 1:  # others have no numbers
            tensor.tolist()
    repr(tensor)


def replaced(given, wrong):
    """The arguments of a pickle's function, some of them replaced."""
    given = list(given)
    for place, value in wrong:
        given[place % len(given)] = value
    return given


one_of_each = st.one_of(blocks, type_names, shapes, flags, sizes, st.just("cuda:0"))
wrong_arguments = st.lists(st.tuples(st.integers(0, 8), one_of_each), max_size=2)


def test_wrong_arguments_are_errors_or_tensors_in_the_memory():
    taken = []

    def try_examples(settings):
        @settings
        @given(st.sampled_from(TYPES), st.sampled_from([(), (3,), (2, 2), (0, 2)]), st.booleans(),
               wrong_arguments, wrong_arguments)  # fmt: skip
        def loads(name, shape, transposed, wrong_tensor, wrong_memory):
            tensor = dt.full(shape, 1, dtype=name)
            load, (version, memory, *fields) = (tensor.T if transposed else tensor).__reduce_ex__(5)
            load_memory, given = memory.__reduce_ex__(5)
            try:
                row = load_memory(*replaced(given, wrong_memory))
                tensor = load(*replaced([version, row, *fields], wrong_tensor))
            except (*TYPED_ERRORS, RuntimeError):
                return
            assert tensor.size == 0 or tensor.nbytes <= row.nbytes or 0 in tensor.strides
            assert tensor.readonly or not row.readonly
            read_whole(tensor)
            taken.append(tensor.shape)

        loads()

    run(try_examples, examples=1000)
    assert len(taken) > 50


def a_pickle(protocol, name, shape, in_band):
    tensor = dt.full(shape, 1, dtype=name)
    buffers = []
    keep = None if in_band or protocol < 5 else buffers.append
    return pickle.dumps(tensor, protocol=protocol, buffer_callback=keep), buffers


class Unpickler(pickle._Unpickler):
    """Finds the functions of undamaged pickles only. (Written in Python: the one in C trusts the
    places of its memo and would allocate as much memory as a damaged one asks for.)"""

    KNOWN = frozenset({("dovetail._pickle", "load_tensor"), ("dovetail._pickle", "load_memory"),
                       ("dovetail._pickle", "load_bytes"), ("dovetail._pickle", "restore_dtype"),
                       ("dovetail.ipc", "Handle"),
                       ("builtins", "bytearray"), ("builtins", "getattr"),
                       ("_codecs", "encode")})  # fmt: skip

    def find_class(self, module, name):
        if (module, name.split(".")[0]) not in self.KNOWN and (module, name) not in self.KNOWN:
            raise pickle.UnpicklingError(f"not loading {module}.{name}")
        return super().find_class(module, name)


def damage(data, edits):
    damaged = bytearray(data)
    for where, kind, value in edits:
        if not damaged:
            break
        at = where % len(damaged)
        if kind == "replace":
            damaged[at] = value
        elif kind == "insert":
            damaged.insert(at, value)
        elif kind == "delete":
            del damaged[at : at + 1 + value % 4]
        else:
            del damaged[at:]
    return bytes(damaged)


edits = st.lists(
    st.tuples(
        st.integers(0, 2000),
        st.sampled_from(["replace", "replace", "insert", "delete", "cut"]),
        st.integers(0, 255),
    ),
    max_size=3,
)
protocols = st.integers(0, pickle.HIGHEST_PROTOCOL)


def test_damaged_pickles_of_tensors_are_errors_or_tensors():
    loaded = []

    def try_examples(settings):
        @settings
        @given(protocols, st.sampled_from(TYPES), st.sampled_from([(), (3,), (2, 2), (0, 2)]),
               st.booleans(), edits, st.binary(max_size=20))  # fmt: skip
        def loads(protocol, name, shape, in_band, edits, other):
            data, buffers = a_pickle(protocol, name, shape, in_band)
            if buffers and len(edits) == 2:
                buffers = [other]
            try:
                result = Unpickler(io.BytesIO(damage(data, edits)), buffers=buffers).load()
            except SystemError:
                raise
            except Exception:
                return  # pickle raises errors of every kind
            if isinstance(result, dt.Tensor):
                read_whole(result)
                loaded.append(result.shape)

        loads()

    run(try_examples, examples=1000)
    assert len(loaded) > 50


def test_damaged_handles_of_shared_memory_are_value_errors():
    tensor = dt.ipc.empty((2, 3))
    handle = dt.ipc.share(tensor)

    def try_examples(settings):
        @settings
        @given(edits, st.booleans())
        def opens(edits, whole):
            rebuild, (data,) = handle.__reduce__()
            data = damage(data, edits)
            try:
                other = rebuild(data if whole else memoryview(bytearray(data)))
            except ValueError:
                assert data != bytes(handle)
                return
            assert other == handle and dt.ipc.open(other).shape == (2, 3)

        opens()

    run(try_examples, examples=300)


def test_damaged_names_of_types_are_errors_or_types():
    restore, _ = dt.float32.__reduce__()[:2]

    def try_examples(settings):
        @settings
        @given(type_names)
        def restores(name):
            try:
                assert restore(name).bits > 0
            except (TypeError, ValueError):
                return

        restores()

    run(try_examples, examples=300)
