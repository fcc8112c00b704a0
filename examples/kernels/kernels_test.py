"""The kernels agree with PyTorch, for tensors of every library, and refuse what they can't take.

Twice: bound by nanobind, and of a kernel library.
"""

import inspect
import re

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import paddle
import pytest
import torch
import torch.nn.functional as F

import dovetail as dt
import kernels

# A kernel library names its arguments in errors, and leaves gradients to its operators.
IS_LIBRARY = not kernels.__file__.endswith(".so")

REALS = ["float32", "float16", "bfloat16"]


def numpy_of(x):
    """A float32 or integer NumPy array of a tensor of any library."""
    t = dt.from_dlpack(x) if not isinstance(x, np.ndarray) else dt.asarray(x)
    return t.to(dt.float32).numpy() if t.dtype.name in REALS else t.numpy()


MAKERS = {
    "NumPy": lambda t: t.numpy() if t.dtype != torch.bfloat16 else bfloat16_array(t),
    "PyTorch": lambda t: t,
    "JAX": lambda t: jnp.asarray(dt.from_dlpack(t).copy()),
    "Paddle": lambda t: dt.convert(t.clone(), paddle.Tensor),
    "Dovetail": lambda t: dt.from_dlpack(t),
}


def bfloat16_array(t):
    return t.view(torch.int16).numpy().view(ml_dtypes.bfloat16)


@pytest.fixture(params=MAKERS)
def make(request):
    """Makes the tensor of one library that is like a PyTorch tensor."""
    return MAKERS[request.param]


def random(*shape, dtype="float32", seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(getattr(torch, dtype))


def check(got, expected, dtype="float32"):
    places = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 2e-2}[dtype]
    np.testing.assert_allclose(numpy_of(got), expected.float().numpy(), rtol=places, atol=places)


def refused(error, words, function, *arguments, **named):
    if IS_LIBRARY:
        names = [name for name in inspect.signature(function).parameters if name != "eps"]
        words = re.sub(
            r"argument (\d)", lambda found: f"argument '{names[int(found[1]) - 1]}'", words
        )
    with pytest.raises(error, match=re.escape(words)):
        function(*arguments, **named)


# A first one


@pytest.mark.parametrize("dtype", REALS)
def test_scale_takes_each_type_with_any_strides(make, dtype):
    x = random(9, dtype=dtype)
    check(kernels.scale(make(x), 3.0), 3 * x.float(), dtype)
    check(kernels.scale(x[::2], factor=3), 3 * x[::2].float(), dtype)


# RMSNorm


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("shape", [(5,), (3, 64), (2, 3, 200), (0, 7), (4, 0)])
def test_rms_norm_agrees_with_pytorch(make, dtype, shape):
    x, weight = random(*shape, dtype=dtype), random(shape[-1], dtype=dtype, seed=2)
    y = kernels.rms_norm(make(x), make(weight), 1e-6)
    assert type(y) is type(make(x))
    check(y, F.rms_norm(x.float(), shape[-1:], weight.float(), 1e-6), dtype)


def test_rms_norm_takes_parameters_while_gradients_are_off():
    norm = torch.nn.RMSNorm(64, eps=1e-6)
    x = random(3, 64)
    with torch.no_grad():
        check(kernels.rms_norm(x, norm.weight), norm(x))
    with torch.inference_mode():
        check(kernels.rms_norm(x, norm.weight), norm(x))
    if not IS_LIBRARY:
        words = "argument 2: The tensor requires gradients"
        refused(BufferError, words, kernels.rms_norm, x, norm.weight)
        words = "x.detach(), or call the function under torch.no_grad()"
        refused(BufferError, words, kernels.rms_norm, x, norm.weight)
    check(kernels.rms_norm(x, norm.weight.detach()), norm(x).detach())


def test_rms_norm_writes_to_the_output_that_it_gets():
    x, weight = random(4, 8), random(8)
    out = torch.zeros(8, 8)[::2]
    assert kernels.rms_norm(x, weight, out=out) is out
    check(out, F.rms_norm(x, (8,), weight, 1e-6))
    assert kernels.rms_norm(x, weight, 1e-6, x) is x  # in place
    check(x, out)


def test_rms_norm_takes_rows_with_any_strides_between_them(make):
    x = random(6, 5, 8).transpose(0, 1)[::2]
    check(
        kernels.rms_norm(make(x.contiguous()), make(random(8))),
        F.rms_norm(x, (8,), random(8), 1e-6),
    )
    check(kernels.rms_norm(x, random(8)), F.rms_norm(x, (8,), random(8), 1e-6))


