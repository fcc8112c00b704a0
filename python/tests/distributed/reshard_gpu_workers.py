"""The processes of reshard_gpu_test.py, each with its own emulated GPUs."""

import emulated_gpu
import numpy as np

import dovetail as dt
from dovetail.reshard import Group, Mesh, Shard

GPUS = {vendor: emulated_gpu.Gpu(vendor) for vendor in ("cuda", "rocm")}
for _gpu in GPUS.values():
    dt.register_backend(_gpu.backend())


def work(name, rank, vendor, to, answers):
    """Three runs, with other rows each time, of which the last fill is still pending at run()."""
    device = f"{vendor}:0"
    mesh = Mesh(2)
    plan = dt.Reshard((6, 8), "int32", source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))
    rows = dt.ipc.empty((3, 8), dtype="int32", device=device)
    out = dt.empty((6, 4), dtype="int32", device=device if to == "device" else "cpu")
    mine = np.arange(48, dtype=np.int32).reshape(6, 8)[rank * 3 : rank * 3 + 3]
    results = []
    with Group(name, rank, 2) as group:
        for number in range(3):
            with dt.stream(dt.Stream(device)):
                dt.copyto(rows, mine + 100 * number)
                plan.run(rows, out, group)
            results.append(out.to("cpu").tolist())
    del rows, out
    GPUS[vendor].finish()
    answers.put((rank, (results, GPUS[vendor].complaints())))
