"""What a function can't take is refused: which argument, what it is, what is wanted, what to do."""

import numpy as np
import peers
import pytest
import torch
from bindings import refused
from process import run_python
from torch_without_memory import WITHOUT_MEMORY

import dovetail as dt

pytest_plugins = ["bindings"]
X = np.float32([1, 2, 4])


def test_another_type_is_named_with_its_remedy(ext):
    refused(
        TypeError,
        'argument 2 (numpy.ndarray) must be float32, and is float64. Pass x.astype("float32").',
        ext.add,
        X,
        X.astype(np.float64),
        X,
    )
    refused(
        TypeError,
        "argument 1 (torch.Tensor) must be float32, and is int64. Pass x.to(torch.float32).",
        ext.add,
        torch.arange(3),
        X,
        X,
    )


def test_another_rank_or_size_is_named(ext):
    refused(TypeError, "argument 3 (numpy.ndarray) must have 1 dimension", ext.add, X, X, X[None])
    refused(ValueError, "must have size 3 in dimension 1", ext.matrix, np.zeros((2, 4), np.float32))


def test_two_arguments_that_disagree_are_both_named(ext):
    words = "argument 2 (numpy.ndarray) has size n = 2 in dimension 0, and argument 1 has n = 3"
    refused(ValueError, words, ext.add, X, X[:2], X)
    words = "argument 3 (torch.Tensor) has size n = 1 in dimension 0, and argument 1 has n = 3"
    refused(ValueError, words, ext.add, X, X, torch.zeros(1))
    words = "has size n = 3 in dimension 1, and another dimension has n = 2"
    refused(ValueError, words, ext.square, np.zeros((2, 3), np.float32))
    a, b = np.zeros((2, 3), np.float32), np.zeros((4, 5), np.float32)
    words = "argument 2 (numpy.ndarray) has size k = 4 in dimension 0, and argument 1 has k = 3"
    refused(ValueError, words, ext.product, a, b, np.zeros((2, 5), np.float32))
    words = "has size cols = 6 in dimension 1, and argument 2 has cols = 5"
    refused(ValueError, words, ext.product, a, b[:3], np.zeros((2, 6), np.float32))


def test_a_call_has_at_most_eight_named_sizes(ext):
    words = "has the named size i, and a call has at most 8 of them"
    refused(ValueError, words, ext.nine_names, np.zeros((1,) * 9, np.float32))


@pytest.mark.parametrize("x", [[1.0], "text", 1.0, object(), {"a": 1}])
def test_what_is_no_tensor_is_said_to_be_none(ext, x):
    refused(TypeError, f"argument 2: '{type(x).__name__}' object is no tensor", ext.add, X, x, X)


def test_none_is_refused(ext):
    with pytest.raises(TypeError):
        ext.add(X, None, X)


def test_memory_that_would_be_written_must_not_be_read_only(ext):
    locked = X.copy()
    locked.flags.writeable = False
    for out in (locked, peers.JAX.make("float32", [1, 2, 4]), bytes(12)):
        with pytest.raises((BufferError, TypeError), match="argument 3"):
            ext.add(X, X, out)
    refused(BufferError, "is written by the function, and is read-only", ext.writable, b"abc")


def test_elements_that_would_be_written_must_not_be_in_one_place(ext):
    expanded = torch.zeros(3).expand(2, 3)
    with pytest.raises(ValueError, match=r"several elements in one place.*\(0, 1\).*Pass a copy"):
        ext.writable(expanded)
    assert ext.repeats(expanded) == expanded.data_ptr()
    assert ext.writable(torch.zeros(3).expand(1, 3))


def test_what_pytorch_itself_refuses_is_refused(ext):
    grad = torch.ones(3, requires_grad=True)
    for x in (grad, torch.nn.Parameter(torch.ones(3)), grad * 2):
        refused(BufferError, "argument 1", ext.doubled, x)
    assert ext.doubled(grad.detach()).tolist() == [2, 2, 2]
    negative = torch._neg_view(torch.arange(4.0))
    refused(BufferError, "negation", ext.doubled, negative)
    assert ext.doubled(negative.resolve_neg()).tolist() == [0, -2, -4, -6]
    refused(BufferError, "conj", ext.complex64, torch.ones(3, dtype=torch.complex64).conj())
    with pytest.raises((BufferError, TypeError, RuntimeError)):
        ext.doubled(torch.ones(3).to_sparse())
    with pytest.raises((BufferError, TypeError, RuntimeError)):
        ext.doubled(torch.ones(3, device="meta"))


@pytest.mark.parametrize("name", WITHOUT_MEMORY)
def test_tensors_with_elements_and_no_memory_are_refused(ext, name, capfd):
    x = WITHOUT_MEMORY[name]()
    function = ext.complex64 if x.is_complex() else ext.doubled
    with pytest.raises((BufferError, RuntimeError), match="argument 1"):
        function(x)
    assert capfd.readouterr().err == ""


def test_tensors_without_values_are_refused(ext):
    with torch._subclasses.fake_tensor.FakeTensorMode():
        fake = torch.ones(3)
    with pytest.raises((BufferError, TypeError, RuntimeError)):
        ext.doubled(fake)
    seen = []
    import jax

    def traced(x):
        with pytest.raises((BufferError, TypeError)) as caught:
            ext.doubled(x)
        seen.append(str(caught.value))
        return x

    jax.jit(traced)(np.float32([1]))
    assert len(seen) == 1


