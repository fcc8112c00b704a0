"""What is no layout is refused with words that say which of the two it is, and what is wrong."""

import numpy as np
import pytest

import dovetail as dt
from dovetail.reshard import Mesh, Replicate, Shard

HUGE = 2**70
MANY = 10**18
PAIR = Mesh(2)
GOOD = (PAIR, [Replicate()])
WHOLE = slice(None)


class Partial:
    """As PyTorch's, by name."""


class OtherShard:
    """Of another library, with PyTorch's name."""


OtherShard.__name__ = "Shard"

# Of a tensor of shape (4, 6): the layout, the exception, what it says.
BAD = {
    "nothing": (None, TypeError, "not NoneType"),
    "a number": (5, TypeError, "not int"),
    "text": ("rows", TypeError, "not str"),
    "a mesh alone": (PAIR, TypeError, "not Mesh"),
    "a mesh of text": (("ab", [Shard(0)]), TypeError, "a mesh is .*not str"),
    "a mesh's shape alone": (((2,), [Shard(0)]), TypeError, "a mesh is .*not tuple"),
    "fractional ranks": ((np.array([0.0, 1.0]), [Shard(0)]), TypeError, "float"),
    "no ranks": ((Mesh(0), [Shard(0)]), ValueError, "has no ranks"),
    "a negative rank": ((Mesh(2, [0, -1]), [Shard(0)]), ValueError, "not -1"),
    "a rank too many": ((Mesh(1, [2**20]), [Shard(0)]), ValueError, "not 1048576"),
    "many dimensions": ((Mesh((1,) * 65), [Shard(0)] * 65), ValueError, "64 dimensions"),
    "no placements": ((PAIR, None), TypeError, "placements are a list"),
    "a placement alone": ((PAIR, Shard(0)), TypeError, "placements are a list"),
    "too few placements": ((PAIR, []), ValueError, "needs 1 placements.*not 0"),
    "too many placements": ((PAIR, [Shard(0)] * 2), ValueError, "needs 1 placements.*not 2"),
    "a number as a placement": ((PAIR, [0]), TypeError, "a placement is .*not 0"),
    "a class as a placement": ((PAIR, [Replicate]), TypeError, "a placement is"),
    "a partial sum": ((PAIR, [Partial()]), TypeError, "a placement is .*reduce it first"),
    "a dimension too many": ((PAIR, [Shard(2)]), ValueError, "dimension 2 .*2 dimensions"),
    "a dimension before the first": ((PAIR, [Shard(-3)]), ValueError, "dimension -3"),
    "a huge dimension": ((PAIR, [Shard(HUGE)]), ValueError, "can't be sharded"),
    "a dimension's name": ((PAIR, [Shard("rows")]), TypeError, "str"),
    "another library's shard": ((PAIR, [OtherShard()]), TypeError, "NoneType"),
    "a split factor of 0": ((PAIR, [Shard(0, 0)]), ValueError, "split factor .*not 0"),
    "a negative split factor": ((PAIR, [Shard(0, -2)]), ValueError, "split factor .*not -2"),
    "a large split factor": ((PAIR, [Shard(0, MANY)]), ValueError, "split factor .*not 10000"),
    "a huge split factor": ((PAIR, [Shard(0, HUGE)]), ValueError, "64 bits"),
    "large split factors": (
        (Mesh((2, 2)), [Shard(0, 2**20), Shard(1, 2**20)]),
        ValueError,
        "more than 1048576 chunks",
    ),
    "no boxes": ([], ValueError, r"elements \[0:4, 0:6\]"),
    "no rank's boxes": ({}, ValueError, r"elements \[0:4, 0:6\]"),
    "missing elements": ([((0, 4), (0, 5))], ValueError, r"elements \[0:4, 5:6\]"),
    "elements twice": (
        [[(WHOLE, WHOLE), ((1, 2), (3, 4))]],
        ValueError,
        r"Rank 0 has elements twice, in the boxes \[0:4, 0:6\] and \[1:2, 3:4\]",
    ),
    "a box that is a slice": ([WHOLE], ValueError, "a box is a tuple of 2"),
    "a box of one dimension": ([(WHOLE,)], ValueError, "a box is a tuple of 2"),
    "a box of three dimensions": ([(WHOLE,) * 3], ValueError, "a box is a tuple of 2"),
    "a box of numbers": ([(1, 2)], TypeError, "slice or .*not 1"),
    "a box outside": ([((0, 4), (0, 7))], ValueError, r"\[0:4, 0:7\] of rank 0 does not lie"),
    "a negative start": ([((-1, 4), WHOLE)], ValueError, r"\[-1:4, 0:6\] of rank 0"),
    "a negative slice": ([(slice(-2, None), WHOLE)], ValueError, "indices from 0 on"),
    "a stop before the start": ([((3, 2), WHOLE)], ValueError, r"\[3:2, 0:6\]"),
    "a box of extremes": ([((-(2**63), 2**63 - 1), WHOLE)], ValueError, "does not lie"),
    "a huge stop": ([((0, HUGE), WHOLE)], ValueError, "64 bits"),
    "a huge slice": ([(slice(-HUGE, None), WHOLE)], ValueError, "64 bits"),
    "a fractional stop": ([((0, 4.0), WHOLE)], TypeError, "float"),
    "a slice's step": ([(slice(0, 4, 2), WHOLE)], ValueError, "step of 1, not 2"),
    "a slice backwards": ([(slice(None, None, -1), WHOLE)], ValueError, "step of 1, not -1"),
    "three numbers": ([((0, 4, 1), WHOLE)], TypeError, "slice or"),
    "an ellipsis": ([(..., WHOLE)], TypeError, "slice or"),
    "a negative rank of boxes": ({-1: (WHOLE, WHOLE)}, ValueError, "from 0 to 1048575"),
    "a huge rank of boxes": ({HUGE: (WHOLE, WHOLE)}, ValueError, "from 0 to 1048575"),
    "a rank's name": ({"a": (WHOLE, WHOLE)}, TypeError, "str"),
}


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_layout_is_refused_and_named(side, name):
    layout, kind, words = BAD[name]
    with pytest.raises(kind, match=rf"(?s)\b{side}\b.*{words}") as caught:
        dt.Reshard((4, 6), "int8", **{"source": GOOD, "target": GOOD, side: layout})
    assert type(caught.value) is kind
    assert "incompatible function arguments" not in str(caught.value)
    other = {"source": "target", "target": "source"}[side]
    assert other not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "kind", "words"),
    [
        ((4, -6), ValueError, "negative"),
        ((HUGE,), ValueError, "64 bits"),
        ((-HUGE,), ValueError, "64 bits"),
        ((2**62, 2), ValueError, "more elements"),
        ((1,) * 65, ValueError, "64 dimensions"),
        ((4, 6.0), TypeError, "float"),
        ("46", TypeError, "str"),
        (None, TypeError, "NoneType"),
    ],
)
def test_a_bad_shape_is_refused_and_neither_layout_is_blamed(shape, kind, words):
    with pytest.raises(kind, match=words) as caught:
        dt.Reshard(shape, "int8", source=GOOD, target=GOOD)
    assert type(caught.value) is kind
    assert "source" not in str(caught.value)
    assert "incompatible" not in str(caught.value)


