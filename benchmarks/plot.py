"""Draws rows of measure.py with matplotlib: a bar for each library, scaled to the row's slowest."""

import io
import pathlib

import matplotlib
from matplotlib.figure import Figure

_COLOURS = {"dovetail": "#1b7f5c", "tvm-ffi": "#c9742b", "torch": "#b0413e", "numpy": "#4a6fa5"}
_OTHER = "#8a8a8a"
_GAP = 0.8  # between rows, in bars
_BAR, _CHARACTER, _BARS = 0.19, 0.075, 6.8  # inches: a bar's height, a label's character, all bars

# Text stays text, and the same rows make the same file.
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "dovetail", "font.size": 9}


def save(rows, title, path: pathlib.Path):
    """Write the picture as SVG. Shorter bars are faster. Each row has its own scale."""
    picture = io.StringIO()
    with matplotlib.rc_context(_STYLE):
        figure = _figure(rows, title)
        figure.savefig(picture, format="svg", metadata={"Date": None, "Creator": None})
    # One line for each path, without white space at the ends of lines.
    path.write_text(picture.getvalue().replace(" \n", " "))


def _figure(rows, title):
    y, middles = 0.0, []
    bars, lengths, colours, labels = [], [], [], []
    for row in rows:
        slowest = max(row.nanoseconds.values())
        middles.append(y + (len(row.nanoseconds) - 1) / 2)
        for name, time in row.nanoseconds.items():
            bars.append(y)
            lengths.append(time / slowest)
            colours.append(_COLOURS.get(name, _OTHER))
            labels.append(f"{name} {time:,.0f} ns")
            y += 1
        y += _GAP
    width = _BARS + _CHARACTER * max(len(row.work) for row in rows)
    figure = Figure(figsize=(width, _BAR * y + 0.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.2)  # for fonts that are wider than matplotlib's
    axes = figure.subplots()
    axes.bar_label(axes.barh(bars, lengths, height=0.85, color=colours), labels, padding=4)
    axes.set_yticks(middles, [row.work for row in rows])
    axes.set_xticks([])
    axes.set_xlim(0, 1.35)  # room for the longest bar's label
    axes.set_ylim(y - _GAP, -1)  # the first row is on top
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure
