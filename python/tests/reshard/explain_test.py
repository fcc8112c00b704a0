"""Reshard.explain(), and what a rank keeps of a plan: RankPlan."""

import pickle
import xml.etree.ElementTree as ET

import pytest
from layouts_for_tests import on_mesh

import dovetail as dt
from dovetail.reshard import Mesh, Piece, Replicate, Shard

SVG = "{http://www.w3.org/2000/svg}"


def rows_to_columns(ranks, shape=(4, 6)):
    mesh = Mesh(ranks)
    return dt.Reshard(shape, "int16", source=(mesh, [Shard(0)]), target=(mesh, [Shard(1)]))


def html_of(plan):
    return ET.fromstring(plan.explain()._repr_html_())


def test_the_text_says_what_each_rank_keeps_receives_and_sends():
    expected = """\
Reshard((4, 6), int16, 2 ranks): bytes
rank  keeps  receives   sends
----  -----  ---------  -------
   0     12  12 from 1  12 to 1
   1     12  12 from 0  12 to 0
24 bytes go from one rank to another, the least possible."""
    explanation = rows_to_columns(2).explain()
    assert str(explanation) == repr(explanation) == expected


def test_the_total_is_the_sum_of_the_rows_for_types_of_less_than_a_byte_too():
    # Three times five elements of four bits: each five take three bytes.
    plan = dt.Reshard((3, 5), "int4", source=(Mesh(3), [Shard(0)]), target=(Mesh(1), [Replicate()]))
    assert plan.received_bytes(0) == [3, 3, 3]
    assert plan.moved_bytes == plan.bytes(1, 0) + plan.bytes(2, 0) == 6


def test_ranks_that_do_nothing_are_told_so():
    layout = (Mesh(1, [1]), [Replicate()])
    lines = str(dt.Reshard(3, "int8", source=layout, target=layout).explain()).splitlines()
    assert [line.split() for line in lines[3:5]] == [
        ["0", "0", "nothing", "nothing"],
        ["1", "3", "nothing", "nothing"],
    ]
    assert lines[-1].startswith("0 bytes")


def test_a_large_plan_is_cut_short():
    plan = rows_to_columns(64, (1024, 1024))
    lines = str(plan.explain()).splitlines()
    assert len(lines) == 3 + 16 + 2
    assert lines[-2] == "... and 48 more ranks"
    row = "512 from 1, 512 from 2, 512 from 3, 512 from 4, 30,208 from 59 more"
    assert row in lines[3]
    assert max(map(len, lines)) < 200
    assert "no picture" in html_of(plan).find("p").text


def test_the_picture_has_the_boxes_of_both_sides():
    html = html_of(rows_to_columns(2))
    source, target = html.findall(f"figure/{SVG}svg")
    for picture, filled in ((source, 2), (target, 4)):
        rectangles = picture.findall(f"{SVG}rect")
        assert len(rectangles) == filled + 2
        assert sum(r.get("fill") != "none" for r in rectangles) == filled
        assert [text.text for text in picture.findall(f"{SVG}text")] == ["0", "1"]
    assert "from 1" in html.find("pre").text


@pytest.mark.parametrize(
    ("shape", "placement"),
    [
        ((), Replicate()),
        (0, Shard(0)),
        (5, Shard(0)),
        ((0, 0), Shard(1)),
        ((1, 10**12), Shard(1)),
        ((3, 4, 5, 6), Shard(2)),
        ((8,), Shard(0, split_factor=2)),
    ],
)
def test_tensors_of_all_shapes_have_a_picture(shape, placement):
    layout = (Mesh(3), [placement])
    plan = dt.Reshard(shape, "int8", source=layout, target=(Mesh(1), [Replicate()]))
    html = html_of(plan)
    assert len(html.findall(f"figure/{SVG}svg")) == 2
    for rectangle in html.iter(f"{SVG}rect"):
        assert float(rectangle.get("width")) >= 0 and float(rectangle.get("height")) >= 0