def test_rms_norm_says_what_is_wrong_with_each_argument():
    x, weight = np.ones((2, 8), np.float32), np.ones(8, np.float32)
    call = kernels.rms_norm
    refused(
        TypeError,
        "argument 1 (numpy.ndarray) must be float32, float16 or bfloat16, and is int64",
        call,
        x.astype(int),
        weight,
    )
    refused(
        TypeError,
        "argument 1 (numpy.ndarray) must have at least 1 dimension, and has shape ()",
        call,
        x[0, 0:1].reshape(()),
        weight,
    )
    refused(
        ValueError,
        "argument 1 (numpy.ndarray) must be contiguous in its last dimension",
        call,
        np.ones((8, 8), np.float32).T,
        weight,
    )
    refused(
        TypeError,
        "argument 2 (numpy.ndarray) must be float32 as argument 1, and is float16. Pass",
        call,
        x,
        weight.astype(np.float16),
    )
    refused(
        ValueError,
        "argument 2 (numpy.ndarray) has size n = 7 in dimension 0, and argument 1 has n = 8",
        call,
        x,
        weight[:7],
    )
    refused(
        ValueError,
        "argument 3 (numpy.ndarray) has the leading dimensions (3,), and argument 1 has (2,)",
        call,
        x,
        weight,
        out=np.ones((3, 8), np.float32),
    )
    frozen = np.ones((2, 8), np.float32)
    frozen.flags.writeable = False
    refused(
        BufferError,
        "argument 3 (numpy.ndarray) is written by the function, and is read-only",
        call,
        x,
        weight,
        out=frozen,
    )
    expanded = torch.ones(1, 8).expand(2, 8)
    refused(
        ValueError,
        "argument 3 (torch.Tensor) is written by the function, and has several elements in one",
        call,
        x,
        weight,
        out=expanded,
    )
    refused(TypeError, "argument 1: 'list' object is no tensor", call, [1.0], weight)


# Rotary embedding


