"""Calls leave reference counts and memory as they were, whether accepted or refused."""

import numpy as np
import peers
import pytest
import torch
from leaks import MANY, leaves_nothing

pytest_plugins = ["bindings"]


def check(function, arguments, count, error=None):
    """`count` calls, all refused with `error` or all accepted, leave nothing."""

    def accepted():
        function(*arguments)

    def refused():
        try:
            function(*arguments)
        except error:
            return
        pytest.fail("the call was not refused")

    leaves_nothing(accepted if error is None else refused, arguments, count)


X = np.zeros(4, np.float32)


def test_refusals_of_numpy_arrays(ext):
    check(ext.add, (X, np.zeros(4), X), MANY, TypeError)


def test_refusals_by_overloads(ext):
    check(ext.kind, (np.zeros(4, np.float16),), MANY // 4, TypeError)


def test_refusals_of_sizes(ext):
    check(ext.add, (X, X, torch.zeros(3)), MANY // 2, ValueError)


def test_refusals_of_gradients(ext):
    check(ext.add, (X, torch.ones(4, requires_grad=True), X), MANY // 10, BufferError)


def test_refusals_of_held_tensors(ext):
    jax_array = peers.JAX.make("float32", [1, 2, 4])
    check(ext.add, (jax_array, X, X), MANY // 4, ValueError)
    check(ext.writable, (jax_array,), MANY // 4, BufferError)


def test_bodies_that_throw(ext):
    check(ext.throws, (X,), MANY // 10, RuntimeError)


@pytest.mark.parametrize("peer", (*peers.WRITERS, peers.DOVETAIL))
def test_accepted_calls(ext, peer):
    x, y = peer.make("float32", [1, 2, 4]), peer.make("float32", [1, 2, 4])
    check(ext.add, (x, y, peer.make("float32", [0, 0, 0])), MANY // 4)
    check(ext.copied, (x,), MANY // 4)


@pytest.mark.parametrize("peer", (*peers.EXPORTERS, peers.DOVETAIL))
def test_results(ext, peer):
    x = peer.make("float32", [1, 2, 4])
    count = MANY // 40 if peer in (peers.JAX, peers.PYARROW, peers.PADDLE) else MANY // 10
    check(ext.doubled, (x,), count)
    check(ext.shared, (x,), count)
