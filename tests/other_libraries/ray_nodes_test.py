"""Tensors between two nodes of Ray. The second has its own /dev/shm, as another machine has."""

import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

import pytest
import ray
from ray_actors import Actor
from ray_cluster import cluster as cluster  # a fixture
from ray_cluster import in_store, random_tensor, same

import dovetail as dt

# All processes of the node end with the first of them, because they have a process namespace.
NAMESPACES = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
MOUNT = "mount -t tmpfs -o size=160m tmpfs /dev/shm && mount -t tmpfs -o size=100m tmpfs /tmp/ray"

pytestmark = pytest.mark.skipif(
    subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL).returncode != 0,
    reason="only root may mount a /dev/shm",
)


@pytest.fixture(scope="module")
def other_node(cluster):
    """A process whose end is the end of the node. Tasks run there that ask for a bit of "other"."""
    start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1"]
    start += [f"--address={cluster.address_info['gcs_address']}", '--resources={"other": 1}']
    start += [f"--object-store-memory={80 << 20}"]
    node = subprocess.Popen(
        [*NAMESPACES, "sh", "-c", f"{MOUNT} && exec {shlex.join(start)}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 100
        while not ray.cluster_resources().get("other"):
            assert node.poll() is None and time.monotonic() < end, "the node did not start"
            time.sleep(0.1)
        yield node
    finally:
        kill(node)


def kill(node):
    """Kill the node as a power cut does. Afterwards, all its processes have ended."""
    if node.poll() is None:
        first = pathlib.Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text().split()[0]
        os.kill(int(first), signal.SIGKILL)
        node.wait()  # `unshare` waits for the first, and that for the others


@ray.remote(resources={"other": 0.1}, max_retries=0)
def make(dtype):
    return random_tensor(dtype)


@ray.remote(resources={"other": 0.1}, max_retries=0)
def received(x):
    return x, in_store(x) and x.readonly, os.listdir("/dev/shm")


def test_the_object_store_carries_tensors_between_nodes(other_node):
    for name in ("bfloat16", "float8_e4m3fn", "int4"):
        tensor = random_tensor(name).T
        back, was_in_store, files = ray.get(received.remote(tensor))
        assert same(back, tensor) and in_store(back)
        assert was_in_store and files == []  # nothing of the first node is there
    assert ray.get(make.remote("bfloat16")).readonly


def test_the_transport_refuses_another_node_and_says_what_to_do(other_node):
    here, there = (Actor.options(resources={node: 0.1}).remote() for node in ("first", "other"))
    made = here.make.remote()
    with pytest.raises(ray.exceptions.RayTaskError, match="through Ray's object store") as raised:
        ray.get(there.facts.remote(made))
    assert isinstance(raised.value.cause, dt.ExchangeError)
    assert same(ray.get(made)["tensor"], random_tensor("float32"))
    made_there = there.make.remote()
    with pytest.raises(dt.ExchangeError, match="through Ray's object store"):
        ray.get(made_there)
    arrived = ray.get(made_there, _use_object_store=True)["tensor"]
    assert same(arrived, random_tensor("float32"))


def test_a_full_folder_is_a_memory_error_and_the_next_tensor_goes(other_node):
    there = Actor.options(resources={"other": 0.1}).remote()
    with pytest.raises(ray.exceptions.RayTaskError, match="--shm-size") as raised:
        ray.get(there.make_too_large.remote())
    assert isinstance(raised.value.cause, MemoryError)
    arrived = ray.get(there.make.remote(share=False), _use_object_store=True)["tensor"]
    assert same(arrived, random_tensor("float32"))


def test_what_was_lost_with_its_node_is_an_error_and_what_had_arrived_stays(other_node):
    arrived, lost = make.remote("int16"), make.remote("int16")
    tensor = ray.get(arrived)
    ray.wait([lost], fetch_local=False)
    kill(other_node)
    with pytest.raises(ray.exceptions.ObjectLostError):
        ray.get(lost, timeout=100)
    assert same(tensor, random_tensor("int16"))
    assert same(ray.get(ray.put(tensor)), tensor)
