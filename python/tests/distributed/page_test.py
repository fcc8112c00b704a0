"""Runs the examples of docs/distributed.md for PyTorch and JAX, in two processes each."""

import os
import pathlib
import re
import socket
import subprocess
import sys

import pytest

PAGE = pathlib.Path("docs/distributed.md").read_text()
SECTION = PAGE.split("\n## PyTorch and JAX\n")[1].split("\n## ")[0]
WHOLE_TORCH, JAX = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
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
