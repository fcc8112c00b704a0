"""Plants faults: writes a source anew so that each fault is chosen while the program runs."""

import pathlib
from collections.abc import Iterator

from places import Place

INCLUDES = ["<fcntl.h>", "<unistd.h>", "<cstdio>", "<cstdlib>", "<type_traits>"]


def pieces(numbered: dict[int, Place]) -> Iterator[tuple[tuple, int, int, bytes]]:
    """(order, start, end, text): the text that replaces the bytes from start to end.

    In this order they nest: at one offset, what ends comes before what begins, the inner of what
    ends before the outer, and the outer of what begins before the inner.
    """
    for number, place in numbered.items():
        size = place.end - place.start
        if place.fault == "Skip":
            opening, closing = f"if (!mutate::On({number})) ", ""
        elif place.fault in ("True", "False"):
            opening, closing = f"mutate::{place.fault}({number}, static_cast<bool>(", "))"
        else:
            opening, closing = f"mutate::{place.fault}({number}, ", ")"
        yield (place.end, 0, size, -number), place.end, place.end, closing.encode()
        yield (place.start, 1, -size, number), place.start, place.start, opening.encode()
        if place.operator:
            start, end = place.operator
            yield (start, 2, 0, 0), start, end, b","


def rewrite(source: bytes, numbered: dict[int, Place], state: pathlib.Path) -> bytes:
    """The source with all faults. `state` is the folder that says which is active."""
    made, position = [], 0
    for _, start, end, text in sorted(pieces(numbered)):
        made += [source[position:start], text]
        position = end
    made.append(source[position:])
    faults = pathlib.Path(__file__).with_name("faults.inc").read_text()
    head = "".join(f"#include {name}\n" for name in INCLUDES)
    head += f'#define DOVETAIL_MUTATE_STATE "{state}"\n'
    head += "namespace {\nnamespace mutate {\n" + faults + "}\n}\n"
    return head.encode() + b"#line 1\n" + b"".join(made)
