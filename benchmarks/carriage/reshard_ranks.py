"""What a rank of reshard_peers.py does: mpirun -n N python reshard_ranks.py ADDRESS."""

import multiprocessing.connection
import os
import sys

import numpy as np
import torch
from mpi4py import MPI
from torch.distributed.tensor import DTensor, Shard, init_device_mesh

import dovetail as dt
import dovetail.mpi

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
N = 4096  # rows and columns
PART = N // SIZE


class Ways:
    """Ways from this rank's rows to its columns. Each returns the columns."""

    def __init__(self):
        whole = np.arange(N * N, dtype=np.float32).reshape(N, N)
        mine = slice(RANK * PART, (RANK + 1) * PART)
        self.columns = whole[:, mine].copy()  # as they should be
        self._rows = whole[mine].copy()
        self._out = np.zeros((N, PART), np.float32)

        self._shared = dt.ipc.empty((PART, N), dtype="float32")
        dt.copyto(self._shared, self._rows)
        self._target = dt.zeros((N, PART), dtype="float32")
        self._groups = [dovetail.mpi.Group(COMM), dovetail.mpi.Group(COMM, hosts=range(SIZE))]
        mesh = dt.reshard.Mesh(SIZE)
        self._plans = [
            dt.Reshard(
                (N, N),
                "float32",
                source=(mesh, [Shard(0)]),
                target=(mesh, [Shard(1)]),
                hosts=group.hosts,
            ).for_rank(RANK)
            for group in self._groups
        ]

        part = [PART, PART]
        ranks = range(SIZE)
        single = MPI.FLOAT
        self._sent = [single.Create_subarray([PART, N], part, [0, i * PART]) for i in ranks]
        self._received = [single.Create_subarray([N, PART], part, [i * PART, 0]) for i in ranks]
        for datatype in self._sent + self._received:
            datatype.Commit()
        self._buffers = np.empty((2, SIZE, PART, PART), np.float32)
        self._copies = np.ones((2, N * PART), np.float32)

        os.environ.update(MASTER_ADDR="localhost", RANK=str(RANK), WORLD_SIZE=str(SIZE))
        os.environ["MASTER_PORT"] = str(29500 + SIZE)
        torch.distributed.init_process_group("gloo")
        torch.set_num_threads(1)
        self._mesh = init_device_mesh("cpu", (SIZE,))
        rows = torch.from_numpy(self._rows)
        self._sharded = DTensor.from_local(rows, self._mesh, [Shard(0)])

    def dovetail(self):
        return self._plans[0].run(self._shared, self._target, self._groups[0]).numpy()

    def messages(self):
        return self._plans[1].run(self._shared, self._target, self._groups[1]).numpy()

    def alltoallw(self):
        ones, zeros = [1] * SIZE, [0] * SIZE
        COMM.Alltoallw(
            [self._rows, ones, zeros, self._sent], [self._out, ones, zeros, self._received]
        )
        return self._out

    def pack(self):
        packed, received = self._buffers
        np.copyto(packed, self._rows.reshape(PART, SIZE, PART).swapaxes(0, 1))
        COMM.Alltoall(packed, received)
        np.copyto(self._out.reshape(received.shape), received)
        return self._out

    def dtensor(self):
        return self._sharded.redistribute(self._mesh, [Shard(1)]).to_local().numpy()

    def memcpy(self):
        np.copyto(self._target.numpy().reshape(PART, N), self._shared.numpy())
        return self.columns

    def private(self):
        np.copyto(*self._copies)
        return self.columns

    def nothing(self):
        return self.columns


def main():
    connection = multiprocessing.connection.Client(sys.argv[1]) if RANK == 0 else None
    dt.set_num_threads(1)
    ways = Ways()
    by_name = {
        "dovetail": ways.dovetail,
        "messages": ways.messages,
        "Alltoallw": ways.alltoallw,
        "pack, Alltoall": ways.pack,
        "DTensor": ways.dtensor,
        "memcpy": ways.memcpy,
        "memcpy, private": ways.private,
        "nothing": ways.nothing,
    }
    while (command := COMM.bcast(connection.recv() if connection else None)) is not None:
        columns = by_name[command.removeprefix("check ")]()
        answer = "done"
        if command.startswith("check "):
            if not COMM.allreduce(np.array_equal(columns, ways.columns), MPI.LAND):
                answer = "wrong"
        else:
            COMM.Barrier()
        if connection:
            connection.send(answer)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