def rotated(x, cosine, sine):
    first, second = x.float().chunk(2, -1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


@pytest.mark.parametrize("dtype", REALS)
def test_a_transposed_view_is_rotated_in_place(dtype):
    whole = random(2, 5, 3, 8, dtype=dtype)
    x = whole.transpose(1, 2)  # batch, heads, positions, width
    cosine, sine = random(5, 4, seed=2), random(5, 4, seed=3)
    expected = rotated(x, cosine, sine)
    assert kernels.rotate(x, cosine, sine) is x
    check(x, expected, dtype)
    check(whole.transpose(1, 2), expected, dtype)


def test_rotate_gives_a_new_array_of_a_library_whose_arrays_never_change():
    x, cosine, sine = random(1, 2, 3, 4), random(3, 2, seed=2), random(3, 2, seed=3)
    array = MAKERS["JAX"](x)
    result = kernels.rotate(array, cosine, sine)
    assert type(result) is type(array)
    check(result, rotated(x, cosine, sine))
    check(array, x)


def test_rotate_refuses_sizes_that_are_not_twice_the_others():
    cosine = np.ones((3, 2), np.float32)
    call, x = kernels.rotate, np.ones((1, 1, 3, 4), np.float32)
    refused(
        ValueError,
        "argument 2 (numpy.ndarray) has size half = 3 in dimension 1, and argument 1 has half = 2",
        call,
        x,
        np.ones((3, 3), np.float32),
        cosine,
    )
    refused(
        ValueError,
        "must have size 2 * half in dimension 3, and has 5",
        call,
        np.ones((1, 1, 3, 5), np.float32),
        cosine,
        cosine,
    )
    frozen = x.copy()
    frozen.flags.writeable = False
    refused(BufferError, "is read-only", call, frozen, cosine, cosine)


# Paged gather


@pytest.mark.parametrize("index", ["int64", "int32"])
def test_gather_pages_agrees_with_indexing(make, index):
    pages = random(6, 2, 3)
    table = torch.tensor([[5, 0, 2], [1, 1, 4]]).to(getattr(torch, index))
    if make is MAKERS["JAX"]:
        table = table.int()
    y = kernels.gather_pages(make(pages), make(table))
    assert numpy_of(y).shape == (2, 3, 2, 3)
    check(y, pages[table.long()])


def test_gather_pages_checks_its_table_and_its_memory():
    pages, table = np.ones((6, 2, 3), np.float32), np.zeros((1, 2), np.int64)
    refused(IndexError, "no such page", kernels.gather_pages, pages, table + 6)
    refused(IndexError, "no such page", kernels.gather_pages, pages, table - 1)
    out = pages[:2].reshape(1, 2, 2, 3)
    refused(
        ValueError,
        "argument 3 has memory in common with argument 1, and must not",
        kernels.gather_pages,
        pages,
        table,
        out,
    )
    refused(
        TypeError,
        "must be int64 or int32, and is float64",
        kernels.gather_pages,
        pages,
        table.astype(float),
    )


# Maxima


@pytest.mark.parametrize("dtype", REALS)
def test_max_of_rows_has_two_results(make, dtype):
    x = random(2, 3, 40, dtype=dtype)
    values, indices = kernels.max_of_rows(make(x))
    assert type(values) is type(indices) is type(make(x))
    check(values, x.max(-1).values, dtype)
    assert numpy_of(indices).tolist() == x.max(-1).indices.tolist()
    wide = make is not MAKERS["JAX"] or jax.config.jax_enable_x64
    assert numpy_of(indices).dtype == ("int64" if wide else "int32")


def test_max_of_rows_of_a_vector_has_results_without_dimensions():
    values, indices = kernels.max_of_rows(np.float32([1, 3, 2]))
    assert values.shape == indices.shape == ()
    assert (values, indices) == (3, 1)
    place = np.zeros((), np.int32)
    assert kernels.max_of_rows(np.float32([1, 3, 2]), indices=place)[1] is place
    assert place == 1
    refused(ValueError, "rows without elements", kernels.max_of_rows, np.ones((2, 0), np.float32))


# Four bits


@pytest.mark.parametrize("dtype", REALS)
def test_dequantize_int4_fills_the_type_of_its_output(dtype):
    packed = torch.randint(0, 256, (3, 10), dtype=torch.uint8)
    scale = random(3)
    numbers = torch.stack([packed & 15, packed >> 4], -1).reshape(3, 20).float() - 8
    out = torch.empty(3, 20, dtype=getattr(torch, dtype))
    assert kernels.dequantize_int4(packed, scale, out) is out
    check(out, numbers * scale[:, None], dtype)


def test_dequantize_int4_makes_float32(make):
    packed, scale = torch.arange(24, dtype=torch.uint8).reshape(2, 12), random(2)
    numbers = torch.stack([packed & 15, packed >> 4], -1).reshape(2, 24).float() - 8
    check(kernels.dequantize_int4(make(packed), make(scale)), numbers * scale[:, None])


# Flattening


@pytest.mark.parametrize("dtype", REALS)
def test_flatten_joins_a_list(make, dtype):
    tensors = [random(2, 3, dtype=dtype), random(70, dtype=dtype), random(dtype=dtype)]
    expected = torch.cat([t.float().reshape(-1) for t in tensors])
    check(kernels.flatten([make(t) for t in tensors]), expected, dtype)
    check(kernels.flatten(tuple(make(t) for t in tensors), scale=2), 2 * expected, dtype)


def test_flatten_names_the_element_that_it_can_not_take():
    one = np.ones(2, np.float32)
    refused(
        TypeError,
        "argument 1, element 2 (numpy.ndarray) must be float32 as",
        kernels.flatten,
        [one, one.astype(np.float16)],
    )
    refused(
        TypeError,
        "argument 1, element 3: 'str' object is no tensor",
        kernels.flatten,
        [one, one, "x"],
    )
    refused(
        TypeError,
        "must be a list or tuple of tensors, and is a numpy.ndarray",
        kernels.flatten,
        one,
    )
    refused(ValueError, "an empty list", kernels.flatten, [])
    parameters = list(torch.nn.Linear(2, 3).parameters())
    refused(
        BufferError,
        "argument 1, element 1: The tensor requires gradients",
        kernels.flatten,
        parameters,
    )
    with torch.no_grad():
        check(kernels.flatten(parameters), torch.nn.utils.parameters_to_vector(parameters))


def test_flatten_copies_what_is_not_contiguous():
    x = random(4, 6)
    check(kernels.flatten([x.T, x[:, ::2]]), torch.cat([x.T.reshape(-1), x[:, ::2].reshape(-1)]))
