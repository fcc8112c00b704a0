"""Helpers of the dovetail.ipc tests, including functions that spawned processes import."""

import os
import signal
import struct

import dovetail as dt


def shared(values, dtype="int64"):
    """A tensor of these values in shared memory."""
    source = dt.tensor(values, dtype=dtype)
    t = dt.ipc.empty(source.shape, dtype=dtype)
    t[...] = source
    return t


def path_of(handle):
    """The path of the memory file that a handle or message names."""
    token, number = struct.unpack("<QQ", bytes(handle)[-27:-11])  # 11 for slot, generation, access
    return f"/dev/shm/dovetail.3.{token:016x}.{number:x}"


def add_one(handle, answer):
    """Add 1 to each int64 element, and answer with the old values."""
    t = dt.ipc.open(handle)
    before = t.tolist()
    t[...] = [[x + 1 for x in row] for row in before]
    answer.put(before)


def describe(handle, answer):
    t = dt.ipc.open(handle)
    answer.put((t.dtype.name, t.shape, t.strides, t.readonly, str(t.device), t.tolist()))


def write_with_numpy(handle, answer):
    import numpy as np

    a = np.from_dlpack(dt.ipc.open(handle))
    answer.put(a.tolist())
    a *= 2


def write_with_torch(handle, answer):
    import torch

    a = torch.from_dlpack(dt.ipc.open(handle))
    answer.put(a.tolist())
    a += 100


def own(answer, done, how):
    """Share a tensor of [7, 7, 7], and end as `how` says."""
    t = dt.ipc.empty(3, dtype="int32")
    t[...] = 7
    answer.put(bytes(dt.ipc.share(t)))
    done.wait(60)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exits":
        os._exit(0)
    if how == "returns":
        globals()["kept"] = t  # lives until the process ends


def open_and_wait(handle, answer, done, opened):
    t = dt.ipc.open(handle)
    answer.put("open")
    done.wait(60)
    answer.put(t.tolist())
    answer.put(dt.ipc.share(t))
    opened.wait(60)  # keeps it until then


def show(handle):
    print(dt.ipc.open(handle).tolist())


def try_open(handle, answer):
    try:
        dt.ipc.open(handle)
        answer.put("opened")
    except dt.ExchangeError as e:
        answer.put(str(e))
