"""The kernels within JAX's programs: a training step, vmap, devices; beside JAX's own."""

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import kernels


def random(*shape, seed=1):
    return jax.random.normal(jax.random.key(seed), shape)


def rms_norm(x, weight, eps=1e-6):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def rotate(x, cosine, sine):
    first, second = jnp.split(x, 2, -1)
    return jnp.concatenate([first * cosine - second * sine, second * cosine + first * sine], -1)


def dequantize_int4(packed, scale):
    both = jnp.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)
    return scale[:, None] * (both.astype(jnp.float32) - 8)


ANGLES = jnp.arange(5)[:, None] / 10.0 ** jnp.arange(4)
COSINE, SINE = jnp.cos(ANGLES), jnp.sin(ANGLES)
PACKED = jnp.arange(24, dtype=jnp.uint8).reshape(2, 12)
TABLE = jnp.array([[5, 0, 2], [1, 1, 4]])

# Each kernel, JAX's own operations for it, and the arguments.
CALLS = {
    "scale": (lambda x, factor: x * factor, (random(9), 3.0)),
    "rms_norm": (rms_norm, (random(3, 8), random(8, seed=2))),
    "rotate": (rotate, (random(2, 3, 5, 8), COSINE, SINE)),
    "gather_pages": (lambda pages, table: pages[table], (random(6, 2, 3), TABLE)),
    "max_of_rows": (lambda x: (x.max(-1), x.argmax(-1)), (random(2, 3, 40),)),
    "dequantize_int4": (dequantize_int4, (PACKED, random(2))),
}


def assert_close(got, wanted):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 2e-6, 2e-6), got, wanted)


@pytest.mark.parametrize("name", CALLS)
def test_each_runs_within_a_program(name):
    own, arguments = CALLS[name]
    function = getattr(kernels, name)
    made = jax.jit(lambda *traced: function(*traced))(*arguments)
    assert_close(made, own(*arguments))
    assert_close(made, function(*arguments))  # the plain call


@pytest.mark.parametrize("name", CALLS)
def test_each_runs_under_vmap(name):
    own, arguments = CALLS[name]
    batch = jax.tree.map(lambda x: jnp.stack([x, x]), arguments)
    made = jax.vmap(lambda *traced: getattr(kernels, name)(*traced))(*batch)
    assert_close(made, jax.vmap(own)(*batch))


@jax.custom_vjp
def normalize(x, weight):
    return kernels.rms_norm(x, weight)


def normalize_backward(kept, gradient):
    x, weight = kept
    scale = 1 / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    normal = kernels.rms_norm(x, jnp.ones_like(weight))
    scaled = gradient * weight
    dx = scale * (scaled - normal * (scaled * normal).mean(-1, keepdims=True))
    return dx, (gradient * normal).sum(range(x.ndim - 1))


normalize.defvjp(lambda x, weight: (normalize(x, weight), (x, weight)), normalize_backward)


@jax.custom_vjp
def turn(x):
    return kernels.rotate(x, COSINE, SINE)


# (A turn by the negative angles takes the gradient back.)
turn.defvjp(lambda x: (turn(x), None), lambda _, g: (kernels.rotate(g, COSINE, -SINE),))


def loss(weights, x, normalize, turn):
    hidden = normalize(x, weights["norm"]) @ weights["in"]
    return (jnp.tanh(turn(hidden.reshape(2, 3, 5, 8))) ** 2).mean()


WEIGHTS = {"norm": random(6, seed=3), "in": random(6, 8, seed=4)}
X = random(2 * 3 * 5, 6, seed=5)


def own_turn(x):
    return rotate(x, COSINE, SINE)


def test_a_training_step_has_jaxs_own_gradients():
    @jax.jit
    def step(weights):
        value, gradients = jax.value_and_grad(loss)(weights, X, normalize, turn)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)

    @jax.jit
    def own_step(weights):
        value, gradients = jax.value_and_grad(loss)(weights, X, rms_norm, own_turn)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)

    got = wanted = WEIGHTS
    for _ in range(3):
        (value, got), (own_value, wanted) = step(got), own_step(wanted)
        assert_close(value, own_value)
    assert_close(got, wanted)


def test_gradients_for_each_element_of_a_batch():
    batch = jnp.stack([X, 2 * X, -X])

    def gradients(normalize, turn):
        return jax.vmap(jax.grad(lambda w, x: loss(w, x, normalize, turn)), in_axes=(None, 0))

    made = jax.jit(gradients(normalize, turn))(WEIGHTS, batch)
    assert_close(made, gradients(rms_norm, own_turn)(WEIGHTS, batch))


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_shards_on_two_devices(axis_type):
    mesh = jax.make_mesh((2,), ("rows",), axis_types=(axis_type,))
    rows, all_of_it = PartitionSpec("rows"), PartitionSpec()
    x = jax.device_put(X, NamedSharding(mesh, PartitionSpec("rows", None)))
    weight = jax.device_put(WEIGHTS["norm"], NamedSharding(mesh, all_of_it))
    function = jax.shard_map(
        kernels.rms_norm, mesh=mesh, in_specs=(rows, all_of_it), out_specs=rows
    )
    made = jax.jit(function)(x, weight)
    assert {shard.data.shape for shard in made.addressable_shards} == {(15, 6)}
    assert len({shard.device for shard in made.addressable_shards}) == 2
    assert_close(np.asarray(made), rms_norm(X, WEIGHTS["norm"]))


def test_a_bad_page_is_an_error_of_the_program():
    call = jax.jit(lambda table: kernels.gather_pages(random(6, 2, 3), table))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"gather_pages.*: table: no such page"):
        call(TABLE + 1).block_until_ready()
    assert call(TABLE).shape == (2, 3, 2, 3)  # the process goes on