def test_a_subclass_may_refuse(ext):
    class Refusing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            raise RuntimeError("not this one")

    refusing = torch.ones(3).as_subclass(Refusing)
    with pytest.raises((RuntimeError, BufferError), match="not this one"):
        ext.doubled(refusing)


def test_masked_elements_are_refused(ext):
    masked = np.ma.masked_array(X, mask=[False, True, False])
    refused(BufferError, "masked", ext.doubled, masked)
    assert ext.doubled(np.ma.masked_array(X)).tolist() == [2, 4, 8]


def test_other_types_of_numpy_are_refused(ext):
    for x in (np.zeros(3, [("a", "f4")]), X.astype(">f4"), np.array(["a"]), np.array([object()])):
        with pytest.raises((BufferError, TypeError)):
            ext.doubled(x)


class Producer:
    """An object whose __dlpack__ does something."""

    def __init__(self, action):
        self.action = action

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **kwargs):
        return self.action(**kwargs)


def raising(error):
    def action(**kwargs):
        raise error

    return action


def test_errors_of_producers_come_through(ext):
    refused(BufferError, "argument 1", ext.doubled, Producer(raising(BufferError("no way"))))
    refused(BufferError, "no way", ext.doubled, Producer(raising(BufferError("no way"))))
    with pytest.raises(KeyboardInterrupt):
        ext.doubled(Producer(raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        ext.kind(Producer(raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        ext.shared(Producer(raising(KeyboardInterrupt())))
    refused(TypeError, "not a capsule", ext.doubled, Producer(lambda **_: 7))
    with pytest.raises((BufferError, TypeError, ValueError)):
        ext.doubled(Producer(lambda **_: dt.to_dlpack(dt.empty(3, dtype=dt.int8))))


OWN_ERRORS = [MemoryError("own"), RuntimeError("own"), ValueError("own"), KeyError("own")]


class Interface:
    """An object whose __array_interface__ raises."""

    def __init__(self, error):
        self.error = error

    @property
    def __array_interface__(self):
        raise self.error


@pytest.mark.parametrize("error", OWN_ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("name", ["kind", "listed", "shared", "doubled"])
def test_errors_of_producers_come_through_overloads_and_owned_tensors(ext, name, error):
    with pytest.raises((BufferError, MemoryError), match="own") as caught:
        getattr(ext, name)(Producer(raising(error)))
    seen = caught.value
    assert error in (seen, seen.__cause__)
    with pytest.raises(type(error), match="own"):
        getattr(ext, name)(Interface(error))


def test_a_producer_that_refuses_leaves_the_other_overloads(ext):
    class Refusing(list):
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **kwargs):
            raise BufferError("no tensor today")

    for _ in range(3):
        assert ext.listed(Refusing([1.5])) == "list"
        refused(TypeError, "incompatible", ext.kind, Refusing())
        refused(TypeError, "incompatible", ext.shared, Refusing())


def test_interrupts_of_a_tensor_in_a_list_end_no_process(ext):
    run_python(f"""
import {ext.__name__} as ext

class Producer:
    def __init__(self, error):
        self.error = error

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **kwargs):
        raise self.error

for error, expected in [(KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), MemoryError)]:
    seen = []
    try:
        try:
            ext.fill_all([Producer(error)])
        except BaseException as e:
            seen.append(type(e))
            for _ in range(100):  # a pending interrupt is raised at the next instructions
                str(_)
    except KeyboardInterrupt:
        seen.append(KeyboardInterrupt)
    assert expected in seen or (seen == [TypeError] and expected is MemoryError), seen
""")


def test_a_producer_may_call_the_same_function(ext):
    def action(**kwargs):
        with pytest.raises(ValueError, match="argument 3"):
            ext.add(X, X, X.copy()[:2])
        out = np.zeros(5, np.float32)
        ext.add(np.ones(5, np.float32), np.ones(5, np.float32), out)
        assert out.tolist() == [2] * 5
        return X.__dlpack__(**kwargs)

    out = np.zeros(3, np.float32)
    ext.add(X, Producer(action), out)
    assert out.tolist() == [2, 4, 8]


def test_a_producer_may_drop_what_it_gives(ext):
    def action(**kwargs):
        producer.action = None
        return np.float32([3]).__dlpack__(**kwargs)

    producer = Producer(action)
    assert dt.from_dlpack(ext.doubled(producer)).tolist() == [6]


def test_an_error_of_the_body_comes_through(ext):
    with pytest.raises(RuntimeError, match="from the body"):
        ext.throws(X)
    assert ext.doubled(X).tolist() == [2, 4, 8]


def test_a_refusal_leaves_nothing_for_the_next_call(ext):
    for _ in range(3):
        with pytest.raises(ValueError, match="argument 3"):
            ext.add(X, X, X[:1])
        with pytest.raises(TypeError, match="incompatible"):
            ext.kind(np.zeros(1, np.float16))
        refused(TypeError, "argument 1", ext.add, np.zeros(1, np.float16), X, X)
        out = np.zeros(3, np.float32)
        ext.add(X, X, out)
        assert out.tolist() == [2, 4, 8]
        assert type(ext.wrapped()) is dt.Tensor  # no argument of a refused call is remembered
