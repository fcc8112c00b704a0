"""How a Tensor prints: its values as PyTorch and NumPy print them, and its dtype where it matters.

    >>> import dovetail as dt
    >>> dt.tensor([[10, 0.3], [0.1, 2]])
    tensor([[10.0000,  0.3000],
            [ 0.1000,  2.0000]])

The rules are PyTorch's, seen from outside and tested against it (tests/repr_test.py): columns are
aligned; floats have four digits, or none where all are integers, or an exponent where their range
is wide; above 1000 elements only the edges are shown. Imported when the first tensor is printed.
"""

from math import ceil, isfinite

from dovetail import _core

_LINE_WIDTH = 80
_THRESHOLD = 1000  # more elements than these are summarised
_EDGE_ITEMS = 3
_PRECISION = 4
_DEFAULT_TYPES = {"float32", "int64", "bool", "complex64"}
_PREFIX = "tensor("


def format_tensor(tensor):
    """The text of repr(tensor) and str(tensor)."""
    suffixes = []
    if str(tensor.device) != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    values = _read_values(tensor) if tensor.size else []
    if values is None:
        suffixes = [f"shape={tensor.shape}", f"dtype={tensor.dtype!r}", f"device='{tensor.device}'"]
        return _append_suffixes(_PREFIX + "...", suffixes)
    if tensor.size == 0:
        text = "[]"
        if tensor.ndim != 1:
            suffixes.append(f"size={tensor.shape}")
        shows_type = tensor.dtype.name != "float32"
    else:
        text = _format_values(tensor, values)
        shows_type = tensor.dtype.name not in _DEFAULT_TYPES
    if shows_type:
        suffixes.append(f"dtype={tensor.dtype!r}")
    if tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _append_suffixes(_PREFIX + text, suffixes)


def format_with_spec(tensor, spec):
    """The text of format(tensor, spec): that of the number, where there is one."""
    if tensor.ndim == 0 or (spec and tensor.size == 1):
        return format(tensor.item(), spec)
    if not spec:
        return format_tensor(tensor)
    raise TypeError(
        f"the format {spec!r} is for one number, and the tensor has {tensor.size}; "
        "format the elements of tolist()"
    )


def _read_values(tensor):
    """The values to print, as nested lists; None where there are none to see."""
    dtype = tensor.dtype
    if dtype.lanes != 1 or dtype.name == "handle":
        return None
    edge = _EDGE_ITEMS if tensor.size > _THRESHOLD else _THRESHOLD
    try:
        return _core._edge_values(tensor.detach(), edge)
    except BufferError:
        pass
    try:  # memory that the host can't reach, of a device that copies
        host = _core.tensor(tensor.detach(), device="cpu")
    except (RuntimeError, BufferError):
        return None
    return _core._edge_values(host, edge)


def _format_values(tensor, values):
    flat = list(_flatten(values, tensor.ndim))
    if isinstance(flat[0], complex):
        real = _pick_format([v.real for v in flat])
        imag = _pick_format([v.imag for v in flat])
        width = real.width + imag.width + 1

        def format_one(v):
            imaginary = imag(v.imag).lstrip() + "j"
            sign = "" if imaginary[0] in "+-" else "+"
            return real(v.real) + sign + imaginary

    else:
        format_one = _pick_format(flat)
        width = format_one.width
    return _Layouter(tensor.shape, format_one, width).format(values, 0, len(_PREFIX))


def _flatten(values, ndim):
    if ndim == 0:
        yield values
    elif ndim == 1:
        yield from values
    else:
        for part in values:
            yield from _flatten(part, ndim - 1)


def _pick_format(values):
    if isinstance(values[0], float):
        return _FloatFormat(values)
    return _PlainFormat(values)


class _PlainFormat:
    """Integers and bools, right-aligned."""

    def __init__(self, values):
        self.width = max(len(str(v)) for v in values)

    def __call__(self, value):
        return str(value).rjust(self.width)


class _FloatFormat:
    """Floats, in the one way that suits all of them."""

    def __init__(self, values):
        self._spec, self._suffix = ".0f", "."
        self.width = 1
        seen = [v for v in values if v != 0 and isfinite(v)]
        if not seen:
            return
        smallest = min(abs(v) for v in seen)
        largest = max(abs(v) for v in seen)
        integers = all(v == ceil(v) for v in seen)
        wide = largest / smallest > 1000 or largest > 1e8
        if wide or (not integers and smallest < 1e-4):
            self._spec, self._suffix = f".{_PRECISION}e", ""
        elif not integers:
            self._spec, self._suffix = f".{_PRECISION}f", ""
        self.width = max(self.width, *(len(self._text(v)) for v in seen))

    def _text(self, value):
        return format(value, self._spec) + (self._suffix if isfinite(value) else "")

    def __call__(self, value):
        return self._text(value).rjust(self.width)


class _Layouter:
    """Puts brackets and line breaks around formatted values."""

    def __init__(self, shape, format_one, width):
        self._shape = shape
        self._format_one = format_one
        self._width = width

    def format(self, values, dim, indent):
        if dim == len(self._shape):
            return self._format_one(values)
        cut = len(values) < self._shape[dim]
        if dim == len(self._shape) - 1:
            return self._format_row(values, cut, indent)
        parts = [self.format(part, dim + 1, indent + 1) for part in values]
        if cut:
            parts.insert(_EDGE_ITEMS, "...")
        line_breaks = "\n" * (len(self._shape) - dim - 1)
        return "[" + ("," + line_breaks + " " * (indent + 1)).join(parts) + "]"

    def _format_row(self, values, cut, indent):
        items = [self._format_one(v) for v in values]
        if cut:
            items.insert(_EDGE_ITEMS, " ...")
        per_line = max(1, (_LINE_WIDTH - indent) // (self._width + 2))
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _append_suffixes(text, suffixes):
    """Closes the bracket after the suffixes, each on a new line where the last one is full."""
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > _LINE_WIDTH:
            text += ",\n" + " " * len(_PREFIX) + suffix
            last_line = len(_PREFIX) + len(suffix)
        else:
            text += ", " + suffix
            last_line += len(suffix) + 2
    return text + ")"
