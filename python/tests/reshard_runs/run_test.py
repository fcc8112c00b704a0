"""dovetail.Reshard.run: processes that move shards in shared memory."""

import random

import numpy as np
import pytest
import run_workers
from ranks import Rank, call_all, unique_name

import dovetail as dt
from dovetail.reshard import Mesh, Replicate, Reshard, Shard


class Crew:
    """Processes with a group of each size."""

    def __init__(self):
        self.ranks = [Rank() for _ in range(6)]

    def run(self, size, function, *arguments):
        """Call the function in so many processes of a new group. None of them finds a fault."""
        ranks = self.ranks[:size]
        name = unique_name()
        call_all(ranks, run_workers.join, [(name, rank, size) for rank in range(size)])
        assert call_all(ranks, function, [arguments] * size) == [None] * size


@pytest.fixture(scope="module")
def crew():
    crew = Crew()
    yield crew
    for rank in crew.ranks:
        rank.end()


def rows_to_columns(size, shape=(6, 8), dtype="float32"):
    return shape, dtype, (Mesh(size), [Shard(0)]), (Mesh(size), [Shard(1)])


@pytest.mark.parametrize("size", range(1, 7))
def test_rows_become_columns(crew, size):
    # 7 rows and 10 columns: of six ranks, some have none.
    for shape in [(6, 12), (7, 10), (2, 1), (0, 3)]:
        crew.run(size, run_workers.reshard, rows_to_columns(size, shape), {})


@pytest.mark.parametrize("where", ["ipc", "pool"])
@pytest.mark.parametrize("out", [None, "cpu", "ipc", "pool"])
def test_shards_and_targets_lie_in_any_shared_memory(crew, where, out):
    options = {"where": where, "out": out, "count": 3}
    crew.run(3, run_workers.reshard, rows_to_columns(3), options)


@pytest.mark.parametrize("layout", ["dense", "strided", "reversed"])
@pytest.mark.parametrize("out_layout", ["dense", "strided", "reversed"])
def test_views_are_read_and_written_where_they_lie(crew, layout, out_layout):
    options = {"layout": layout, "out": "cpu", "out_layout": out_layout, "count": 2}
    crew.run(3, run_workers.reshard, rows_to_columns(3), options)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint16", "bfloat16", "float8_e4m3fn", "float64", "complex128"],
)
def test_elements_of_any_type_move_bit_for_bit(crew, dtype):
    crew.run(3, run_workers.reshard, rows_to_columns(3, dtype=dtype), {"count": 2})


def test_a_rank_of_the_target_alone_has_no_shards(crew):
    shape = (12, 10)
    trainers, rollouts = Mesh(2, ranks=[0, 1]), Mesh(3, ranks=[2, 3, 4])
    for source, target in [(0, 1), (1, 0), (0, 0)]:
        arguments = shape, "int16", (trainers, [Shard(source)]), (rollouts, [Shard(target)])
        crew.run(5, run_workers.reshard, arguments, {"count": 3})
        crew.run(5, run_workers.reshard, arguments, {"out": "cpu"})
        # The group may have ranks that neither layout has.
        crew.run(6, run_workers.reshard, arguments, {"out": "cpu"})


def test_replicas_are_read_from_any_holder_and_written_to_all(crew):
    shape, grid = (8, 9), Mesh((2, 2), ranks=[3, 1, 0, 2])
    layouts = [
        (grid, [Shard(0), Replicate()]),
        (grid, [Replicate(), Shard(1)]),
        (grid, [Replicate(), Replicate()]),
        (grid, [Shard(1), Shard(1)]),
        (grid, [Shard(0), Shard(1)]),
    ]
    for source in layouts:
        for target in layouts:
            crew.run(4, run_workers.reshard, (shape, "int64", source, target), {})


def test_boxes_by_hand_are_several_tensors_of_a_rank(crew):
    source = [
        [((0, 3), (0, 10)), ((5, 6), (2, 9))],
        [],
        [((3, 5), (0, 10)), ((5, 6), (0, 2)), ((5, 6), (9, 10))],
    ]
    target = [
        [((0, 6), (0, 1)), ((2, 4), (3, 3)), ((1, 5), (4, 8))],
        [((0, 6), (0, 10))],
        [((5, 6), (5, 6))],
    ]
    for options in [{}, {"out": "pool", "count": 3}, {"layout": "reversed", "plan": "rank"}]:
        crew.run(3, run_workers.reshard, ((6, 10), "int32", source, target), options)


