"""The processes of ipc_gpu_test.py, each with its own emulated GPUs."""

import emulated_gpu

import dovetail as dt

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


def counting(device, shape=(2, 3)):
    """A tensor of 0, 1, 2, ... in shareable memory."""
    t = dt.ipc.empty(shape, dtype="int32", device=device)
    dt.copyto(t, dt.arange(t.size, dtype="int32").reshape(shape))
    return t


def borrow(handle, answer, go):
    """Read, write when told to, and read again before closing the memory."""
    t = dt.ipc.open(handle)
    answer.put((str(t.device), t.shape, t.strides, t.to("cpu").tolist()))
    go.get()
    dt.copyto(t, dt.full(t.shape, 7, dtype="int32"))
    answer.put(t.to("cpu").tolist())
    go.get()
    answer.put(t.to("cpu").tolist())
    device = str(t.device)
    del t
    dt.trim_memory(device)
    answer.put(GPUS[device[:4]].complaints())


def own(answer, go):
    t = counting("cuda:0")
    answer.put(dt.ipc.share(t))
    go.get()
