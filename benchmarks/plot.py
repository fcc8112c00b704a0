"""Draws rows of measure.py as an SVG: a bar for each library, scaled to the row's slowest."""

import html

_BARS, _LEFT, _RIGHT, _BAR, _GAP = 470, 300, 130, 16, 14
_CHARACTER = 6.3  # average width of a label's character
_COLOURS = {"dovetail": "#1b7f5c", "tvm-ffi": "#c9742b", "torch": "#b0413e", "numpy": "#4a6fa5"}
_OTHER = "#8a8a8a"


def svg(rows, title):
    """Return the picture as text. Shorter bars are faster. Each row has its own scale."""
    parts, y = [], 46
    left = max(_LEFT, round(_CHARACTER * max(len(row.work) for row in rows)) + 20)
    for row in rows:
        slowest = max(row.nanoseconds.values())
        height = len(row.nanoseconds) * _BAR
        parts.append(_text(left - 10, y + height / 2 + 4, row.work, anchor="end"))
        for name, time in row.nanoseconds.items():
            length = _BARS * time / slowest
            colour = _COLOURS.get(name, _OTHER)
            parts.append(
                f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{_BAR - 3}" '
                f'fill="{colour}"/>'
            )
            parts.append(_text(left + length + 6, y + 11, f"{name} {time:,.0f} ns", size=11))
            y += _BAR
        y += _GAP
    head = _text(10, 24, title, size=15)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + _BARS + _RIGHT}" height="{y + 4}" '
        f'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>'
        + head
        + "".join(parts)
        + "</svg>\n"
    )


def _text(x, y, text, anchor="start", size=12):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">'
        f"{html.escape(text)}</text>"
    )
