"""Attributes that a producer computes are read once, and their exceptions are passed on."""

import sys

import numpy as np
import pytest

import dovetail as dt


class Stop(BaseException):
    """An error that is not an Exception, like KeyboardInterrupt."""


CALLS = {
    "convert": lambda x: dt.convert(x, dt.Tensor),
    "tensor": dt.tensor,
    "tensor in a list": lambda x: dt.tensor([x, x][:1]),
    "to_tensor": dt.to_tensor,
    "copyto": lambda x: dt.copyto(dt.zeros(3), x),
    "assignment": lambda x: dt.zeros(3).__setitem__(slice(None), x),
    "full": lambda x: dt.full((3,), x),
}
INTERFACES = {
    "__array_interface__": {**CALLS, "from_array_interface": dt.from_array_interface},
    "__cuda_array_interface__": {
        **CALLS,
        "from_cuda_array_interface": dt.from_cuda_array_interface,
    },
}
CASES = [(name, call) for name, calls in INTERFACES.items() for call in calls]


def producer(name, get):
    return type("Producer", (), {name: property(get)})()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, Stop, RuntimeError])
@pytest.mark.parametrize(("name", "call"), CASES)
def test_what_an_interface_raises_comes_through(name, call, error):
    def get(_):
        raise error("of its own")

    with pytest.raises(error, match="of its own"):
        INTERFACES[name][call](producer(name, get))


@pytest.mark.parametrize("call", INTERFACES["__array_interface__"])
def test_an_interface_is_read_once(call):
    array, reads = np.arange(3, dtype=np.float32), []

    def get(_):
        reads.append(1)
        return array.__array_interface__

    x = producer("__array_interface__", get)
    if call == "full":
        with pytest.raises(TypeError, match="a number"):
            dt.full((3,), x)
    else:
        INTERFACES["__array_interface__"][call](x)
        assert reads == [1]


@pytest.mark.parametrize("call", CALLS)
def test_an_interface_that_asks_for_itself_ends_in_a_recursion_error(call):
    reads = []

    def get(self):
        reads.append(1)
        assert len(reads) < 10_000
        return CALLS[call](self)

    # The default limit of 1,000 levels does not fit an 8 MiB stack of a sanitizer's frames.
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        with pytest.raises(RecursionError):
            CALLS[call](producer("__array_interface__", get))
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stop])
@pytest.mark.parametrize("call", [*CALLS, "from_dlpack", "explain"])
def test_what_a_metaclass_raises_comes_through(call, error):
    class Meta(type):
        @property
        def __dlpack__(cls):
            raise error("of its own")

    x = Meta("Producer", (), {})()
    calls = {**CALLS, "from_dlpack": dt.from_dlpack, "explain": dt.explain}
    with pytest.raises(error, match="of its own"):
        calls[call](x)


@pytest.mark.parametrize("name", ["__dlpack__", "__dlpack_device__"])
def test_explain_lets_an_interrupt_through(name):
    def interrupt(*_, **__):
        raise KeyboardInterrupt("now")

    x = type("Producer", (), {"__dlpack_device__": lambda _: (1, 0), "__dlpack__": None})
    setattr(x, name, interrupt)
    with pytest.raises(KeyboardInterrupt, match="now"):
        dt.explain(x())


def test_an_index_lets_an_interrupt_through():
    def interrupt(_):
        raise KeyboardInterrupt("now")

    x = type("Index", (), {"__index__": lambda _: 1, "ndim": property(interrupt)})()
    with pytest.raises(KeyboardInterrupt, match="now"):
        dt.zeros(3)[x]


def test_to_lets_an_interrupt_through():
    def interrupt(_):
        raise KeyboardInterrupt("now")

    for name in ("__str__", "isnative", "dtype"):
        x = type("Type", (), {name: interrupt if name == "__str__" else property(interrupt)})()
        with pytest.raises(KeyboardInterrupt, match="now"):
            dt.zeros(3).to(x)


def test_a_stream_object_lets_an_interrupt_through():
    def interrupt(_):
        raise KeyboardInterrupt("now")

    for name in ("__cuda_stream__", "cuda_stream", "ptr"):
        with pytest.raises(KeyboardInterrupt, match="now"):
            dt.stream(producer(name, interrupt))


def test_the_type_of_a_number_lets_an_interrupt_through():
    def interrupt(_):
        raise KeyboardInterrupt("now")

    x = type("Number", (), {"__float__": lambda _: 1.0, "dtype": property(interrupt)})()
    with pytest.raises(KeyboardInterrupt, match="now"):
        dt.tensor(x)


@pytest.mark.parametrize("x", [[1], 1, "text", None, object()], ids=repr)
def test_convert_says_what_it_takes(x):
    with pytest.raises(TypeError, match=r"__dlpack__.*dovetail\.tensor\(\)"):
        dt.convert(x, np.ndarray)
