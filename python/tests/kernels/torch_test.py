"""Kernels and PyTorch: what goes to the operator, and what the operator does."""

import numpy as np
import pytest
import torch
from libraries import k, refused
from torch.utils._python_dispatch import TorchDispatchMode

ops = torch.ops.under_test


def test_schemas_are_those_of_the_functions():
    assert str(ops.scale_add.default._schema) == (
        "under_test::scale_add(Tensor x, Tensor y, float a, Tensor(a3!) out) -> ()"
    )
    assert str(ops.scale_add.functional._schema) == (
        "under_test::scale_add.functional(Tensor x, Tensor y, float a) -> Tensor"
    )
    assert (
        str(ops.increment.default._schema)
        == "under_test::increment(Tensor(a0!) x, SymInt by=1) -> ()"
    )
    assert str(ops.first_of.functional._schema) == (
        "under_test::first_of.functional(Tensor x, SymInt k) -> (Tensor, Tensor)"
    )
    assert str(ops.echo.functional._schema) == (
        "under_test::echo.functional(Tensor x, float number=0.5, float single=2., "
        "SymInt narrow=-3, "
        'SymInt byte=4, bool flag=True, str text="ab", *, str view="abc", SymInt[] ints, '
        "float[] floats, float? maybe=None, str? word=None) -> Tensor"
    )
    assert not hasattr(ops, "positive")  # its size depends on data


def test_an_operator_takes_each_kind_of_argument():
    x = torch.ones(0)
    expected = k.echo(x, 1.0, ints=[1, 2], floats=[0.5], maybe=3.0, word="word")
    assert (
        ops.echo(x, 1.0, ints=[1, 2], floats=[0.5], maybe=3.0, word="word").tolist()
        == expected.tolist()
    )
    y = torch.ones(2)
    assert ops.total([y, y], y).tolist() == ops.total([y, y, y]).tolist() == [3, 3]
    assert ops.total([y, y], None).tolist() == [2, 2]


def test_an_operator_of_a_kernel_that_allows_copies_makes_them():
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).T
    assert ops.packed(x).tolist() == x.tolist()


def test_the_text_of_an_error_is_that_of_the_plain_call():
    x = torch.ones(2)
    calls = [
        (ops.scale_add, k.scale_add, (x, x.double(), 1.0)),
        (ops.scale_add, k.scale_add, (x, x[:1], 1.0)),
        (ops.first_of, k.first_of, (x, 3)),
        (ops.first_of, k.first_of, (x, -1)),
        (ops.total, k.total, ([x, x[:1]],)),
        (ops.fail, k.fail, (x, "index")),
    ]
    for operator, function, arguments in calls:
        with pytest.raises(Exception) as plain:
            function(*arguments)
        refused(RuntimeError, str(plain.value), operator, *arguments)


class Subclass(torch.Tensor):
    pass


def test_a_subclass_goes_by_the_operator_with_the_errors_of_the_plain_call():
    x = torch.ones(2).as_subclass(Subclass)
    assert k.scale_add(x, x, 2.0).tolist() == [3, 3]
    refused(ValueError, "argument 'y' (torch.Tensor) has size n = 1", k.scale_add, x, x[:1], 2.0)
    refused(TypeError, "must be float32, and is float64", k.scale_add, x, x.double(), 2.0)
    refused(IndexError, "no such index", k.fail, x, "index")


