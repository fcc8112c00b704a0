"""From one sharding of a tensor to another, among processes: every byte moves once.

    # in each process: rows on ranks 0 and 1 become columns on ranks 0 and 1
    group = Group(name, rank, 2)
    mesh = Mesh(2)
    plan = dt.Reshard((4096, 4096), "float32",
                      source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))
    rows = dt.ipc.empty((2048, 4096), dtype="float32")
    columns = plan.run(rows, None, group)

A layout, source or target, is one of these:

    (mesh, placements)  as in PyTorch's DTensor: a Mesh or PyTorch's DeviceMesh, and a Shard(dim) or
                        Replicate(), ours or PyTorch's, for each dimension of the mesh
    a DTensor           its device_mesh and placements
    a Sharding of JAX   rank i is process i
    boxes by hand       a list with an entry for each rank, or a dict by rank: a box or a list of
                        boxes, one for each of the rank's tensors. A box is a tuple with a slice or
                        a (start, stop) for each dimension of the tensor

Shards that ranks of one host exchange lie in shared memory (dovetail.ipc): the receiver copies from
there into its result. Between hosts, dovetail.mpi.Group sends them by MPI. Importing this module
imports neither PyTorch nor MPI.
"""

from dovetail.reshard._group import Group
from dovetail.reshard._layouts import Mesh, Replicate, Shard
from dovetail.reshard._pieces import Piece
from dovetail.reshard._plan import Reshard
from dovetail.reshard._rank_plan import RankPlan
from dovetail.reshard._run import run

__all__ = ["Group", "Mesh", "Piece", "RankPlan", "Replicate", "Reshard", "Shard", "run"]