def test_tensors_of_no_dimensions_and_without_elements(crew):
    mesh = Mesh(3)
    scalar = (), "float64", (Mesh(1, ranks=[1]), [Replicate()]), (mesh, [Replicate()])
    crew.run(3, run_workers.reshard, scalar, {})
    crew.run(3, run_workers.reshard, scalar, {"out": "cpu", "where": "pool"})
    for shape in [(0,), (3, 0), (0, 4)]:
        arguments = shape, "int8", (mesh, [Shard(0)]), (mesh, [Shard(len(shape) - 1)])
        crew.run(3, run_workers.reshard, arguments, {"out": "cpu"})


def test_a_rank_plan_that_was_pickled_runs(crew):
    crew.run(4, run_workers.reshard, rows_to_columns(4), {"plan": "rank", "count": 3})


def test_shards_are_written_again_as_soon_as_run_returns(crew):
    crew.run(3, run_workers.reshard, rows_to_columns(3), {"count": 100})
    crew.run(4, run_workers.ring, 3, 300)
    crew.run(3, run_workers.ring, 100_000, 100)


def test_plans_take_turns_in_one_group(crew):
    there = rows_to_columns(3, (9, 7))
    back = (*there[:2], there[3], there[2])
    crew.run(3, run_workers.interleave, there, back, 50)


def test_runs_leave_no_descriptors_and_mappings(crew):
    crew.run(3, run_workers.run_with_new_shards, 200)


@pytest.mark.parametrize("library", ["torch", "numpy", "read-only"])
def test_shards_and_targets_are_tensors_of_other_libraries(library):
    ranks = [Rank("spawn") for _ in range(2)]  # a fork would have threads of this process's torch
    name = unique_name()
    call_all(ranks, run_workers.join, [(name, rank, 2) for rank in range(2)])
    assert call_all(ranks, run_workers.reshard_libraries, [(library,)] * 2) == [None] * 2
    for rank in ranks:
        rank.end()


def test_packed_elements_move_where_they_begin_at_bytes(crew):
    crew.run(3, run_workers.reshard_packed, 2)


def test_packed_elements_within_a_byte_are_an_error_on_all_ranks(crew):
    ranks = crew.ranks[:3]
    name = unique_name()
    call_all(ranks, run_workers.join, [(name, rank, 3) for rank in range(3)])
    answers = call_all(ranks, run_workers.reshard_packed, [(3,)] * 3)
    assert [answer.kind for answer in answers] == ["RuntimeError", "ValueError", "RuntimeError"]
    assert all("packed int4 tensor starts inside a byte" in answer.text for answer in answers)


def random_layout(generator, ndim, size):
    """A mesh of some of the ranks in any order, and placements."""
    mesh_shape = generator.choice([(1,), (2,), (3,), (size,), (2, 1), (1, 3), (2, 2), (2, 1, 2)])
    count = int(np.prod(mesh_shape))
    if count > size:
        return random_layout(generator, ndim, size)
    ranks = generator.sample(range(size), count)
    choices = [Replicate()] + [Shard(dim) for dim in range(ndim)] * 2
    return Mesh(mesh_shape, ranks), [generator.choice(choices) for _ in mesh_shape]


@pytest.mark.parametrize("size", [3, 4])
def test_random_meshes_agree_with_numpy(crew, size):
    ranks = crew.ranks[:size]
    name = unique_name()
    call_all(ranks, run_workers.join, [(name, rank, size) for rank in range(size)])
    for seed in range(100):
        generator = random.Random(seed)
        shape = tuple(generator.randrange(0, 9) for _ in range(generator.randrange(1, 4)))
        source, target = (random_layout(generator, len(shape), size) for _ in range(2))
        arguments = (shape, source, target, seed)
        answers = call_all(ranks, run_workers.reshard_mesh, [arguments] * size)
        assert answers == [None] * size, (arguments, answers)


def test_a_plan_of_one_rank_needs_no_group():
    plan = Reshard(
        (4, 3), "int32", source=[((0, 4), (0, 3))], target=[((1, 3), (0, 2))], partial=True
    )
    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    assert plan.run(x, None, None).tolist() == x[1:3, :2].tolist()
    assert plan.for_rank(0).run([x], None, None).tolist() == x[1:3, :2].tolist()
    out = np.zeros((2, 2), np.int32)
    assert plan.run(x, out, None) is out and (out == x[1:3, :2]).all()
    assert plan.run(dt.from_dlpack(x).T.copy().T, None, None).tolist() == x[1:3, :2].tolist()


@pytest.mark.parametrize("copy", [False, True])
def test_parameters_are_shards_and_results_and_private_ones_if_they_may_be_copied(crew, copy):
    crew.run(3, run_workers.reshard_modules, copy)


def test_ranks_without_elements_pass_none(crew):
    crew.run(4, run_workers.reshard_with_nothing)
