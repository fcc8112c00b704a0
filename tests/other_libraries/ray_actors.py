"""Actors that pass tensors by dovetail.ray. Ray's workers import this module."""

import os

import ray
from ray_cluster import file_of, random_tensor

import dovetail as dt
import dovetail.ray

dovetail.ray.register()


def shared(tensor):
    """A writable copy in memory that processes can share, of the same layout."""
    whole = dt.ipc.empty(tensor.size, dtype=tensor.dtype).reshape(tensor.shape)
    whole[...] = tensor
    return whole


VIEWS = {
    "whole": lambda t: t,
    "transposed": lambda t: t.T,
    "reversed": lambda t: t[::-1],
    "column": lambda t: t[:, 5],
    "steps": lambda t: t[:, ::3],
    "marked": lambda t: t.detach().requires_grad_(),
    "empty": lambda t: t[:0],
    "scalar": lambda t: t[0, 0],
    "read-only": lambda t: dt.frombuffer(memoryview(t).toreadonly(), dtype=t.dtype),
}


@ray.remote(enable_tensor_transport=True, num_cpus=0)
class Actor:
    def __init__(self):
        self.kept = []

    def pid(self):
        return os.getpid()

    @ray.method(tensor_transport="dovetail")
    def make(self, dtype="float32", *, view="whole", share=True):
        tensor = random_tensor(dtype)
        self.kept.append(shared(tensor) if share else tensor)
        return {"tensor": VIEWS[view](self.kept[-1]), "file": file_of(self.kept[-1]), "plain": 5}

    @ray.method(tensor_transport="dovetail")
    def make_views(self):
        whole = random_tensor("int16")
        return [whole, whole.T, whole[1]]

    @ray.method(tensor_transport="dovetail")
    def make_too_large(self):
        return dt.empty(1 << 30, dtype="uint8")

    def facts(self, made):
        return made["tensor"], made["tensor"].readonly, file_of(made["tensor"]), made["plain"]

    def addresses(self, tensors):
        return [tensor.data_ptr() for tensor in tensors]

    def keep(self, made):
        self.kept.append(made["tensor"])

    def write(self, value):
        self.kept[-1][...] = value

    def read(self):
        return self.kept[-1]

    def let_go(self):
        self.kept.clear()
