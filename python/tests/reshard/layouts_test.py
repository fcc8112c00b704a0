"""Layouts mean what PyTorch's DTensor and JAX's shardings mean by them."""

import math
import random

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.placement_types import _StridedShard, _StridedShardOffsetMode
from torch.testing._internal.distributed.fake_pg import FakeStore

import dovetail as dt
from dovetail.reshard import Mesh

RANKS = 12


@pytest.fixture(scope="module", autouse=True)
def process_group():
    """A process group of which this process plays rank 0."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    yield
    dist.destroy_process_group()


def random_placements(rng, shape, count, strided=True):
    placements = []
    for _ in range(count):
        kind = rng.choice(("shard", "strided", "replicate")) if shape else "replicate"
        dim = rng.randrange(len(shape)) if shape else None
        if kind == "replicate":
            placements.append(Replicate())
        elif kind == "strided" and strided:
            placements.append(_StridedShard(dim, split_factor=rng.randint(2, 5)))
        else:
            placements.append(Shard(dim))
    return placements


def random_mesh(rng):
    sizes = []
    for _ in range(rng.randint(1, 3)):
        sizes.append(rng.randint(1, RANKS // math.prod(sizes)))
    rng.shuffle(sizes)
    return torch.tensor(rng.sample(range(RANKS), math.prod(sizes))).reshape(sizes)


def random_shape(rng):
    dims = rng.randint(0, 3)
    return tuple(rng.choice((0, 1, *range(2, 14))) if dims else 1 for _ in range(dims))


def torch_locals(whole, mesh, placements):
    """Return what each rank has, as PyTorch's placements split a tensor, in a dict."""
    tensors = {}
    for place in np.ndindex(*mesh.shape):
        local = whole
        for placement, count, number in zip(placements, mesh.shape, place, strict=True):
            if not isinstance(placement, Replicate):
                parts, _ = placement._split_tensor(local, count, with_padding=False)
                local = parts[number]
        tensors[int(mesh[place])] = local
    return tensors


def carried_out(plan, tensors):
    """Return the target's tensor of each rank that has one, in a dict."""
    result = {}
    for rank in range(plan.size):
        if shapes := plan.target_shapes(rank):
            (shape,) = shapes
            result[rank] = torch.full(shape, -1)
            for piece in plan.receives(rank):
                source = piece.of_source([tensors[piece.source]])
                piece.of_target([result[rank]])[...] = source
    return result


def equal(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[rank], b[rank]) for rank in a)


def test_random_placements_split_a_tensor_as_pytorch_does():
    rng = random.Random(1)
    for _ in range(400):
        shape, mesh = random_shape(rng), random_mesh(rng)
        placements = random_placements(rng, shape, mesh.ndim)
        whole = torch.arange(math.prod(shape)).reshape(shape)
        expected = torch_locals(whole, mesh, placements)
        one = (Mesh(1), [Replicate()])
        scatter = dt.Reshard(shape, "int64", source=one, target=(mesh, placements))
        assert equal(carried_out(scatter, {0: whole}), expected), (shape, mesh, placements)
        gather = dt.Reshard(shape, "int64", source=(mesh, placements), target=one)
        assert equal(carried_out(gather, expected), {0: whole}), (shape, mesh, placements)
        for rank, local in expected.items():
            assert gather.source_shapes(rank) == [tuple(local.shape)]


def test_sizes_and_all_offsets_are_those_that_placements_tell():
    rng = random.Random(2)
    for _ in range(600):
        size, count, split = rng.randrange(40), rng.randint(1, RANKS), rng.randint(1, 6)
        placement = Shard(0) if split == 1 else _StridedShard(0, split_factor=split)
        layout = (Mesh(count), [placement])
        plan = dt.Reshard(size, "int64", source=layout, target=layout)
        for rank in range(count):
            indices = [
                i for ((start, stop),) in plan.source_boxes(rank) for i in range(start, stop)
            ]
            if split == 1:
                length, offset = Shard.local_shard_size_and_offset(size, count, rank)
                expected = list(range(offset, offset + length))
            else:
                mode = _StridedShardOffsetMode.ALL
                length, expected = placement.local_shard_size_and_offset(size, count, rank, mode)
            assert plan.source_shapes(rank) == [(length,)]
            assert indices == list(expected)[:length]


def test_meshes_and_placements_of_pytorch_are_accepted():
    ranks = torch.tensor([[0, 3, 6], [2, 5, 7]])
    theirs = (DeviceMesh("cpu", ranks), (Shard(1), _StridedShard(0, split_factor=2)))
    ours = (
        Mesh((2, 3), [0, 3, 6, 2, 5, 7]),
        [dt.reshard.Shard(1), dt.reshard.Shard(0, split_factor=2)],
    )
    target = (Mesh(2), [Replicate()])
    plans = [
        dt.Reshard((11, 8), "int8", source=(mesh, theirs[1]), target=target).fingerprint
        for mesh in (theirs[0], ranks, ranks.numpy())
    ]
    plans.append(dt.Reshard((11, 8), "int8", source=ours, target=target).fingerprint)
    assert len(set(plans)) == 1


