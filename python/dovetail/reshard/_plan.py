"""dovetail.Reshard: the plan."""

import hashlib
import operator

from dovetail import _core
from dovetail.reshard._layouts import describe_layout, parse_layout, parse_shape
from dovetail.reshard._pieces import Piece
from dovetail.reshard._rank_plan import RankPlan
from dovetail.reshard._run import run


class Reshard:
    """The plan of moving a tensor from one layout on ranks to another.

    shape, dtype    of the whole tensor
    source, target  the layouts: see dovetail.reshard
    hosts           the host of each rank, as hashable values, such as group.hosts: pieces come from
                    ranks of the same host where one has them. More than the ranks are no error.
                    None: one host
    partial         True: the layouts may leave elements out, of which the target needs none

    Elements that a rank has already are copied within the rank. All others come from one rank each,
    straight to their place; holders that are as near take turns. Every process makes the plan for
    itself, and run() compares the plans.

    size         the number of ranks: one more than the highest of both layouts
    fingerprint  32 hexadecimal digits, the same for equal plans
    moved_bytes  of all elements that go from one rank to another: the least possible

    Immutable, thread-safe. Raises TypeError and ValueError for what is no layout, for one that
    leaves elements out, and for one in which a rank has an element twice; both name them.

    >>> from dovetail.reshard import Mesh, Shard
    >>> mesh = Mesh(2)
    >>> plan = dt.Reshard((4, 6), "int16", source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))
    >>> plan.bytes(0, 1), plan.moved_bytes
    (12, 24)
    """

    def __init__(self, shape, dtype, *, source, target, hosts=None, partial=False):
        shape = parse_shape(shape)
        source = parse_layout(source, shape, "source")
        target = parse_layout(target, shape, "target")
        hosts = None if hosts is None else tuple(hosts)
        self._set(shape, _core.dtype(dtype).name, source, target, hosts, bool(partial))

    def _set(self, *arguments):
        self._arguments = arguments
        self.shape, dtype, source, target, self.hosts, partial = arguments
        self.dtype = _core.dtype(dtype)
        self._bits = self.dtype.bits * self.dtype.lanes
        numbers = {}
        try:
            hosts = [numbers.setdefault(host, len(numbers)) for host in self.hosts or ()]
        except TypeError as error:
            raise TypeError(f"hosts: {error}") from error
        self._plan = _core._ReshardPlan(self.shape, source, target, hosts, partial)
        self.size = self._plan.size
        text = self.dtype.name.encode() + b" " + self._plan.canonical()
        self.fingerprint = hashlib.blake2b(text, digest_size=16).hexdigest()
        self._of_rank = (None, None)

    def bytes(self, source, target):
        """Return the number of bytes that go from one rank to another, or stay in a rank."""
        return self.received_bytes(target)[self._checked(source)]

    def received_bytes(self, rank):
        """Return the numbers of bytes that come to a rank from each rank, as a list."""
        return [self._nbytes(count) for count in self._plan.received(self._checked(rank))]

    def sent_bytes(self, rank):
        """Return the numbers of bytes that go from a rank to each rank, as a list."""
        return [self._nbytes(count) for count in self._plan.sent(self._checked(rank))]

    @property
    def moved_bytes(self):
        if self._bits % 8 == 0:
            return self._nbytes(self._plan.moved())
        total = 0  # each rank's elements fill bytes of their own
        for rank in range(self.size):
            counts = self.received_bytes(rank)
            total += sum(counts) - counts[rank]
        return total

    def source_shapes(self, rank):
        """Return the shapes of the tensors that a rank has before, as a list of tuples."""
        return self._plan.locals(True, self._checked(rank, limit=False))

    def target_shapes(self, rank):
        """Return the shapes of the tensors that a rank has afterwards, as a list of tuples."""
        return self._plan.locals(False, self._checked(rank, limit=False))

    def source_boxes(self, rank):
        """Return the boxes that a rank has before, as tuples of a (start, stop) a dimension.

        In the order of its tensors, and of their elements. A tensor without elements has no box,
        and one that is cut by split factors several.
        """
        return self._plan.boxes(True, self._checked(rank, limit=False))

    def target_boxes(self, rank):
        """Return the boxes that a rank has afterwards, as source_boxes() those before."""
        return self._plan.boxes(False, self._checked(rank, limit=False))

    def receives(self, rank):
        """Return what a rank needs, of itself and of others, as a list of Pieces."""
        return [Piece(*piece) for piece in self._plan.receives(self._checked(rank, limit=False))]

    def sends(self, rank):
        """Return what a rank has that it or others need, as a list of Pieces.

        The pieces from one rank to another are in the same order as in receives().
        """
        return [Piece(*piece) for piece in self._plan.sends(self._checked(rank, limit=False))]

    def for_rank(self, rank):
        """Return the RankPlan: a rank's part, which can be kept, pickled and run without the whole.

        It takes memory for the pieces of this rank alone.
        """
        rank = self._checked(rank, limit=False)
        known, part = self._of_rank
        if known != rank:
            part = RankPlan(self, rank)
            self._of_rank = (rank, part)
        return part

    def run(self, shards, out, group, *, copy=False, timeout=60.0):
        """Move the elements: RankPlan.run() of this process's rank, which is the group's."""
        return run([(self, shards, out)], group, copy=copy, timeout=timeout)[0]

    def explain(self):
        """Return what goes where: print it for a table; in a notebook it is a picture, too."""
        from dovetail.reshard._explain import Explanation

        return Explanation(self)

    def _nbytes(self, elements):
        return (elements * self._bits + 7) // 8

    def _checked(self, rank, limit=True):
        rank = operator.index(rank)
        if not 0 <= rank < (self.size if limit else 1 << 31):
            raise ValueError(f"Rank {rank} is not one of the plan's {self.size}, 0 and more.")
        return rank

    def __reduce__(self):
        return _remade, self._arguments

    def __repr__(self):
        return f"Reshard({self.shape}, {self.dtype.name}, {self.size} ranks)"

    def _description(self):
        """Return a text by which the plans of two ranks can be told apart, most often."""
        source, target = map(describe_layout, self._arguments[2:4])
        return f"{self.dtype.name} {self.shape} from {source} to {target}"


def _remade(*arguments):
    plan = Reshard.__new__(Reshard)
    plan._set(*arguments)
    return plan
