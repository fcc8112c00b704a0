"""What dovetail.Reshard.run refuses as `out`, in one process."""

import numpy as np
import pytest
import torch

from dovetail.reshard import Reshard, run

WHOLE = {0: ((0, 8),)}
HALVES = {0: [((0, 4),), ((4, 8),)]}


def test_results_that_overlap_are_refused():
    plan = Reshard(8, "int32", source=WHOLE, target=HALVES)
    shard, memory = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    for out in ([memory[:4], memory[2:6]], [memory[:4], memory[:4]], [memory[:7:2], memory[3:7]]):
        with pytest.raises(ValueError, match="Two tensors of `out`"):
            plan.run(shard, out, None)
    with pytest.raises(ValueError, match="Two tensors of `out`"):
        run([(plan, shard, [memory[:4], memory[4:]])] * 2, None)
    assert not memory.any()


def test_results_may_lie_between_each_others_elements():
    plan = Reshard(8, "int32", source=WHOLE, target=HALVES)
    memory = np.zeros(8, np.int32)
    plan.run(np.arange(8, dtype=np.int32), [memory[::2], memory[1::2]], None)
    assert memory.tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def test_a_result_whose_elements_share_memory_is_refused():
    same = {0: ((0, 4), (0, 4))}
    plan = Reshard((4, 4), "int32", source=same, target=same)
    memory = torch.zeros(16, dtype=torch.int32)
    for strides in ((1, 1), (0, 1), (2, 1), (4, 0)):
        out = memory.as_strided((4, 4), strides)
        with pytest.raises(ValueError, match=r"Elements of out\[0\] share memory"):
            plan.run(np.ones((4, 4), np.int32), out, None)
    assert not memory.any()
    for strides in ((4, 1), (1, 4)):
        out = memory.as_strided((4, 4), strides)
        plan.run(np.arange(16, dtype=np.int32).reshape(4, 4), out, None)
        assert out.flatten().tolist() == list(range(16))


def test_a_planner_without_a_mesh_is_refused():
    from dovetail import _core

    for mesh in ((), ((1,),), ((1,), (0,))):
        with pytest.raises(ValueError, match="A mesh is"):
            _core._ReshardPlan((4,), mesh, [[[(0, 4)]]], [], False)


class Recorder:
    """A group of one rank, which keeps the timeouts of its exchanges."""

    rank, size = 0, 1

    def __init__(self):
        self.timeouts = []

    def exchange(self, data, *, timeout):
        self.timeouts.append(timeout)
        return [data]


def test_a_rank_whose_tensors_do_not_fit_waits_for_the_others_as_long_as_it_is_told():
    group = Recorder()
    plan = Reshard(8, "int32", source=WHOLE, target=WHOLE)
    with pytest.raises(ValueError, match="has shape"):
        plan.run(np.zeros(7, np.int32), None, group, timeout=0.25)
    assert group.timeouts == [0.25]
    plan.run(np.zeros(8, np.int32), None, group, timeout=0.5)
    assert group.timeouts == [0.25, 0.5, 0.5]