def test_a_dtensor_is_a_layout():
    rng = random.Random(3)
    mesh = DeviceMesh("cpu", torch.arange(12).reshape(2, 3, 2))
    for _ in range(40):
        shape = random_shape(rng)
        placements = random_placements(rng, shape, 3, strided=False)
        whole = torch.arange(math.prod(shape)).reshape(shape)
        tensor = distribute_tensor(whole, mesh, placements, src_data_rank=None)
        assert isinstance(tensor, DTensor)
        plan = dt.Reshard(
            shape, "int64", source=(Mesh(1), [Replicate()]), target=tensor, partial=True
        )
        assert torch.equal(carried_out(plan, {0: whole})[0], tensor.to_local())


def test_a_dtensor_of_another_shape_is_refused():
    mesh = DeviceMesh("cpu", torch.arange(12))
    tensor = distribute_tensor(torch.zeros(12, 4), mesh, [Shard(0)], src_data_rank=None)
    with pytest.raises(ValueError, match=r"source: the DTensor has shape \(12, 4\), not \(4, 12\)"):
        dt.Reshard((4, 12), "float32", source=tensor, target=(mesh, [Replicate()]))


def test_a_submesh_of_pytorch_has_its_own_ranks():
    mesh = DeviceMesh("cpu", torch.arange(12).reshape(3, 4), mesh_dim_names=("data", "model"))
    model = (mesh["model"], [Shard(0)])
    plan = dt.Reshard(8, "int8", source=model, target=(Mesh(1), [Replicate()]))
    assert [plan.source_shapes(rank) for rank in range(5)] == [[(2,)]] * 4 + [[]]


def test_the_strided_shards_of_fsdp_with_tensor_parallelism_come_back_in_order():
    """PyTorch's own example: the tensor-parallel dimension is sharded first."""
    mesh = Mesh((2, 2))
    fsdp = (mesh, [_StridedShard(0, split_factor=2), Shard(0)])
    plan = dt.Reshard((8, 8), "int8", source=fsdp, target=(mesh, [Replicate(), Replicate()]))
    rows = [[box[0] for box in plan.source_boxes(rank)] for rank in range(4)]
    assert rows == [[(0, 2)], [(4, 6)], [(2, 4)], [(6, 8)]]


@pytest.mark.parametrize("side", ["source", "target"])
def test_partial_sums_are_refused_with_what_to_do(side):
    good = (Mesh(2), [Replicate()])
    layouts = {"source": good, "target": good, side: (Mesh(2), [Partial()])}
    with pytest.raises(TypeError, match=rf"The {side}: .*Partial.*reduce it first"):
        dt.Reshard(8, "int8", **layouts)


def test_a_sharding_of_jax_is_the_boxes_of_its_processes():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_num_cpu_devices", 8)
    devices = np.array(jax.devices("cpu"))[[3, 2, 1, 0, 7, 6, 5, 4]].reshape(4, 2)
    mesh = jax.sharding.Mesh(devices, ("x", "y"))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", None))
    one = (Mesh(1), [Replicate()])
    whole = np.arange(96).reshape(8, 12)
    # This process is rank 0. Devices with the same elements are one tensor.
    plan = dt.Reshard((8, 12), "int64", source=sharding, target=one)
    assert plan.source_boxes(0) == [((2 * i, 2 * i + 2), (0, 12)) for i in range(4)]
    array = jax.device_put(whole, sharding)
    shards = {}
    for shard in array.addressable_shards:
        rows = shard.index[0].start or 0
        shards.setdefault(rows, np.array(shard.data))
    tensors, result = [shards[rows] for rows in sorted(shards)], np.zeros_like(whole)
    for piece in plan.receives(0):
        piece.of_target([result])[...] = piece.of_source(tensors)
    assert (result == whole).all()


def test_the_indices_of_a_sharding_of_jax_are_boxes():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_num_cpu_devices", 8)
    devices = np.array(jax.devices("cpu")).reshape(2, 2, 2)
    mesh = jax.sharding.Mesh(devices, ("x", "y", "z"))
    shape = (8, 12)
    whole = np.arange(96).reshape(shape)
    for spec in (("x", "y"), ("x", None), (None, ("x", "z")), (), (("x", "y", "z"),)):
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
        boxes = list(sharding.devices_indices_map(shape).values())
        assert len(boxes) == 8
        one = (Mesh(1), [Replicate()])
        plan = dt.Reshard(shape, "int64", source=one, target=boxes)
        result = carried_out(plan, {0: torch.from_numpy(whole)})
        for rank, box in enumerate(boxes):
            assert (result[rank].numpy() == whole[box]).all()
        assert dt.Reshard(shape, "int64", source=boxes, target=one).bytes(0, 0) > 0