def test_a_shape_is_an_int_or_ints_in_any_sequence():
    for shape in ((4, 6), [4, 6], np.array([4, 6]), (np.int64(4), np.int32(6)), iter([4, 6])):
        assert dt.Reshard(shape, "int8", source=GOOD, target=GOOD).shape == (4, 6)
    for shape in (4, np.int64(4), (4,), np.array([4])):
        assert dt.Reshard(shape, "int8", source=GOOD, target=GOOD).shape == (4,)
    assert Mesh(np.array([2, 3])).shape == (2, 3)
    assert dt.Reshard((), "int8", source=GOOD, target=GOOD).shape == ()


@pytest.mark.parametrize(
    ("shape", "ranks", "kind", "words"),
    [
        (10**9, None, ValueError, "more than 1048576 ranks"),
        ((2**40, 2**40), None, ValueError, "more than 1048576 ranks"),
        (HUGE, None, ValueError, "64 bits"),
        (2, [0, HUGE], ValueError, "64 bits"),
        (2, [0, -HUGE], ValueError, "64 bits"),
        (2, [0, 1.0], TypeError, "float"),
        (-2, None, ValueError, "negative"),
        ((-2, -2), None, ValueError, "negative"),
        (3, [0, 1], ValueError, r"3 different ranks, not \(0, 1\)"),
        (2, [1, 1], ValueError, r"2 different ranks, not \(1, 1\)"),
        (2, 5, TypeError, "iterable"),
        ("2", None, TypeError, "str"),
        (2.0, None, TypeError, "float"),
    ],
)
def test_a_bad_mesh_is_refused(shape, ranks, kind, words):
    with pytest.raises(kind, match=words):
        Mesh(shape, ranks)


def test_a_tensor_of_2_62_elements_is_planned():
    rows, columns = (PAIR, [Shard(0)]), (PAIR, [Shard(1)])
    plan = dt.Reshard((2**31, 2**31), "float64", source=rows, target=columns)
    assert plan.bytes(0, 1) == plan.bytes(1, 1) == 2**60 * 8
    assert plan.moved_bytes == 2**61 * 8
    assert str(2**61) not in str(plan.explain())
    assert f"{2**61 * 8:,}" in str(plan.explain())
    assert plan.explain()._repr_html_().count("<svg") == 2


@pytest.mark.parametrize("call", ["receives", "sends", "for_rank", "source_shapes", "target_boxes"])
def test_ranks_beyond_the_plan_have_nothing_and_others_are_refused(call):
    plan = dt.Reshard((4, 6), "int8", source=GOOD, target=GOOD)
    if call != "for_rank":
        assert getattr(plan, call)(2) == getattr(plan, call)(2**31 - 1) == []
    else:
        assert plan.for_rank(2).receives == plan.for_rank(2).target_shapes == []
    for rank in (-1, 2**31, HUGE, -HUGE):
        with pytest.raises(ValueError, match="not one of the plan's 2"):
            getattr(plan, call)(rank)
    getattr(plan, call)(1)
    for rank in (0.5, 1.0, None):  # also one that equals the last
        with pytest.raises(TypeError):
            getattr(plan, call)(rank)


def test_bytes_are_of_the_ranks_of_the_plan():
    plan = dt.Reshard((4, 6), "int8", source=GOOD, target=GOOD)
    for rank in (-1, 2, HUGE):
        for call in (plan.received_bytes, plan.sent_bytes, lambda r: plan.bytes(0, r)):
            with pytest.raises(ValueError, match="not one of the plan's 2"):
                call(rank)
        with pytest.raises(ValueError, match="not one of the plan's 2"):
            plan.bytes(rank, 0)