class Log(TorchDispatchMode):
    """The operations that a mode sees."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.append(str(function))
        return function(*args, **(kwargs or {}))


def test_a_mode_sees_the_operator_and_nothing_beside_it():
    x = torch.ones(2)
    with Log() as log:
        k.scale_add(x, x, 2.0)
        k.scale_add(x, x, 2.0, x)
    assert log.seen == ["under_test.scale_add.functional", "under_test.scale_add.default"]
    with Log() as log:
        refused(TypeError, "positive(): is no operator of PyTorch", k.positive, x)
    assert log.seen == []


def test_memory_that_is_no_plain_memory_goes_by_the_operator():
    x = torch.ones(2)
    assert k.scale_add(x.to("meta"), x.to("meta"), 2.0).device.type == "meta"
    negative = torch._neg_view(x)
    assert k.scale_add(negative, x, 2.0).tolist() == [-1, -1]
    assert k.scale_add(torch.nn.Parameter(x, requires_grad=False), x, 2.0).tolist() == [3, 3]


def test_fake_results_have_the_sizes_and_types_of_real_ones():
    from torch._subclasses import FakeTensorMode

    calls = [
        (k.scale_add, (torch.ones(3), torch.ones(3), 1.0)),
        (k.first_of, (torch.ones(2, 3, 5, dtype=torch.float16), 2)),
        (k.halves, (torch.ones(6),)),
        (k.total, ([torch.ones(3)] * 2,)),
        (k.increment, (torch.ones(3, dtype=torch.bfloat16),)),
    ]
    for function, arguments in calls:
        real = function(*arguments)
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            faked = torch.utils._pytree.tree_map_only(torch.Tensor, mode.from_tensor, arguments)
            fake = function(*faked)
        real, fake = ([x] if torch.is_tensor(x) else x for x in (real, fake))
        for one, other in zip(real, fake, strict=True):
            assert (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)


def test_a_type_that_is_cast_has_the_fake_result_of_the_real_one():
    x = torch.arange(4, dtype=torch.float64)
    compiled = torch.compile(lambda x: k.cast(x) * 3, fullgraph=True)
    assert compiled(x).tolist() == (k.cast(x) * 3).tolist() == [0, 3, 6, 9]


def test_a_tensor_of_pytorch_beside_one_that_is_refused_keeps_the_error():
    x, frozen = torch.ones(2), np.ones(2, np.float32)
    frozen.flags.writeable = False
    refused(
        BufferError, "argument 'out' (numpy.ndarray) is written", k.scale_add, x, x, 1.0, frozen
    )


def test_a_text_that_is_no_utf8_is_replaced():
    x = torch.ones(2)
    refused(RuntimeError, "fail(): bad ?", k.fail, x, "bytes")
    refused(RuntimeError, "fail(): bad ?", ops.fail, x, "bytes")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_trace_of_torchscript_has_the_operator():
    x = torch.ones(2)
    traced = torch.jit.trace(lambda x: k.scale_add(x, x, 2.0) * 1, (x,), check_trace=False)
    assert traced(10 * x).tolist() == [30, 30]


def test_a_kernel_without_tensors_has_plain_calls_alone():
    assert k.count_to(3).tolist() == [0, 1, 2]
    assert not hasattr(ops, "count_to")


# Gradients


def test_a_kernel_without_a_formula_refuses_gradients():
    x = torch.ones(2, requires_grad=True)
    words = "argument 'x' requires gradients, and the kernel has no formula for them. Register one"
    refused(RuntimeError, words, k.halves, x)
    refused(RuntimeError, "argument 'xs' requires gradients", k.total, [x.detach(), x])
    refused(RuntimeError, "argument 'xs' requires gradients", k.total, [x], None, torch.zeros(2))
    with pytest.raises(Exception, match="no formula"):
        torch.compile(lambda x: k.halves(x), fullgraph=True)(x)
    with torch.no_grad():
        assert k.halves(x)[0].tolist() == [1]


def test_a_formula_may_be_registered_after_a_compiled_call():
    function = torch.compile(lambda x: k.on_threads(x).sum(), fullgraph=True)
    x = torch.ones(2)
    function(x)
    torch.library.register_autograd("under_test::on_threads.functional", lambda ctx, g: 2 * g)
    x = torch.ones(2, requires_grad=True)
    function(x).backward()
    assert x.grad.tolist() == [2, 2]


def test_the_copy_of_a_functional_operator_passes_no_gradient_on():
    x = torch.ones(2, requires_grad=True)
    y = ops.increment.functional(x)
    with pytest.warns(UserWarning, match="autograd kernel was not registered"):
        y.sum().backward()
    assert x.grad is None


def test_a_given_output_has_no_gradients():
    x, out = torch.ones(2, requires_grad=True), torch.zeros(2)
    refused(
        RuntimeError,
        "argument 'x' requires gradients, and a call that writes to 'out' records none. Leave",
        k.scale_add,
        x,
        x,
        1.0,
        out,
    )
    refused(RuntimeError, "argument 'x' requires gradients", k.increment, x)
    with torch.no_grad():
        assert k.scale_add(x, x, 1.0, out) is out
        assert k.increment(x) is x
    assert x.tolist() == [2, 2]


def test_writes_are_counted():
    x, out = torch.ones(2), torch.zeros(2)
    for function in (k.scale_add, ops.scale_add):
        before = out._version
        function(x, x, 1.0, out)
        assert out._version == before + 1
    weight = torch.ones(2, requires_grad=True)
    product = weight * out
    k.scale_add(x, x, 1.0, out)
    refused(RuntimeError, "modified by an inplace operation", product.sum().backward)
    with torch.inference_mode():
        inferred = torch.zeros(2)
        k.increment(inferred)
    refused(RuntimeError, "Inplace update to inference tensor", k.increment, inferred)
    assert inferred.tolist() == [1, 1]


def test_vmap_of_an_operator_that_writes_is_refused():
    x, out = torch.ones(2, 3), torch.zeros(3)
    refused(
        RuntimeError,
        "Batching rule not implemented",
        torch.vmap(lambda x: k.scale_add(x, out, 1.0, out)),
        x,
    )
    assert torch.vmap(lambda x: k.scale_add(x, x[:3], 1.0))(x).tolist() == [[2] * 3] * 2
    refused(RuntimeError, "vmap over no elements", torch.vmap(ops.increment.functional), x[:0])


def test_an_expanded_tensor_is_not_written_to():
    x = torch.ones(2)
    words = "argument 'out' (torch.Tensor) is written by the function, and has several elements"
    refused(ValueError, words, k.scale_add, x, x, 1.0, torch.zeros(1).expand(2))
    refused(RuntimeError, words, ops.scale_add, x, x, 1.0, torch.zeros(1).expand(2))


def test_a_tensor_of_another_library_beside_pytorch():
    x, y = torch.ones(2), np.ones(2, np.float32)
    assert torch.is_tensor(k.scale_add(x, y, 2.0))
    assert isinstance(k.scale_add(y, x, 2.0), np.ndarray)
