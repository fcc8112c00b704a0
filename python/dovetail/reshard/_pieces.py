"""Elements that go from one rank's tensor to another's."""

import typing


class Piece(typing.NamedTuple):
    """Elements that go from one rank's tensor to another's, or stay in a rank.

    source, target  the ranks
    source_tensor, target_tensor
                    the numbers of their own tensors
    source_start, target_start
                    where the elements begin in these, an index for each dimension
    start           where they begin in the whole tensor
    shape           of the elements
    """

    source: int
    target: int
    source_tensor: int
    target_tensor: int
    source_start: tuple
    target_start: tuple
    start: tuple
    shape: tuple

    def of_source(self, tensors):
        """Return the elements, a view, in the list of the source's tensors."""
        return _view(tensors[self.source_tensor], self.source_start, self.shape)

    def of_target(self, tensors):
        """Return the elements' place, a view, in the list of the target's tensors."""
        return _view(tensors[self.target_tensor], self.target_start, self.shape)


def _view(tensor, start, shape):
    if tensor.shape == shape:
        return tensor
    ranges = zip(start, shape, strict=True)
    return tensor[tuple(slice(first, first + size) for first, size in ranges)]
