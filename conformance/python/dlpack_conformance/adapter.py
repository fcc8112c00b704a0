"""What the kit has to know of a library: Python expressions, as its users write them.

    ADAPTER = Adapter(
        name="numpy",
        setup="import numpy as np",
        version="np.__version__",
        dtype="np.{name}",
        dtypes="bool int32 float32",
        array="np.array({values}, dtype={dtype})",
        take="np.from_dlpack({x})",
        values="{y}.tolist()",
    )

They are text because a reproduction shows them: it is a script of the library alone.
"""

import dataclasses

from .cases import DTYPES, LAYOUTS

# Views of a 3 x 4 array, by the name of a layout of cases.toml. Each is an expression of NumPy's
# kind, which most libraries share; {x} is the array.
VIEWS = {
    "transposed": "{x}.T",
    "sliced": "{x}[1:, 1:3]",
    "stepped": "{x}[:, ::2]",
    "reversed": "{x}[::-1, :]",
    "scalar": "{x}[1:2, 2:3].reshape(())",
    "of five dimensions": "{x}.reshape((1, 3, 1, 4, 1))",
}

# What may stand in braces in a field.
_VARIABLES = {
    "dtype": "name",
    "array": "values dtype",
    "ones": "size dtype",
    "read_only": "x",
    "take": "x",
    "values": "y",
    "view": "y",
    "write": "y",
    "on_stream": "stream",
    "work": "y",
}


@dataclasses.dataclass(frozen=True)
class Adapter:
    """Every text is an expression, except `setup` and `write`, which are statements.

    name      of the library: what the command line takes
    module    that is looked for to tell whether the library is installed; default: the name
    setup     imports of the library, and settings that it needs
    version   the library's version
    dtype     a type, of {name}; dtypes: the types in cases.toml that the library has
    array     a new array of {values}, nested lists, and {dtype}; None: the library gives none out
    ones      a new array of {size} float32 elements that are 1; default: by `array`
    views     of {x}, by layout: see VIEWS; a library without strides may copy
    arrays    further arrays whose export must have the values that the library sees, by name
    read_only    a read-only array of {x}; None: the library has no such arrays
    read_only_request    an argument of __dlpack__() that asks for the flag READ_ONLY
    other_byte_order    an array whose elements are in the other byte order
    unsupported    arrays that DLPack can't describe, by name
    take      a new array that shares the memory of {x}, an object with __dlpack__; None: the
              library takes none
    here      what the argument device= of `take` has to be for the device where the arrays are
    buffer    what gives buffers of {x}
    nulls     an Arrow array of three float32 elements, the middle one null
    take_buffer     a new array that shares the memory of {x}, an object with buffers of float32
    take_interface  the same of an object with __array_interface__
    take_arrow      the same of an object with __arrow_c_array__
    values    the elements of {y} as nested lists; None: rules about elements do not apply
    one_dimensional    whether arrays always have one dimension
    passes_on    "types", "devices": what the library takes of any kind, and only passes on
    view      a view of {y}, whose first dimension has at least two elements
    write     sets all elements of {y} to 7; None: arrays are immutable
    on_stream    a context manager in which the library works on the CUDA stream of the handle
              {stream}; None: its streams can't be chosen
    work      a new array, computed from {y} on the library's stream
    devices   what is different for arrays on other devices: maps "cuda" to a dict of fields
    device    where the arrays are; see on()
    """

    name: str
    setup: str
    module: str = ""
    version: str = "None"
    dtype: str = "{name}"
    dtypes: str = "float32"
    array: str | None = None
    ones: str | None = None
    views: dict = dataclasses.field(default_factory=lambda: dict(VIEWS))
    arrays: dict = dataclasses.field(default_factory=dict)
    read_only: str | None = None
    read_only_request: str | None = None
    other_byte_order: str | None = None
    unsupported: dict = dataclasses.field(default_factory=dict)
    take: str | None = None
    here: str | None = None
    buffer: str = "{x}"
    nulls: str | None = None
    take_buffer: str | None = None
    take_interface: str | None = None
    take_arrow: str | None = None
    values: str | None = None
    one_dimensional: bool = False
    passes_on: tuple = ()
    view: str | None = "{y}[1:]"
    write: str | None = None
    on_stream: str | None = None
    work: str | None = None
    devices: dict = dataclasses.field(default_factory=dict)
    device: str = "cpu"

    def check(self):
        """Raise LookupError if a field has a name or a {variable} that the kit does not have."""
        for names, known, what in (
            (self.types, DTYPES, "type"),
            (self.views, LAYOUTS, "layout"),
            (self.devices, ("cuda",), "device"),
        ):
            if unknown := set(names) - set(known):
                raise LookupError(f"the kit has no {what} {', '.join(sorted(unknown))}")
        for field, variables in _VARIABLES.items():
            try:
                (getattr(self, field) or "").format(**dict.fromkeys(variables.split(), ""))
            except (LookupError, ValueError) as error:
                raise LookupError(f"{field} has {error}: {getattr(self, field)!r}") from None

    def on(self, device):
        """The adapter for arrays on "cpu" or "cuda"; None if the library has no such arrays."""
        if device == "cpu":
            return self if self.array or self.take else None
        fields = self.devices.get(device)
        return fields and dataclasses.replace(self, device=device, **fields)

    @property
    def dlpack_device(self):
        """What __dlpack_device__() of such an array returns."""
        return {"cpu": (1, 0), "cuda": (2, 0)}[self.device]

    @property
    def types(self):
        return self.dtypes.split()

    def take_with(self, keywords):
        """The expression that takes x with keywords; None if `take` can't have some."""
        if not (self.take and "({x})" in self.take):
            return None
        return self.take.replace("({x})", f"(x, {keywords})")

    def dtype_of(self, name):
        return self.dtype.format(name=name)

    def array_of(self, values, dtype="float32"):
        return self.array.format(values=values, dtype=self.dtype_of(dtype))

    def ones_of(self, size):
        if self.ones:
            return self.ones.format(size=size, dtype=self.dtype_of("float32"))
        return self.array_of(f"[1] * {size}")
