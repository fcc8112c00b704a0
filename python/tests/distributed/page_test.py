"""Runs the examples of two pages of docs/distributed in several processes each."""

import os
import pathlib
import re
import socket
import subprocess
import sys

import pytest


def programs(page):
    """The blocks of code of a page."""
    text = pathlib.Path("docs/distributed", page).read_text()
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


WHOLE_TORCH, JAX = programs("torch_and_jax.md")
PAIR, CACHE, SCATTERED, COSTS = programs("kv_cache.md")
END = "dist.destroy_process_group()\n"
TORCH = WHOLE_TORCH.removesuffix(END)


def start(program):
    """Run a program in two processes, with the environment of torchrun."""
    with socket.socket() as s:
        s.bind(("localhost", 0))
        port = s.getsockname()[1]
    environment = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join(filter(None, sys.path)),
        WORLD_SIZE="2",
        MASTER_ADDR="localhost",
        MASTER_PORT=str(port),
    )
    return [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={**environment, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]


def finish(processes):
    """The exit status and output of each."""
    try:
        outputs = [process.communicate(timeout=100)[0] for process in processes]
        return [(p.returncode, output) for p, output in zip(processes, outputs, strict=True)]
    finally:
        for process in processes:
            process.kill()


def check(program):
    for status, output in finish(start(program + 'print("done")\n')):
        assert status == 0 and "done" in output, output


def test_torch_works_in_the_memory_of_tensors_and_refuses_strided_and_read_only_ones():
    check(
        TORCH
        + """
assert a.tolist() == [[3.0] * 6] * 4
assert t.tolist() == [2.0] * 8 and data.data_ptr() == t.data_ptr()
t = dt.full(8, rank + 1, dtype=dt.bfloat16)
dist.all_reduce(dt.convert(t, torch.Tensor, copy=False))
assert t.tolist() == [3.0] * 8
x = dt.convert(a.T, torch.Tensor, copy=False)
for call in (lambda: dist.send(x, 1 - rank), lambda: dist.recv(x, 1 - rank)):
    try:
        call()
        assert False
    except RuntimeError as e:
        assert "contiguous" in str(e)
a.flags.writeable = False
try:
    dt.convert(a, torch.Tensor, copy=False)
    assert False
except dt.ExchangeError as e:
    assert "read-only" in str(e)
"""
        + END
    )


def test_a_process_that_is_killed_is_an_error_of_the_other():
    kill = "import signal\nif rank: os.kill(os.getpid(), signal.SIGKILL)\ndist.recv(data, 1)\n"
    (status, output), (killed, _) = finish(start("import os\n" + TORCH + kill))
    assert killed == -9
    assert status == 1 and "RuntimeError" in output, output


def test_jax_computes_on_the_shards_of_two_processes():
    check(
        JAX
        + """
assert sums.tolist() == [12.0] * 64 and sums.readonly
(shard,) = x.addressable_shards
assert dt.from_dlpack(shard.data).data_ptr() == t.data_ptr()
jax.distributed.shutdown()
"""
    )


@pytest.mark.parametrize("program", [WHOLE_TORCH, JAX], ids=["torch", "jax"])
def test_torchrun_runs_each_as_the_page_says(tmp_path, program):
    file = tmp_path / "this_file.py"
    file.write_text(program)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    with socket.socket() as s:
        s.bind(("localhost", 0))
        port = s.getsockname()[1]
    result = subprocess.run(
        [*torchrun, "--master-port", str(port), file],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert result.returncode == 0, result.stderr


def run(program, tmp_path):
    file = tmp_path / "this_file.py"
    file.write_text(program)
    return subprocess.run(
        [sys.executable, file],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_a_kv_cache_moves_to_ranks_with_other_blocks_and_a_share_of_the_heads(tmp_path):
    result = run(CACHE, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "256 runs of 256 bytes" in result.stdout


def test_a_pair_and_the_costs_of_a_transport_are_as_the_page_says(tmp_path):
    result = run(PAIR, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "509 runs of 128 to 256 bytes" in result.stdout and "staging b:" in result.stdout
    result = run(COSTS, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "us a transfer" in result.stdout and " 256 rows" in result.stdout


@pytest.mark.parametrize(
    ("make", "permute"),
    [("dt.from_dlpack", "permute"), ("np.asarray", "transpose"), ("torch.from_numpy", "permute")],
    ids=["dovetail", "numpy", "torch"],
)
def test_the_rows_of_scattered_blocks_are_as_the_page_says(tmp_path, make, permute):
    result = run(
        f"""
import ctypes
import numpy as np
import torch
import dovetail as dt
cache, blocks = np.arange(8 * 2 * 6).reshape(8, 2, 6), np.zeros((4, 3, 5), int)
source = {make}(cache)[:, :, 3:].{permute}(0, 2, 1)
target = {make}(blocks)[:, :, 1:3]
{SCATTERED}
for (x, n, _), (y, m, _) in zip(a_rows.tolist(), b_rows.tolist()):
    assert n == m
    assert cache.ctypes.data <= x and x + n <= cache.ctypes.data + cache.nbytes
    assert blocks.ctypes.data <= y and y + n <= blocks.ctypes.data + blocks.nbytes
    ctypes.memmove(y, x, n)
assert (blocks[[0, 1, 3], :, 1:3] == cache.transpose(0, 2, 1)[[5, 2, 7], 3:]).all()
assert not blocks[2].any() and not blocks[:, :, [0, 3, 4]].any()
""",
        tmp_path,
    )
    assert result.returncode == 0, result.stderr
