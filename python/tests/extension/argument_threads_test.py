"""Functions with tensor arguments called by many threads at once."""

import numpy as np
import pytest
import torch
from threads import together

pytest_plugins = ["bindings"]
ROUNDS = 2000


def test_threads_share_what_they_read_and_write_their_own(ext):
    shared = np.arange(64, dtype=np.float32)

    def work(i):
        make = torch.zeros if i % 2 else lambda n: np.zeros(n, np.float32)
        for _ in range(ROUNDS):
            out = make(64)
            ext.add(shared, shared, out)
            assert float(out[63]) == 126
            result = ext.doubled(out)
            assert type(result) is type(out) and float(result[1]) == 4

    together(work)


def test_named_sizes_and_refusals_are_those_of_each_thread(ext):
    def work(i):
        x, other = np.ones(i + 1, np.float32), np.ones(i + 2, np.float32)
        for _ in range(ROUNDS):
            with pytest.raises(ValueError, match=f"n = {i + 2} .* n = {i + 1}"):
                ext.add(x, other, x)
            with pytest.raises(TypeError, match="incompatible"):
                ext.kind(np.ones(1, np.float16))
            ext.add(x, x, np.empty_like(x))

    together(work)


def test_tensors_are_dropped_by_threads_without_the_gil(ext):
    def work(i):
        for _ in range(ROUNDS):
            assert ext.without_gil(torch.ones(8))
            kept = ext.shared(torch.full((8,), float(i)))
            assert float(kept[7]) == i

    together(work)
