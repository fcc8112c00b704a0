"""dovetail.Reshard of shards on emulated GPUs of both vendors, among processes."""

import multiprocessing
import secrets

import numpy as np
import pytest
import reshard_gpu_workers


@pytest.mark.parametrize("vendor", ["cuda", "rocm"])
@pytest.mark.parametrize("to", ["device", "host"])
def test_rows_on_gpus_become_columns(vendor, to):
    context = multiprocessing.get_context("spawn")
    answers, name = context.Queue(), secrets.token_hex(8)
    children = [
        context.Process(target=reshard_gpu_workers.work, args=(name, rank, vendor, to, answers))
        for rank in range(2)
    ]
    for child in children:
        child.start()
    results = dict(answers.get(timeout=100) for _ in children)
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    whole = np.arange(48).reshape(6, 8)
    for rank in range(2):
        runs, complaints = results[rank]
        assert complaints == []
        for number, columns in enumerate(runs):
            assert columns == (whole[:, rank * 4 : rank * 4 + 4] + 100 * number).tolist()
