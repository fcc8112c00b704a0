"""A tensor in a notebook: its text and, where its elements make one, a small picture.

A tensor of two dimensions is a heat map; one of uint8 with 3 or 4 channels in the last dimension is
an image. Only the elements that are shown leave a GPU.
"""

import html
import math

from dovetail import _core

_LARGEST = 256  # pixels of a side; larger tensors show every n-th element
_FEWEST = 16  # pixels of a side that stay, even where that changes the proportions
_SMALLEST = 8  # elements; fewer are read more easily as numbers
_SIDE = 256  # CSS pixels of the longer side, if the tensor is smaller

_THINNEST = 16  # CSS pixels of a side

# The colours of a heat map, from low to high; those between are interpolated. The last is of NaN.
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
_NAN_COLOUR = (160, 160, 160)
_NAN = 255  # its number


def print_pretty(tensor, printer):
    """Print the repr with all lines below its first, in whatever IPython prints around it."""
    column = printer.output_width + printer.buffer_width
    with printer.group(column - printer.indentation):
        for number, line in enumerate(repr(tensor).split("\n")):
            if number:
                printer.break_()
            printer.text(line)


def to_html(tensor):
    """Return the tensor as HTML; None, for its plain text, if it has no picture."""
    picture = _picture(tensor)
    if picture is None:
        return None
    (png, width, height), caption = picture
    scale = max(_SIDE / max(width, height), 1)
    size = [max(round(side * scale), _THINNEST) for side in (width, height)]
    from base64 import b64encode

    return (
        f'<div><img src="data:image/png;base64,{b64encode(png).decode()}" '
        f'style="width:{size[0]}px;height:{size[1]}px;'
        f'image-rendering:pixelated" alt="{html.escape(caption, quote=True)}">'
        f"<details{'' if tensor.ndim == 3 else ' open'}><summary>{html.escape(caption)}</summary>"
        f"<pre>{html.escape(repr(tensor))}</pre></details></div>"
    )


def _picture(tensor):
    """Return ((PNG, width, height), caption), or None."""
    is_image = tensor.ndim == 3 and tensor.dtype == _core.uint8 and tensor.shape[2] in (3, 4)
    if tensor.size < _SMALLEST or not (is_image or tensor.ndim == 2):
        return None
    try:
        shown, step = _sampled(tensor)
        picture, said = _image(shown) if is_image else _heat_map(shown)
    except (_core.ExchangeError, TypeError, ValueError):
        return None  # elements that can't be sampled, or are no numbers
    shape = " × ".join(map(str, tensor.shape))
    caption = f"{tensor.dtype} {shape} on {tensor.device}{said}"
    if step != (1, 1):
        caption += f"; {_every(step[0], 'row')} and {_every(step[1], 'column')}"
    return picture, caption


def _sampled(tensor):
    """Return the elements to show, on the CPU, and the distance between them."""
    sides = tensor.shape[:2]
    common = math.ceil(max(sides) / _LARGEST)
    step = tuple(min(common, max(math.ceil(side / _LARGEST), side // _FEWEST)) for side in sides)
    if step != (1, 1):
        tensor = tensor[:: step[0], :: step[1]]
    return tensor.detach().to("cpu"), step


def _image(tensor):
    height, width, channels = tensor.shape
    colour = {3: 2, 4: 6}[channels]
    return (_png(tensor.tobytes(), width, height, channels, colour), width, height), ""


def _heat_map(tensor):
    height, width = tensor.shape
    values = tensor.to(_core.float64).reshape(-1).tolist()
    finite = [value for value in values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 0.0)
    scale = (_NAN - 1) / (high - low) if 0 < high - low < math.inf else 0.0
    pixels = bytes(_pixel(value, low, high, scale) for value in values)
    said = f", {low:.4g} to {high:.4g}"
    return (_png(pixels, width, height, 1, 3, _palette()), width, height), said


def _pixel(value, low, high, scale):
    if value != value:
        return _NAN
    return int((min(max(value, low), high) - low) * scale)


def _palette():
    last = len(_COLOURS) - 1
    colours = []
    for number in range(_NAN):
        place = number * last / (_NAN - 1)
        left = min(int(place), last - 1)
        part = place - left
        pairs = zip(_COLOURS[left], _COLOURS[left + 1], strict=True)
        colours.append([round(a + (b - a) * part) for a, b in pairs])
    return bytes(channel for colour in [*colours, _NAN_COLOUR] for channel in colour)


def _png(pixels, width, height, channels, colour, palette=b""):
    """Return a PNG with 8 bits per channel. `colour` is the format's number of the colour type."""
    import struct
    import zlib

    def chunk(name, data):
        checksum = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)

    row = width * channels
    lines = b"".join(b"\0" + pixels[start : start + row] for start in range(0, height * row, row))
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
        + (chunk(b"PLTE", palette) if palette else b"")
        + chunk(b"IDAT", zlib.compress(lines, 6))
        + chunk(b"IEND", b"")
    )


def _every(number, name):
    if number == 1:
        return f"every {name}"
    endings = {1: "st", 2: "nd", 3: "rd"}
    ending = "th" if 10 <= number % 100 <= 20 else endings.get(number % 10, "th")
    return f"every {number}{ending} {name}"
