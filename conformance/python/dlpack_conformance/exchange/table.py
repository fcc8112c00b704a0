"""The table itself: where it is found, its versions, and that it has all functions."""

from ..checks import check
from ..exports import make
from ..script import NotApplicableError
from ..tables import ATTRIBUTE, FUNCTIONS, NAME, find_table


@check("exchange.capsule")
def capsule(s):
    make(s)
    if not hasattr(type(s["x"]), ATTRIBUTE):
        raise NotApplicableError("the type has no table")
    s.run(
        "name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)"
        f'(("PyCapsule_GetName", ctypes.pythonapi))(type(x).{ATTRIBUTE})'
    )
    s.expect(f"name == b'{NAME}'", "the capsule is named {name}")
    find_table(s)
    s.run("first = table; gc.collect()")
    find_table(s)
    s.expect("table == first", "the table is at {first:#x} and then at {table:#x}")


@check("exchange.version")
def version(s):
    make(s)
    find_table(s)
    s.run("versions, place = [], table")
    s.run(
        "while place and len(versions) < 16:\n"
        "    *version, place = struct.unpack('=IIQ', ctypes.string_at(place, 16))\n"
        "    versions.append(tuple(version))"
    )
    s.expect("versions[0][0] == 1", "the table says version {versions[0]}")
    s.expect("not place", "prev_api never ends: {versions}")
    s.expect(
        "versions == sorted(set(versions), reverse=True)", "prev_api leads to versions {versions}"
    )


@check("exchange.functions")
def functions(s):
    make(s)
    find_table(s)
    s.run("functions = struct.unpack('=5Q', ctypes.string_at(table + 16, 40))")
    s.run(
        f"null = [name for name, address in zip({FUNCTIONS}, functions) "
        "if not address and name != 'borrow']"
    )
    s.expect("not null", "NULL: {null}")
