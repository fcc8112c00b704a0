"""/dev/shm, where tensors for other processes lie."""

import os
import pathlib

from .finding import FACT, FAULT, Finding

MIB = 1 << 20
_SMALL = 64 * MIB  # what Docker gives by default
_FULL = 16 * MIB
_LARGER = "docker run --shm-size=2g; in Kubernetes, an emptyDir of medium Memory at /dev/shm"


def check(folder=pathlib.Path("/dev/shm"), statvfs=os.statvfs):
    def fault(text, remedy):
        return [Finding(FAULT, "shared memory", f"{folder} {text}", remedy)]

    if not folder.is_dir():
        return fault("does not exist: dt.ipc can't share memory", f"mount -t tmpfs tmpfs {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fault("can't be written: dt.ipc can't share memory", f"chmod 1777 {folder}")
    system = statvfs(folder)
    size, free = (system.f_frsize * blocks for blocks in (system.f_blocks, system.f_bavail))
    text = f"has {size // MIB:,} MiB, of which {free // MIB:,} MiB are free"
    if size <= _SMALL:
        return fault(f"is small for tensors: it {text}", _LARGER)
    if free < _FULL:
        return fault(f"is full: it {text}", f"look for files that ended processes left in {folder}")
    return [Finding(FACT, "shared memory", f"{folder} {text}")]
