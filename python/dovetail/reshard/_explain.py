"""What a Reshard does: a table, and in a notebook a picture."""

import html

_MOST_RANKS = 16  # in the table
_MOST_PEERS = 4  # named in a row of it
_MOST_BOXES = 2048  # in a picture
_SIDE = 240  # CSS pixels of the longer side of a tensor
_THINNEST = 24  # of the shorter side
_COLOURS = 12  # of ranks; they repeat


class Explanation:
    """What goes where. Reshard.explain() makes it: print it, or let a notebook show it.

    plan  the Reshard
    """

    def __init__(self, plan):
        self.plan = plan

    def __str__(self):
        return "\n".join(_text(self.plan))

    __repr__ = __str__

    def _repr_html_(self):
        text = html.escape(str(self))
        return f"<div>{_picture(self.plan)}<pre>{text}</pre></div>"


def _text(plan):
    rows = [("rank", "keeps", "receives", "sends")]
    shown = range(min(plan.size, _MOST_RANKS))
    for rank in shown:
        received, sent = plan.received_bytes(rank), plan.sent_bytes(rank)
        kept, received[rank], sent[rank] = received[rank], 0, 0
        rows.append((str(rank), f"{kept:,}", _peers(received, "from"), _peers(sent, "to")))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    yield f"{plan!r}: bytes"
    for number, row in enumerate(rows):
        cells = [cell.rjust(widths[i]) if i < 2 else cell for i, cell in enumerate(row)]
        yield "  ".join([*cells[:2], cells[2].ljust(widths[2]), cells[3]]).rstrip()
        if number == 0:
            yield "  ".join("-" * width for width in widths)
    if plan.size > len(shown):
        yield f"... and {plan.size - len(shown)} more ranks"
    yield f"{plan.moved_bytes:,} bytes go from one rank to another, the least possible."


def _peers(counts, word):
    """Return "12 from 1, 12 from 2" for the bytes by rank."""
    peers = [(rank, count) for rank, count in enumerate(counts) if count]
    named = [f"{count:,} {word} {rank}" for rank, count in peers[:_MOST_PEERS]]
    if more := peers[_MOST_PEERS:]:
        named.append(f"{sum(count for _, count in more):,} {word} {len(more)} more")
    return ", ".join(named) or "nothing"


def _picture(plan):
    """Return the SVGs of source and target, coloured by the rank that has the elements before."""
    dims = _shown_dims(plan)
    # The boxes of each side: the ranges, the rank whose colour it has, the ranks that have it.
    source, target, pieces = {}, {}, {}
    for rank in range(plan.size):
        for box in plan.source_boxes(rank):
            source.setdefault(box, []).append(rank)
        for box in plan.target_boxes(rank):
            target.setdefault(box, []).append(rank)
        if len(source) + len(target) + len(pieces) > _MOST_BOXES:
            return f"<p>More than {_MOST_BOXES} boxes: no picture.</p>"
        for piece in plan.receives(rank):
            stops = (first + size for first, size in zip(piece.start, piece.shape, strict=True))
            pieces[tuple(zip(piece.start, stops, strict=True))] = piece.source
    coloured = [{box: ranks[0] for box, ranks in source.items()}, pieces]
    sides = zip(("source", "target"), coloured, (source, target), strict=True)
    return "".join(
        '<figure style="display:inline-block;margin:8px">'
        f"<figcaption>{_caption(plan, side, dims)}</figcaption>"
        f"{_svg(plan.shape, dims, colours, outlined)}</figure>"
        for side, colours, outlined in sides
    )


def _shown_dims(plan):
    """Return the two dimensions that are cut most often, the lower one first."""
    cuts = [set() for _ in plan.shape]
    for rank in range(plan.size):
        for box in plan.source_boxes(rank) + plan.target_boxes(rank):
            for dim, (start, _) in enumerate(box):
                cuts[dim].add(start)
    dims = sorted(range(len(cuts)), key=lambda dim: (-len(cuts[dim]), dim))[:2]
    return sorted(dims)


def _caption(plan, side, dims):
    which = {"source": "rank that has it", "target": "rank that it comes from"}[side]
    if len(plan.shape) > 2:
        which += f"; dimensions {dims[0]} and {dims[1]}"
    return f"{side}, coloured by the {which}"


def _svg(shape, dims, coloured, outlined):
    """Return a tensor with coloured boxes, and outlined ones with the ranks that have them."""
    height, width = [1, 1, *[max(shape[dim], 1) for dim in dims]][-2:]
    scale = _SIDE / max(height, width)
    across, down = max(width * scale, _THINNEST), max(height * scale, _THINNEST)

    def place(box):
        (top, bottom), (left, right) = [(0, 1), (0, 1), *[box[dim] for dim in dims]][-2:]
        x, y = left * across / width, top * down / height
        size = f'width="{(right - left) * across / width:.2f}" '
        size += f'height="{(bottom - top) * down / height:.2f}"'
        return x, y, f'<rect x="{x:.2f}" y="{y:.2f}" {size}'

    parts = []
    for box, rank in coloured.items():
        hue = rank % _COLOURS * 360 // _COLOURS
        title = f"<title>rank {rank}</title>"
        parts.append(f'{place(box)[2]} fill="hsl({hue},60%,75%)">{title}</rect>')
    for box, ranks in outlined.items():
        x, y, rectangle = place(box)
        label = ", ".join(map(str, ranks[:3])) + (", ..." if len(ranks) > 3 else "")
        parts.append(f'{rectangle} fill="none" stroke="black"/>')
        parts.append(f'<text x="{x + 3:.2f}" y="{y + 12:.2f}" font-size="10">{label}</text>')
    size = f'width="{across + 2:.0f}" height="{down + 2:.0f}"'
    view = f'viewBox="-1 -1 {across + 2:.2f} {down + 2:.2f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view}>{"".join(parts)}</svg>'
