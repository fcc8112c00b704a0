"""The results as a picture: a bar for this machine, a mark for each published one."""

from . import run

_OURS, _MARKS = "#1b7f5c", "osD^v"
_ROW = 0.24  # inches


def why_not():
    """Why no picture can be drawn; "" if one can."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        return f"a picture takes matplotlib ({error}): pip install matplotlib"
    return ""


def save(results, processor, path):
    """Write the picture. The name's suffix is its format: .svg, .png, .pdf."""
    import matplotlib
    from matplotlib.figure import Figure

    shown = [one for one in results if one.ratio is not None]
    with matplotlib.rc_context({"svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, _ROW * len(shown) + 1.4), layout="constrained")
        axes = figure.subplots()
        axes.barh(
            range(len(shown)), [one.ratio for one in shown], color=_OURS, height=0.7,
            label=f"this machine ({processor})",
        )  # fmt: skip
        for mark, name in zip(_MARKS, run.machines(shown), strict=False):
            places = [place for place, one in enumerate(shown) if name in one.published]
            ratios = [shown[place].published[name] for place in places]
            axes.plot(ratios, places, mark, color="#222222", markersize=4, label=name, alpha=0.7)
        axes.set_yticks(range(len(shown)), [f"{one.work} / {one.beside}" for one in shown])
        axes.invert_yaxis()
        axes.axvline(1, color="#888888", linewidth=1)
        axes.set_xlabel("Dovetail's time / the other library's: left of 1, Dovetail is faster")
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside upper left", ncols=3, frameon=False)
        figure.savefig(path)
