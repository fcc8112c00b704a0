"""The arrays that each library gives to each other one."""

from typing import NamedTuple

from dlpack_conformance.exports import VALUES


class Input(NamedTuple):
    """An array: its elements as nested lists, and how a library makes it of others.

    view    "" for a new array of the elements; "read_only"; or a layout of adapter.VIEWS, of VALUES
    """

    dtype: str
    elements: object
    view: str = ""

    def expressions(self, adapter):
        """Expressions that make it, each of the one before, which is x. None: the library can't."""
        flat = adapter.one_dimensional
        if adapter.array is None or self.dtype not in adapter.dtypes.split():
            return None
        if flat and not (isinstance(self.elements, list) and self.view in ("", "read_only")):
            return None
        given = VALUES if self.view else self.elements
        made = [adapter.array_of(_flat(given) if flat else given, self.dtype)]
        if self.view:
            view = {**adapter.views, "read_only": adapter.read_only}.get(self.view)
            if view is None:
                return None
            made.append(view.format(x="x"))
        return made

    @property
    def has_elements(self):
        return self.elements != [[], []]

    def elements_of(self, adapter):
        """The elements of the array that this library makes."""
        return _flat(self.elements) if adapter.one_dimensional else self.elements


def _flat(elements):
    return [e for row in elements for e in (row if isinstance(row, list) else [row])]


INPUTS = {
    "dense": Input("float32", VALUES),
    "transposed": Input(
        "float32", [list(column) for column in zip(*VALUES, strict=True)], "transposed"
    ),
    "reversed": Input("float32", VALUES[::-1], "reversed"),
    "read-only": Input("float32", VALUES, "read_only"),
    "scalar": Input("float32", 5),
    "empty": Input("float32", [[], []]),
    "bool": Input("bool", [True, False, True]),
    "bfloat16": Input("bfloat16", [1, 2]),
    "complex64": Input("complex64", [1 + 2j, 3 - 4j]),
}