def test_a_plan_without_ranks_is_explained():
    plan = dt.Reshard((0, 3), "int8", source=[], target={})
    assert str(plan.explain()).endswith("0 bytes go from one rank to another, the least possible.")
    assert len(html_of(plan).findall(f"figure/{SVG}svg")) == 2


def test_text_is_escaped_in_a_notebook():
    class Hostile(dt.reshard.Reshard):
        def __repr__(self):
            return "<script>&"

    layout = (Mesh(1), [Replicate()])
    plan = Hostile(3, "int8", source=layout, target=layout)
    assert "<script>" not in plan.explain()._repr_html_()
    assert html_of(plan).find("pre").text.startswith("<script>&")


def test_a_rank_s_part_of_a_plan_can_be_pickled():
    plan = rows_to_columns(4, (8, 12))
    for rank in range(5):
        part = plan.for_rank(rank)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            copy = pickle.loads(pickle.dumps(part, protocol))
            assert vars(copy) == vars(part)
            assert all(type(piece) is Piece for piece in copy.receives + copy.sends)
        assert (part.rank, part.size, part.fingerprint) == (rank, 4, plan.fingerprint)
        assert part.source_shapes == plan.source_shapes(rank)
        assert part.target_shapes == plan.target_shapes(rank)
        assert sorted(part.receives) == sorted(plan.receives(rank))
        assert part.sends == plan.sends(rank)


def test_ranks_do_not_all_begin_with_the_same_peer():
    plan = rows_to_columns(4, (8, 12))
    for rank in range(4):
        sources = [piece.source for piece in plan.for_rank(rank).receives]
        assert sources == [(rank + i) % 4 for i in range(4)]


def test_a_pickled_part_grows_with_its_own_pieces_alone():
    # Each rank sends its rows to one rank, however many ranks there are.
    def pickled(ranks):
        source = (Mesh(ranks), [Shard(0)])
        target = (Mesh(ranks, [*range(1, ranks), 0]), [Shard(0)])
        plan = dt.Reshard((ranks * 4, 8), "int8", source=source, target=target)
        part = plan.for_rank(5)
        assert len(part.receives) == len(part.sends) == 1
        return len(pickle.dumps(part))

    assert pickled(1024) - pickled(64) < 64
    # As many pieces as ranks: 16 times as many take 16 times the bytes.
    few, many = (len(pickle.dumps(rows_to_columns(n, (n, n)).for_rank(5))) for n in (64, 1024))
    assert many < 20 * few
    assert many / (2 * 1024) < 100


# On paper: Llama 3.1 405B on 1,024 ranks. Attention, its output, the MLP, the embedding, a norm.
SHAPES_405B = [(18432, 16384), (16384, 16384), (53248, 16384), (128256, 16384), (16384,)]


@pytest.mark.parametrize("shape", SHAPES_405B)
def test_1024_ranks_of_a_405b_model_have_few_pieces_each(shape):
    last = len(shape) - 1
    sharded = (Mesh(1024), [Shard(0)])  # FSDP alone
    both = (Mesh((128, 8)), [Shard(0, split_factor=8), Shard(0)])  # with tensor parallelism
    served = (Mesh((64, 16)), [Replicate(), Shard(last)])
    for source in (sharded, both):
        plan = dt.Reshard(shape, "bfloat16", source=source, target=served)
        meaning = on_mesh(shape[:1], *source)  # the rows of each rank
        pieces = 0
        for rank in (0, 1, 500, 1023):
            receives, sends = plan.receives(rank), plan.sends(rank)
            assert len(receives) <= 1024 and len({p.start for p in receives}) == len(receives)
            assert sum(plan.received_bytes(rank)) == plan.target_shapes(rank)[0][0] * (
                2 if last == 0 else 2 * plan.target_shapes(rank)[0][1]
            )
            assert plan.source_shapes(rank)[0][0] == meaning[rank][0].size
            pieces += len(sends)
        # Each rank's rows go to 64 copies of at most 16 parts.
        assert pieces <= 4 * 64 * 16
