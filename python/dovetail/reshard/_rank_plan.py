"""A rank's part of a plan."""

from dovetail.reshard._run import run


class RankPlan:
    """What one rank does in a Reshard. Reshard.for_rank() makes it. It can be pickled.

    rank          the rank
    size, fingerprint
                  of the whole plan
    source_shapes, target_shapes
                  of the rank's own tensors, as lists of tuples
    receives, sends
                  the rank's Pieces, as lists
    """

    def __init__(self, plan, rank):
        self.rank = rank
        self.size = plan.size
        self.fingerprint = plan.fingerprint
        self.source_shapes = plan.source_shapes(rank)
        self.target_shapes = plan.target_shapes(rank)
        # Not all ranks begin with the same peer. Pieces of one peer stay in order.
        self.receives = sorted(plan.receives(rank), key=lambda p: (p.source - rank) % plan.size)
        self.sends = plan.sends(rank)
        self.dtype_name = plan.dtype.name
        self.description = plan._description()

    def run(self, shards, out, group, *, copy=False, timeout=60.0):
        """Move the elements. All ranks of the group call it, each with its own tensors.

        shards   the rank's tensors in the source layout: one, a list, or None if it has none or
                 only some without elements. Whatever from_dlpack() accepts, Parameters, and
                 DTensors for what they have here. What other ranks of the host need lies in shared
                 memory, as of dovetail.ipc.empty() and Pool.empty()
        out      where the elements go: the tensors in the target layout, of any memory. They must
                 not overlap the shards. None: new ones are made on the CPU
        group    a dovetail.reshard.Group, or a dovetail.mpi.Group for several hosts, with the
                 plan's ranks, and perhaps others; None for a plan of one rank
        copy     True: copy what other ranks need of private memory into shared memory first. False:
                 raise ExchangeError
        timeout  how many seconds to wait for other ranks, before and after the elements move

        Returns `out`, or the new tensors: one if this rank has one, else a list. The shards can
        then be written again.

        Nothing moves before all ranks of the group have come with the same plan and with tensors
        that fit it. Otherwise all raise: ValueError if the plans differ; for tensors that do not
        fit, their rank TypeError, ValueError or ExchangeError, and the others RuntimeError. If a
        rank ends, or does not call this in time, the others raise ConnectionError or TimeoutError.
        Nobody writes to the shards. After an error while the elements move, do not use `out`:
        another rank may have written its shards again while this one copied.
        """
        return run([(self, shards, out)], group, copy=copy, timeout=timeout)[0]
