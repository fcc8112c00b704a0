"""Plans of random layouts against an oracle, element by element and byte by byte.

DOVETAIL_PAIRS in the environment sets how many pairs of layouts are tried; the default takes
seconds.
"""

import os
import random

import numpy as np
from layouts_for_tests import random_layout, random_shape

import dovetail as dt

PAIRS = int(os.environ.get("DOVETAIL_PAIRS", "1000"))
DTYPES = ("int8", "float16", "float32", "complex64", "complex128")


class Oracle:
    """What a pair of layouts means: who has which element, and who needs it."""

    def __init__(self, shape, source, target, hosts, ranks):
        self.size = int(np.prod(shape, dtype=np.int64))
        self.source, self.target = source, target
        self.ranks = ranks
        self.host = [hosts[rank] if hosts else 0 for rank in range(self.ranks)]
        self.has = np.zeros((self.ranks, self.size), dtype=bool)
        for rank, tensors in source.items():
            for tensor in tensors:
                self.has[rank, tensor.reshape(-1)] = True
        self.needs = np.zeros((self.ranks, self.size), dtype=bool)
        for rank, tensors in target.items():
            for tensor in tensors:
                self.needs[rank, tensor.reshape(-1)] = True

    def on_host(self, host):
        return self.has[[h == host for h in self.host]].any(axis=0)

    def kept(self, rank):
        return np.count_nonzero(self.needs[rank] & self.has[rank])

    def moved(self):
        """Elements that a rank needs and lacks: no plan moves fewer."""
        return np.count_nonzero(self.needs & ~self.has)

    def moved_between_hosts(self):
        lacking = (self.needs[rank] & ~self.on_host(self.host[rank]) for rank in range(self.ranks))
        return sum(map(np.count_nonzero, lacking))


def random_pair(rng):
    shape = random_shape(rng)
    source, has = random_layout(rng, shape)
    target, needs = random_layout(rng, shape)
    hosts = [rng.choice(("a", "b", 3)) for _ in range(16)] if rng.random() < 0.5 else None
    dtype = rng.choice(DTYPES)
    plan = dt.Reshard(shape, dtype, source=source, target=target, hosts=hosts)
    return plan, Oracle(shape, has, needs, hosts, plan.size), dtype


def carried_out(plan, tensors, dtype):
    """Return each rank's target tensors, and how often each of their elements was written."""
    result, written = [], []
    for rank in range(plan.size):
        result.append([np.zeros(shape, dtype) for shape in plan.target_shapes(rank)])
        written.append([np.zeros(shape, "int32") for shape in plan.target_shapes(rank)])
        for piece in plan.receives(rank):
            assert piece.target == rank
            piece.of_target(result[rank])[...] = piece.of_source(tensors[piece.source])
            piece.of_target(written[rank])[...] += 1
    return result, written


def check_shapes(plan, oracle):
    assert plan.size > max([*oracle.source, *oracle.target], default=-1)
    for rank in range(plan.size):
        shapes = [tensor.shape for tensor in oracle.source.get(rank, [])]
        assert plan.source_shapes(rank) == shapes
        shapes = [tensor.shape for tensor in oracle.target.get(rank, [])]
        assert plan.target_shapes(rank) == shapes


def check_elements(plan, oracle, values):
    sources = [[values[t] for t in oracle.source.get(rank, [])] for rank in range(plan.size)]
    result, written = carried_out(plan, sources, values.dtype)
    for rank in range(plan.size):
        expected = [values[tensor] for tensor in oracle.target.get(rank, [])]
        assert [t.tobytes() for t in result[rank]] == [t.tobytes() for t in expected]
        assert all((count == 1).all() for count in written[rank])


def check_bytes(plan, oracle, itemsize):
    received = np.array([plan.received_bytes(rank) for rank in range(plan.size)]).T
    sent = np.array([plan.sent_bytes(rank) for rank in range(plan.size)])
    pieces = np.zeros_like(sent)
    for rank in range(plan.size):
        for piece in plan.receives(rank):
            pieces[piece.source, rank] += itemsize * np.prod(piece.shape, dtype=np.int64)
        assert received[rank, rank] == itemsize * oracle.kept(rank)
    assert (received == sent).all() and (sent == pieces).all()
    for source in range(plan.size):
        target = source * 7 % plan.size
        assert plan.bytes(source, target) == sent[source, target]
    between = sent.sum() - np.trace(sent)
    assert plan.moved_bytes == between == itemsize * oracle.moved()
    hosts = np.array([str(host) for host in oracle.host])
    far = sent[hosts[:, None] != hosts[None, :]].sum()
    assert far == itemsize * oracle.moved_between_hosts()


def check_sends(plan):
    """A rank sends what others receive of it, and each of them gets it in the order of both."""
    receives = [piece for rank in range(plan.size) for piece in plan.receives(rank)]
    for rank in range(plan.size):
        sends, part = plan.sends(rank), plan.for_rank(rank)
        assert part.sends == sends
        for peer in range(plan.size):
            of_pair = [p for p in receives if (p.source, p.target) == (rank, peer)]
            assert [p for p in sends if p.target == peer] == of_pair
            of_peer = [p for p in plan.receives(rank) if p.source == peer]
            assert [p for p in part.receives if p.source == peer] == of_peer


def test_random_pairs_of_layouts_are_exact_and_move_the_fewest_bytes():
    rng = random.Random(20261201)
    for number in range(PAIRS):
        plan, oracle, dtype = random_pair(rng)
        try:
            check_shapes(plan, oracle)
            itemsize = np.dtype(dtype).itemsize
            random_bytes = np.frombuffer(rng.randbytes(oracle.size * itemsize), dtype)
            check_elements(plan, oracle, random_bytes)
            check_elements(plan, oracle, np.arange(oracle.size))
            check_bytes(plan, oracle, itemsize)
            check_sends(plan)
        except AssertionError as error:
            error.add_note(f"pair {number}: {plan!r}")
            raise


def test_the_pairs_are_of_all_kinds():
    rng = random.Random(20261201)
    pairs = [random_pair(rng)[:2] for _ in range(min(PAIRS, 300))]
    assert {len(plan.shape) for plan, _ in pairs} == {0, 1, 2, 3, 4}
    assert any(0 in plan.shape for plan, _ in pairs)
    assert any(oracle.moved() == 0 for _, oracle in pairs)
    assert any(oracle.has.sum() > oracle.size for _, oracle in pairs)
    assert any(not tensor.size for _, o in pairs for t in o.source.values() for tensor in t)
    assert max(plan.size for plan, _ in pairs) >= 12
    assert any(len(tensors) > 1 for _, oracle in pairs for tensors in oracle.target.values())
