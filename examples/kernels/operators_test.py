"""The kernels as operators of PyTorch: compiled, exported, with gradients, beside PyTorch's own."""

import pytest
import torch
import torch.nn.functional as F
from torch.fx.experimental.proxy_tensor import make_fx

import kernels

ops = torch.ops.examples


@pytest.fixture(autouse=True)
def nothing_is_compiled_yet():
    torch._dynamo.reset()


def random(*shape, seed=1):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def angles(positions, half):
    turns = torch.arange(positions)[:, None] / 10 ** torch.arange(half)
    return turns.cos(), turns.sin()


PACKED = torch.arange(24, dtype=torch.uint8).reshape(2, 12)
# The arguments of each kernel.
CALLS = {
    "scale": (random(9), 3.0),
    "rms_norm": (random(3, 8), random(8, seed=2)),
    "rotate": (random(2, 3, 5, 8), *angles(5, 4)),
    "gather_pages": (random(6, 2, 3), torch.tensor([[5, 0, 2], [1, 1, 4]])),
    "max_of_rows": (random(2, 3, 40),),
    "dequantize_int4": (PACKED, random(2)),
}


def call(name):
    """The kernel over arguments of its own: rotate() writes to its first one."""
    return getattr(kernels, name), [x.clone() if torch.is_tensor(x) else x for x in CALLS[name]]


def assert_equal(got, expected):
    torch.testing.assert_close(got, expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", CALLS)
def test_the_functional_operator_gives_what_the_plain_call_gives(name):
    function, arguments = call(name)
    operator = getattr(ops, name).functional
    assert_equal(operator(*CALLS[name]), function(*arguments))


@pytest.mark.parametrize("name", CALLS)
def test_opcheck_passes(name):
    torch.library.opcheck(getattr(ops, name).functional, CALLS[name])


def test_opcheck_passes_for_operators_that_write():
    _, (x, weight) = call("rms_norm")
    torch.library.opcheck(ops.rms_norm.default, (x, weight, 1e-6, torch.empty_like(x)))
    torch.library.opcheck(ops.rotate.default, tuple(call("rotate")[1]))
    x = CALLS["max_of_rows"][0]
    values, indices = torch.empty(2, 3), torch.empty(2, 3, dtype=torch.int64)
    torch.library.opcheck(ops.max_of_rows.default, (x,), {"values": values, "indices": indices})


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_each_is_compiled_whole(name, dynamic):
    function, arguments = call(name)
    expected = function(*[x.clone() if torch.is_tensor(x) else x for x in arguments])
    compiled = torch.compile(lambda *a: function(*a), fullgraph=True, dynamic=dynamic)
    assert_equal(compiled(*arguments), expected)
    if name == "rotate":
        assert_equal(arguments[0], expected)


def test_a_compiled_function_writes_to_the_tensor_that_it_gets():
    x, weight = CALLS["rms_norm"]
    out = torch.zeros(3, 8)
    compiled = torch.compile(lambda *a: kernels.rms_norm(*a, 1e-6, out) + 1, fullgraph=True)
    assert_equal(compiled(x, weight), kernels.rms_norm(x, weight) + 1)
    assert_equal(out, kernels.rms_norm(x, weight))


class Block(torch.nn.Module):
    """Two of the kernels in a model."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.RMSNorm(8, eps=1e-6)

    def forward(self, x):
        return kernels.scale(kernels.rms_norm(x, self.norm.weight).reshape(-1), 2.0) + 1


@pytest.mark.parametrize("strict", [False, True])
def test_a_model_is_exported(strict):
    x, model = random(3, 8), Block().requires_grad_(False)
    rows = torch.export.Dim("rows")
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: rows},), strict=strict)
    called = [str(node.target) for node in exported.graph.nodes if "examples" in str(node.target)]
    assert called == ["examples.rms_norm.functional", "examples.scale.functional"]
    expected = 2 * F.rms_norm(x, (8,), model.norm.weight, 1e-6).reshape(-1) + 1
    torch.testing.assert_close(exported.module()(x), expected)
    assert exported.module()(random(7, 8)).shape == (56,)


def test_a_model_is_compiled_ahead_of_time(tmp_path):
    x, model = random(3, 8), Block().requires_grad_(False)
    exported = torch.export.export(model, (x,))
    path = str(tmp_path / "block.pt2")
    package = torch._inductor.aoti_compile_and_package(exported, package_path=path)
    assert_equal(torch._inductor.aoti_load_package(package)(x), model(x))


def test_a_trace_has_the_operator_and_nothing_beside_it():
    x, weight = CALLS["rms_norm"]
    for mode in ("real", "fake", "symbolic"):
        graph = make_fx(lambda x, w: kernels.rms_norm(x, w), tracing_mode=mode)(x, weight).graph
        called = [str(node.target) for node in graph.nodes if node.op == "call_function"]
        assert called == ["examples.rms_norm.functional"]


def rms_norm_backward(context, gradient):
    x, weight = context.saved_tensors
    scale = (x.square().mean(-1, keepdim=True) + context.eps).rsqrt()
    scaled = gradient * weight
    along = (scaled * x).mean(-1, keepdim=True)
    of_weight = (gradient * x * scale).reshape(-1, x.shape[-1]).sum(0)
    return scale * (scaled - x * scale.square() * along), of_weight, None


def save_for_rms_norm(ctx, inputs, output):
    x, weight, ctx.eps = inputs
    ctx.save_for_backward(x, weight)


torch.library.register_autograd(
    "examples::rms_norm.functional", rms_norm_backward, setup_context=save_for_rms_norm
)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_gradients_of_a_kernel_with_a_formula_are_those_of_pytorch(is_compiled):
    x, weight = random(3, 8).requires_grad_(), torch.nn.Parameter(random(8, seed=2))

    def loss(x, weight):
        return kernels.rms_norm(x, weight, 1e-6).square().sum()

    (torch.compile(loss, fullgraph=True) if is_compiled else loss)(x, weight).backward()
    got = x.grad, weight.grad
    x.grad = weight.grad = None
    F.rms_norm(x, (8,), weight, 1e-6).square().sum().backward()
    torch.testing.assert_close(got, (x.grad, weight.grad))


def test_gradcheck_passes():
    x, weight = random(2, 4).requires_grad_(), random(4, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, w: kernels.rms_norm(x, w, 1e-6), (x, weight), eps=1e-2, atol=1e-2, rtol=1e-2
    )


@pytest.mark.parametrize("name", ["scale", "rms_norm", "max_of_rows", "rotate"])
def test_vmap_maps_over_a_batch(name):
    function = ops.rotate.functional if name == "rotate" else getattr(kernels, name)
    first, *others = CALLS[name]
    batch = torch.stack([first, 2 * first])
    got = torch.vmap(function, in_dims=(0, *[None] * len(others)))(batch, *others)
    each = [function(one, *others) for one in batch]
    expected = (
        tuple(map(torch.stack, zip(*each, strict=True)))
        if isinstance(each[0], tuple)
        else torch.stack(each)
    )
    assert_equal(got, expected)
