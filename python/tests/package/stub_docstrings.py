"""Writes the docstrings of the extension module into its stubs, where editors show them.

    ./bazelw run //python/tests/package:stub_docstrings       # after a change of a docstring in C++

The stub says the types and the module the words. A function with overloads has its docstring on the
first of them.
"""

import ast
import inspect
import os
import pathlib
import re
import textwrap

from dovetail import _core

STUB = "python/dovetail/_core.pyi"


def docstring_of(owner, name):
    """The words of the module; None where the object has none of its own, as slots have."""
    found = inspect.getattr_static(owner, name, None)
    if found is None or isinstance(found, type(object.__init__)):  # a slot: "Return len(self)."
        return None
    return words(name, getattr(owner, name))


def words(name, described):
    """The docstring without the signatures that nanobind begins it with; None without words."""
    text = re.sub(
        rf"\A(\s*{name}\(.*\)( -> .*)?$)+", "", inspect.getdoc(described) or "", flags=re.M
    )
    return inspect.cleandoc(text) or None


def literal(text, indent):
    """The docstring as source, which begins at `indent`."""
    text = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" not in text:
        return f'"""{text}"""'
    return f'"""{textwrap.indent(text, " " * indent).lstrip()}\n{" " * indent}"""'


def is_setter(node):
    return any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in node.decorator_list)


def edits(body, owner):
    """Yields a function or class of the stub with its docstring."""
    seen = set()
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = getattr(owner, node.name, None)
            if inner is not None:
                yield node, words(node.name, inner)
                yield from edits(node.body, inner)
        elif isinstance(node, ast.FunctionDef) and node.name not in seen and not is_setter(node):
            seen.add(node.name)
            yield node, docstring_of(owner, node.name)


def start_of(node):
    return (getattr(node, "decorator_list", None) or [node])[0].lineno - 1


def with_docstrings(stub):
    lines = stub.splitlines()
    for node, text in reversed([*edits(ast.parse(stub).body, _core)]):
        first = node.body[0]
        if not text:
            continue
        new = (" " * (node.col_offset + 4) + literal(text, node.col_offset + 4)).split("\n")
        if not isinstance(first, ast.Expr):  # a class without a docstring yet
            lines[start_of(first) : start_of(first)] = [*new, ""]
            continue
        # In the place of "...", which is on the line of the "def", or of the docstring.
        before = lines[first.lineno - 1][: first.col_offset].rstrip()
        after = lines[first.end_lineno - 1][first.end_col_offset :]
        lines[first.lineno - 1 : first.end_lineno] = [before + after, *new] if before else new
    return "\n".join(lines) + "\n"


def main():
    path = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], STUB)
    path.write_text(with_docstrings(path.read_text()))


if __name__ == "__main__":
    main()
