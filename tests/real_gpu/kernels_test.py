"""examples/kernels_cuda, compiled by nvcc, with PyTorch, CuPy and JAX on a real GPU. Skipped where
there is none.

python -m pytest kernels_test.py     # beside kernels_by_nvcc.so; no Bazel needed
"""

import pathlib

import pytest
from torch_on_gpu import torch

import dovetail as dt

LIBRARY = pathlib.Path(__file__).with_name("kernels_by_nvcc.so")
if not LIBRARY.is_file() or LIBRARY.stat().st_size == 0:
    pytest.skip("the pack was built without nvcc", allow_module_level=True)
k = dt.load_kernels(LIBRARY, namespace="real_gpu_kernels")

# Clock cycles that keep a stream busy for some tens of milliseconds.
BUSY = 50_000_000
# Relative to the largest element.
ERRORS = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}


def random(*shape, dtype=torch.float32, device="cuda"):
    return torch.randn(shape, device=device).to(dtype)


def expected(x, weight, eps=1e-6):
    return torch.nn.functional.rms_norm(x.double(), weight.shape, weight.double(), eps)


def are_close(result, x, weight, eps=1e-6):
    wanted = expected(x, weight, eps)
    error = (result.double() - wanted).abs().max() / wanted.abs().max()
    return error.item() < ERRORS[x.dtype]


@pytest.mark.parametrize("dtype", ERRORS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (3, 255), (7, 256), (2, 5, 4096), (100_000, 64)])
def test_the_values_are_those_of_torch(dtype, shape):
    x, weight = random(*shape, dtype=dtype), random(shape[-1], dtype=dtype)
    result = k.rms_norm(x, weight, eps=0.1)
    assert (result.dtype, result.shape, result.device) == (dtype, x.shape, x.device)
    assert are_close(result, x, weight, eps=0.1)
    out = torch.full_like(x, 7)
    assert k.rms_norm(x, weight, eps=0.1, out=out) is out
    assert torch.equal(out, result)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_every_narrow_number_is_read_and_written_as_by_torch(dtype):
    bits = torch.arange(-(1 << 15), 1 << 15, device="cuda").to(torch.int16).view(dtype)
    x = bits[torch.isfinite(bits)].reshape(-1, 1)  # subnormal ones among them
    # Rows of one element with eps so large that they are scaled by 1 / 2**20.
    result = k.rms_norm(x, torch.ones(1, dtype=dtype, device="cuda"), eps=2.0**40)
    scale = 1 / torch.sqrt(x.float() * x.float() + 2.0**40)
    wanted = (x.float() * scale).to(dtype)
    distance = (result.view(torch.int16).int() - wanted.view(torch.int16).int()).abs()
    assert distance.max().item() <= 1  # the division and the root may differ in the last bit


def test_a_launch_goes_to_the_current_stream_and_the_host_does_not_wait():
    x, weight, out = torch.zeros(1 << 20, device="cuda"), random(1 << 20), random(1 << 20)
    before, seen = out.clone(), torch.empty_like(out)
    side, other = torch.cuda.Stream(), torch.cuda.Stream()

    def work(cycles):
        """Whether the stream was still busy after the launch and after work on another stream."""
        x.zero_()
        out.copy_(before)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(cycles)
            x.fill_(3)
            k.rms_norm(x, weight, out=out)
            doubled = out * 2
        with torch.cuda.stream(other):
            seen.copy_(out)
        other.synchronize()
        was_busy = not side.query()
        side.synchronize()
        assert are_close(out, x, weight)
        assert torch.equal(doubled, out * 2)
        return was_busy

    work(1)  # loads the code of the kernels, for which CUDA may wait
    assert work(BUSY)
    assert torch.equal(seen, before)


def test_a_result_that_is_made_is_on_the_current_stream():
    x, weight = random(64, 1024), random(1024)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    for _ in range(20):
        with torch.cuda.stream(side):
            torch.cuda._sleep(BUSY // 50)
            result = k.rms_norm(x, weight).clone()
        side.synchronize()
        assert are_close(result, x, weight)


def test_a_launch_is_captured_in_a_graph():
    x, weight, out = random(8, 512), random(512), torch.empty(8, 512, device="cuda")
    k.rms_norm(x, weight, out=out)  # loads the code
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        k.rms_norm(x, weight, out=out)
    x.copy_(random(8, 512))
    graph.replay()
    torch.cuda.synchronize()
    assert are_close(out, x, weight)


def test_the_operator_and_a_compiled_graph_give_the_same():
    x, weight = random(8, 512), random(512)
    result = k.rms_norm(x, weight)
    try:
        operator = torch.ops.real_gpu_kernels.rms_norm.functional
    except (AttributeError, RuntimeError) as error:
        pytest.skip(f"this PyTorch has no operators of kernels: {error}")
    assert torch.equal(operator(x, weight, 1e-6), result)
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(BUSY)
        y = operator(x * 2, weight, 1e-6)
    side.synchronize()
    assert are_close(y, x * 2, weight)


def test_the_device_stays_the_current_one_on_a_machine_with_two():
    if torch.cuda.device_count() < 2:
        pytest.skip("this machine has one GPU")
    x, weight = random(4, 300, device="cuda:1"), random(300, device="cuda:1")
    assert are_close(k.rms_norm(x, weight), x, weight)
    assert torch.cuda.current_device() == 0
    with pytest.raises(ValueError, match="argument 'weight' is on cuda:0, and argument 'x' is on"):
        k.rms_norm(x, weight.to("cuda:0"))


def test_what_does_not_fit_is_refused():
    x, weight = random(4, 300), random(300)
    with pytest.raises(TypeError, match=r"argument 'x'.* must be on a cuda device, and is on cpu"):
        k.rms_norm(x.cpu(), weight)
    with pytest.raises(ValueError, match="n = 299"):
        k.rms_norm(x, weight[1:])


def test_arrays_of_cupy_give_the_same():
    cupy = pytest.importorskip("cupy")
    x, weight = random(4, 300), random(300)
    wanted = k.rms_norm(x, weight)
    torch.cuda.synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        result = k.rms_norm(cupy.asarray(x), cupy.asarray(weight))
    stream.synchronize()
    assert isinstance(result, cupy.ndarray)
    assert torch.equal(torch.from_dlpack(result), wanted)


def test_arrays_of_jax_give_the_same():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX sees no GPU")
    x, weight = random(4, 300), random(300)
    wanted = k.rms_norm(x, weight)
    torch.cuda.synchronize()
    result = k.rms_norm(jax.dlpack.from_dlpack(x), jax.dlpack.from_dlpack(weight))
    assert isinstance(result, jax.Array)
    assert torch.equal(torch.from_dlpack(result), wanted)
