"""Tensors between Dovetail and PyTorch, CuPy and JAX on a real GPU. Skipped where there is none.

python -m pytest frameworks_test.py      # with dovetail importable, no Bazel needed
"""

import gc
import importlib

import pytest

import dovetail as dt

GPU = dt.backends().get("cuda", "this build has no CUDA backend")
if not isinstance(GPU, int) or GPU == 0:
    pytest.skip(f"no GPU: {GPU}", allow_module_level=True)

# Clock cycles that keep a stream busy for some tens of milliseconds.
BUSY = 50_000_000


def framework(name):
    """The library, or a skip that says why it can't be used here."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # a broken installation skips as well, with its message
        pytest.skip(f"{name} can't be imported: {error}")


@pytest.fixture(scope="module")
def torch():
    library = framework("torch")
    if not library.cuda.is_available():
        pytest.skip("this PyTorch sees no GPU")
    return library


@pytest.fixture(scope="module")
def cupy():
    library = framework("cupy")
    try:
        library.cuda.Device().id  # noqa: B018 (asks the driver)
    except Exception as error:
        pytest.skip(f"CuPy sees no GPU: {error}")
    return library


@pytest.fixture(scope="module")
def jax():
    library = framework("jax")
    try:
        library.devices("gpu")
    except RuntimeError as error:
        pytest.skip(f"JAX sees no GPU: {error}")
    return library


def values(tensor):
    """The elements, on the host."""
    return dt.from_dlpack(tensor, device="cpu").tolist()


# ---- PyTorch ----


def test_a_torch_tensor_comes_in_without_a_copy(torch):
    x = torch.arange(6, dtype=torch.float32, device="cuda").reshape(2, 3)
    t = dt.from_dlpack(x)
    assert t.data_ptr() == x.data_ptr()
    assert t.device == dt.Device("cuda:0")
    assert values(t) == x.tolist()


def test_a_torch_tensor_comes_in_without_a_call_of_its_methods(torch, monkeypatch):
    x = torch.arange(6.0, device="cuda")
    monkeypatch.setattr(torch.Tensor, "__dlpack__", None)
    monkeypatch.setattr(torch.Tensor, "__dlpack_device__", None)
    t = dt.from_dlpack(x)
    assert t.data_ptr() == x.data_ptr()
    assert values(dt.from_dlpack(x, copy=True)) == x.tolist()
    assert dt.convert(x, dt.Tensor).data_ptr() == x.data_ptr()


def test_torchs_memory_lives_as_long_as_the_import(torch):
    before = torch.cuda.memory_allocated()
    x = torch.full((1 << 20,), 5.0, device="cuda")
    t = dt.from_dlpack(x)
    del x
    assert torch.cuda.memory_allocated() > before
    other = torch.zeros(1 << 20, device="cuda")
    assert set(values(t)) == {5.0}
    del t, other
    dt.trim_memory("cuda:0")
    assert torch.cuda.memory_allocated() == before


def test_torch_refuses_on_a_gpu_what_it_refuses_elsewhere(torch):
    for refused in (
        torch.zeros(3, device="cuda", requires_grad=True),
        torch.zeros(3, device="cuda", dtype=torch.complex64).conj(),
    ):
        with pytest.raises((dt.ExchangeError, BufferError)):
            dt.from_dlpack(refused)


def test_conversion_to_torch_shares_and_waits_for_our_work(torch):
    side = torch.cuda.Stream()
    t = dt.zeros(1 << 20, device="cuda:0")
    torch.cuda.synchronize()
    with torch.cuda.stream(side), dt.stream(side):
        torch.cuda._sleep(BUSY)
        dt.copyto(t, dt.full(1 << 20, 5.0, device="cuda:0"))
    x = dt.convert(t, torch.Tensor)
    assert x.data_ptr() == t.data_ptr()
    y = x.clone()
    torch.cuda.synchronize()
    assert bool((y == 5).all())


def test_numpy_is_not_given_a_torch_tensors_memory_on_a_gpu(torch):
    np = pytest.importorskip("numpy")
    with pytest.raises(dt.ExchangeError, match="cuda:0"):
        dt.convert(torch.arange(6, device="cuda"), np.ndarray)


def test_a_tensor_goes_to_torch_without_a_copy(torch):
    t = dt.zeros((2, 3), device="cuda:0")
    x = torch.from_dlpack(t)
    assert x.data_ptr() == t.data_ptr()
    x.fill_(3)
    torch.cuda.synchronize()
    assert values(t) == [[3.0] * 3] * 2


@pytest.mark.parametrize(
    "name",
    [
        "bool",
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "float8_e4m3fn",
        "float8_e5m2",
    ],
)
def test_every_type_keeps_its_bytes(torch, name):
    dtype = getattr(torch, name)
    bits = torch.randint(0, 2, (4, 5), device="cuda").to(dtype)
    back = torch.from_dlpack(dt.from_dlpack(bits))
    assert back.dtype == dtype
    assert back.data_ptr() == bits.data_ptr()


@pytest.mark.parametrize("shape", [(8, 8), (33, 65), (128, 260), (3, 64, 65)])
@pytest.mark.parametrize("name", ["uint8", "float16", "float32", "float64", "complex128"])
def test_strided_tensors_become_dense_as_torch_makes_them(torch, shape, name):
    x = torch.randint(0, 100, shape, device="cuda").to(getattr(torch, name)).transpose(-1, -2)
    dense = torch.from_dlpack(dt.from_dlpack(x).contiguous())
    assert dense.is_contiguous()
    assert torch.equal(dense, x.contiguous())


def test_what_torch_still_works_on_is_seen(torch):
    x = torch.zeros(1 << 20, device="cuda")
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(BUSY)
        x.fill_(7)
        t = dt.from_dlpack(x)
    copied = t.copy()
    assert set(values(copied)) == {7.0}


def test_our_work_is_seen_by_a_stream_of_torch(torch):
    x = torch.full((1 << 20,), 5.0, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    for _ in range(20):
        t = dt.from_dlpack(x).copy()
        with torch.cuda.stream(side):
            y = torch.from_dlpack(t).clone()
        side.synchronize()
        assert bool((y == 5).all())


def test_our_work_goes_to_a_stream_of_torchs_where_it_is_current(torch):
    x = torch.zeros(1 << 20, device="cuda")
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side), dt.stream(side):
        torch.cuda._sleep(BUSY)
        x.fill_(3)
        y = torch.from_dlpack(dt.from_dlpack(x).copy())
        total = y.sum()
    side.synchronize()
    assert total.item() == 3 * (1 << 20)


def test_to_brings_tensors_to_the_device_and_back():
    t = dt.arange(1000, dtype=dt.int32)
    there = t.to("cuda:0")
    assert there.device == dt.Device("cuda:0")
    assert there[::-3].to("cpu").tolist() == t[::-3].tolist()


def test_memory_is_not_used_again_before_a_consumer_is_done(torch):
    side = torch.cuda.Stream()
    for turn in range(10):
        t = dt.full((1 << 20,), float(turn), device="cuda:0")
        with torch.cuda.stream(side):
            x = torch.from_dlpack(t)
            torch.cuda._sleep(BUSY // 10)
            y = x.clone()
        del t, x
        gc.collect()
        again = [dt.full((1 << 20,), -1.0, device="cuda:0") for _ in range(4)]
        side.synchronize()
        assert bool((y == turn).all()), turn
        del again


def test_an_export_does_not_break_a_capture(torch):
    t = dt.full((64,), 2.0, device="cuda:0")
    out = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out.copy_(torch.from_dlpack(t) + 1)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((out == 3).all())


def test_a_pinned_tensor_comes_in_with_its_values(torch):
    x = torch.arange(5.0).pin_memory()
    t = dt.from_dlpack(x)
    assert t.data_ptr() == x.data_ptr()
    assert values(t) == x.tolist()


def test_device_cpu_copies_to_the_host(torch):
    x = torch.arange(4, device="cuda")
    host = dt.from_dlpack(x, device="cpu")
    assert host.device == dt.Device("cpu")
    assert host.tolist() == [0, 1, 2, 3]
    with pytest.raises((BufferError, ValueError)):
        dt.from_dlpack(x, device="cpu", copy=False)


def test_too_much_memory_is_a_memory_error_with_the_sizes():
    with pytest.raises(MemoryError, match="bytes"):
        dt.empty(1 << 45, dtype="uint8", device="cuda:0")


def test_a_device_that_is_not_there_is_said():
    with pytest.raises(Exception, match="99"):
        dt.zeros(3, device="cuda:99")


# ---- CuPy ----


def test_cupy_arrays_come_in_and_go_out_without_a_copy(cupy):
    x = cupy.arange(6, dtype=cupy.int32).reshape(2, 3)
    t = dt.from_dlpack(x)
    assert t.data_ptr() == x.data.ptr
    assert values(t) == [[0, 1, 2], [3, 4, 5]]
    y = cupy.from_dlpack(t)
    assert y.data.ptr == x.data.ptr


def test_the_cuda_array_interface_goes_both_ways(cupy):
    x = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)[:, ::2]
    t = dt.from_cuda_array_interface(x)
    assert t.data_ptr() == x.data.ptr
    assert values(t) == x.get().tolist()
    y = cupy.asarray(t)
    assert y.data.ptr == x.data.ptr


def test_what_a_stream_of_cupy_still_works_on_is_seen(cupy):
    with cupy.cuda.Stream(non_blocking=True):
        x = cupy.zeros(1 << 22, dtype=cupy.float32)
        for _ in range(50):
            x += 1
        t = dt.from_dlpack(x)
    assert set(values(t.copy())) == {50.0}


# ---- JAX ----


def test_jax_arrays_come_in_and_go_out(jax):
    x = jax.device_put(jax.numpy.arange(6.0).reshape(2, 3), jax.devices("gpu")[0])
    t = dt.from_dlpack(x)
    assert t.device == dt.Device("cuda:0")
    assert values(t) == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    ours = dt.full((2, 3), 4.0, device="cuda:0")
    assert jax.dlpack.from_dlpack(ours).tolist() == [[4.0] * 3] * 2
