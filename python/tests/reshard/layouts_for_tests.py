"""Random layouts, each with what it means: arrays with the number of each element.

The meaning is computed with NumPy alone, index by index.
"""

import itertools
import math

import numpy as np

from dovetail.reshard import Mesh, Replicate, Shard


def numbers_of(shape):
    return np.arange(math.prod(shape), dtype=np.int64).reshape(shape)


def chunk(indices, count, number):
    """As torch.chunk: ceil(size / count) indices each, and the last ones fewer or none."""
    size = -(-len(indices) // count)
    return indices[number * size : (number + 1) * size]


def on_mesh(shape, mesh, placements):
    """Return a list of arrays for each rank of a mesh, in a dict."""
    tensors = {}
    places = itertools.product(*map(range, mesh.shape))
    for rank, place in zip(mesh.ranks, places, strict=True):
        indices = [np.arange(size) for size in shape]
        for placement, count, number in zip(placements, mesh.shape, place, strict=True):
            if isinstance(placement, Shard):
                dim, split = placement
                outer = [chunk(indices[dim], split, i) for i in range(split)]
                indices[dim] = np.concatenate([chunk(part, count, number) for part in outer])
        tensors[rank] = [numbers_of(shape)[np.ix_(*indices)] if shape else numbers_of(shape)]
    return tensors


def random_mesh(rng, shape, most_ranks=12):
    """Return a layout of 1 to 3 dimensions and its meaning. Some ranks are not in the mesh."""
    sizes = []
    for _ in range(rng.randint(1, 3)):
        sizes.append(rng.randint(1, most_ranks // math.prod(sizes)))
    rng.shuffle(sizes)
    ranks = rng.sample(range(min(most_ranks, math.prod(sizes) + 2)), math.prod(sizes))
    placements = []
    for _ in sizes:
        dim = rng.randrange(-len(shape), len(shape)) if shape else None
        split = rng.choice((1, 1, 2, 3, 5))
        is_shard = shape and rng.random() < 0.75
        placements.append(Shard(dim, split) if is_shard else Replicate())
    mesh = Mesh(tuple(sizes), ranks)
    return (mesh, placements), on_mesh(shape, mesh, placements)


def split_box(rng, box):
    """Return boxes that together have the elements of one."""
    boxes, done = [box], []
    while boxes:
        box = boxes.pop()
        dims = [dim for dim, (start, stop) in enumerate(box) if stop - start > 1]
        if not dims or rng.random() < 0.3:
            done.append(box)
            continue
        dim = rng.choice(dims)
        cut = rng.randrange(box[dim][0] + 1, box[dim][1])
        boxes.append((*box[:dim], (box[dim][0], cut), *box[dim + 1 :]))
        boxes.append((*box[:dim], (cut, box[dim][1]), *box[dim + 1 :]))
    return done


def overlap(a, b):
    return all(max(x[0], y[0]) < min(x[1], y[1]) for x, y in zip(a, b, strict=True))


def random_box(rng, shape):
    """Return a box that may be empty."""
    return tuple(tuple(sorted(rng.choices(range(size + 1), k=2))) for size in shape)


def has_elements(box):
    return all(start < stop for start, stop in box)


def random_boxes(rng, shape, most_ranks=12):
    """Return boxes by hand: uneven, of several tensors, in part on several ranks."""
    by_rank = [[] for _ in range(rng.randint(1, most_ranks))]
    for box in split_box(rng, tuple((0, size) for size in shape)):
        rng.choice(by_rank).append(box)
    for _ in range(rng.randrange(12)):
        box, boxes = random_box(rng, shape), rng.choice(by_rank)
        if not has_elements(box) or not any(overlap(box, b) for b in boxes if has_elements(b)):
            boxes.append(box)
    if rng.random() < 0.3:  # the same on several ranks
        by_rank[rng.randrange(len(by_rank))] = list(rng.choice(by_rank))
        missing = np.ones(shape, dtype=bool)
        for box in itertools.chain(*by_rank):
            missing[tuple(slice(*part) for part in box)] = False
        if missing.any():
            by_rank.append([tuple((0, size) for size in shape)])
    for boxes in by_rank:
        rng.shuffle(boxes)
    numbers = numbers_of(shape)
    meaning = {
        rank: [numbers[tuple(slice(*part) for part in box)].copy() for box in boxes]
        for rank, boxes in enumerate(by_rank)
        if boxes
    }
    return written(rng, by_rank, shape), meaning


def written(rng, by_rank, shape):
    """Return boxes in any of the ways in which they can be written."""

    def one(part, size):
        start, stop = part
        if part == (0, size) and rng.random() < 0.5:
            return slice(None)
        return rng.choice((slice(start, stop), part, slice(start, stop, 1)))

    def entry(boxes):
        boxes = [tuple(one(part, size) for part, size in zip(b, shape, strict=True)) for b in boxes]
        if len(boxes) == 1 and rng.random() < 0.5:
            return boxes[0]
        return None if not boxes and rng.random() < 0.5 else boxes

    entries = [entry(boxes) for boxes in by_rank]
    if rng.random() < 0.5:
        return entries
    ranks = [rank for rank, boxes in enumerate(by_rank) if boxes]
    rng.shuffle(ranks)
    return {rank: entries[rank] for rank in ranks}


def random_shape(rng):
    """Return a shape of 0 to 4 dimensions, seldom without elements."""
    dims = rng.randint(0, 4)
    shape = [rng.randint(1, (40, 40, 15, 8, 5)[dims]) for _ in range(dims)]
    if shape and rng.random() < 0.04:
        shape[rng.randrange(dims)] = 0
    return tuple(shape)


def random_layout(rng, shape):
    return random_mesh(rng, shape) if rng.random() < 0.6 else random_boxes(rng, shape)
