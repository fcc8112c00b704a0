"""Layouts of a tensor on ranks, as the planner takes them."""

import math
import operator
import typing


class Shard(typing.NamedTuple):
    """Each rank along a dimension of the mesh has a chunk of the tensor's dimension `dim`.

    dim           of the tensor; negative ones count from the last
    split_factor  > 1: a chunk of each of so many chunks, as PyTorch's _StridedShard has it for
                  FSDP with tensor parallelism

    A chunk has ceil(size / ranks) indices, as in torch.chunk, and the last ones fewer or none.
    """

    dim: int
    split_factor: int = 1


class Replicate(typing.NamedTuple):
    """All ranks along a dimension of the mesh have the same elements."""


class Mesh:
    """An array of ranks.

    shape  an int or a tuple
    ranks  a sequence of as many different ranks, in row-major order. Default: 0, 1, 2, ...

    >>> from dovetail.reshard import Mesh
    >>> Mesh((2, 2), ranks=[0, 1, 4, 5])
    Mesh((2, 2), ranks=(0, 1, 4, 5))
    """

    __slots__ = ("ranks", "shape")

    def __init__(self, shape, ranks=None):
        self.shape = parse_shape(shape)
        if min(self.shape, default=0) < 0:
            raise ValueError(f"A mesh of shape {self.shape} has a negative size.")
        count = math.prod(self.shape)
        if count > 1 << 20:
            raise ValueError(f"A mesh of shape {self.shape} has more than {1 << 20} ranks.")
        self.ranks = tuple(range(count)) if ranks is None else _ints(ranks)
        if len(self.ranks) != count or len(set(self.ranks)) != count:
            raise ValueError(
                f"A mesh of shape {self.shape} has {count} different ranks, not {self.ranks}."
            )

    def __repr__(self):
        return f"Mesh({self.shape}, ranks={self.ranks})"


def parse_layout(layout, shape, name):
    """Return a layout as _ReshardPlan takes it. Raises TypeError or ValueError with the name."""
    try:
        if hasattr(layout, "device_mesh") and hasattr(layout, "placements"):
            if tuple(getattr(layout, "shape", shape)) != shape:
                raise ValueError(f"the DTensor has shape {tuple(layout.shape)}, not {shape}")
            layout = (layout.device_mesh, layout.placements)
        if hasattr(layout, "devices_indices_map"):
            layout = _boxes_of_jax(layout, shape)
        if isinstance(layout, dict):
            return _boxes_by_rank(layout, shape)
        if isinstance(layout, list):
            return [_boxes(entry, shape) for entry in layout]
        if isinstance(layout, tuple) and len(layout) == 2:
            mesh, placements = _mesh(layout[0]), layout[1]
            if not isinstance(placements, (list, tuple)) or isinstance(placements, Shard):
                raise TypeError(
                    f"placements are a list, one for each dimension of the mesh, not {placements!r}"
                )
            return mesh.shape, mesh.ranks, [_placement(p, len(shape)) for p in placements]
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"The {name}: {error}") from error
    raise TypeError(
        f"The {name} is (mesh, placements), a DTensor, a Sharding of JAX, or boxes in a list or a "
        f"dict by rank, not {type(layout).__name__}"
    )


def describe_layout(parsed):
    """Return a parsed layout as a short text, for errors."""
    if isinstance(parsed, list):
        return f"boxes of {len(parsed)} ranks"
    shape, ranks, placements = parsed
    named = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    placed = [
        "Replicate()" if dim < 0 else f"Shard({dim}{f', {split}' if split > 1 else ''})"
        for dim, split in placements
    ]
    return f"mesh {shape} of ranks {named} [{', '.join(placed)}]"


def parse_shape(shape):
    """Return a shape, an int or several, as a tuple of ints."""
    try:
        return (_int(shape),)
    except TypeError:  # arrays have __index__, but only those of one element are an int
        return _ints(shape)


def _ints(values):
    return tuple(_int(value) for value in values)


def _int(value):
    number = operator.index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"{number} does not fit in 64 bits")
    return number


def _mesh(mesh):
    if isinstance(mesh, Mesh):
        return mesh
    ranks = getattr(mesh, "mesh", mesh)  # PyTorch's DeviceMesh has them in `mesh`
    if not (hasattr(ranks, "shape") and hasattr(ranks, "reshape")):
        raise TypeError(
            "a mesh is a dovetail.reshard.Mesh, a DeviceMesh or an array of ranks, not "
            f"{type(mesh).__name__}"
        )
    return Mesh(tuple(ranks.shape), ranks.reshape(-1).tolist())


# By name, so that PyTorch's are known without importing it.
def _placement(placement, ndim):
    kind = type(placement).__name__
    if kind == "Replicate":
        return -1, 1
    if kind not in ("Shard", "_StridedShard"):
        reason = " (reduce it first: no rank has its elements)" if "Partial" in kind else ""
        raise TypeError(f"a placement is Shard(dim) or Replicate(), not {placement!r}{reason}")
    dim = operator.index(getattr(placement, "dim", None))
    if not -ndim <= dim < ndim:
        raise ValueError(f"dimension {dim} can't be sharded: the tensor has {ndim} dimensions")
    return dim % ndim, _int(getattr(placement, "split_factor", 1))


def _boxes_of_jax(sharding, shape):
    """Return the boxes of each process, of its devices' different ones."""
    by_rank = {}
    for device, index in sharding.devices_indices_map(shape).items():
        boxes = by_rank.setdefault(device.process_index, [])
        box = tuple(part.indices(size)[:2] for part, size in zip(index, shape, strict=True))
        if box not in boxes:
            boxes.append(box)
    return by_rank


def _boxes_by_rank(boxes, shape):
    by_rank = {operator.index(rank): _boxes(entry, shape) for rank, entry in boxes.items()}
    if by_rank and not 0 <= min(by_rank) <= max(by_rank) < 1 << 20:
        raise ValueError(f"a rank is a number from 0 to {(1 << 20) - 1}")
    return [by_rank.get(rank, []) for rank in range(max(by_rank, default=-1) + 1)]


def _boxes(entry, shape):
    """Return a rank's boxes: of None, a box, or a list of boxes."""
    if entry is None:
        return []
    return [_box(box, shape) for box in (entry if isinstance(entry, list) else [entry])]


def _box(box, shape):
    if not isinstance(box, tuple) or len(box) != len(shape):
        raise ValueError(
            f"a box is a tuple of {len(shape)} slices or (start, stop), one for each dimension, "
            f"not {box!r}"
        )
    return [_range(part, size) for part, size in zip(box, shape, strict=True)]


def _range(part, size):
    if isinstance(part, slice):
        if part.step not in (None, 1):
            raise ValueError(f"a slice of a box has a step of 1, not {part.step}")
        start = 0 if part.start is None else _int(part.start)
        stop = size if part.stop is None else _int(part.stop)
        if min(start, stop) < 0:
            raise ValueError(f"a box has indices from 0 on, not {part}")
        return start, stop
    if isinstance(part, (tuple, list)) and len(part) == 2:
        return _ints(part)
    raise TypeError(f"a dimension of a box is a slice or (start, stop), not {part!r}")
