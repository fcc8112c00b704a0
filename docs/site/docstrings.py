"""A Sphinx extension that reads this repository's docstrings, and the types in the type stubs.

The docstrings are plain text. A line of one or more names, two spaces and a description describes
parameters:

    device  where the tensor is to lie; None: where x is
    copy    True: always a copy; False: never one,
            ExchangeError if it would take one

Other indented lines are code.
"""

import ast
import pathlib
import re

from docutils import nodes
from sphinx import addnodes

import dovetail

PARAMETER = re.compile(r"^(\w+(?:, \w+)*)  +(\S.*)$")
# Sphinx would take a bare `type` for one of our attributes.
BUILTIN_TYPE = "builtins.type"
INDENTED = re.compile(r"^ {2,}\S")


def escaped(line: str) -> str:
    return re.sub(r"([\\*_`|])", r"\\\1", line)


def reformatted(lines: list[str]) -> list[str]:
    """The docstring as reStructuredText: parameters as a definition list, code as blocks."""
    result: list[str] = []
    state = "text"
    for line in lines:
        parameter = PARAMETER.match(line)
        if not line.strip():
            state = "text" if state != "code" else state
            result.append("")
        elif line.startswith(">>> ") or state == "example":
            if state == "text" and result and result[-1].strip():
                result.append("")
            result.append(line)
            state = "example"
        elif parameter:
            if state != "parameters":
                result.append("")
            result += [f"**{parameter[1]}**", "    " + escaped(parameter[2])]
            state = "parameters"
        elif INDENTED.match(line) and state == "parameters":
            result.append("    " + escaped(line.strip()))
        elif INDENTED.match(line):
            if state != "code":
                result += ["", ".. code-block:: python", ""]
            result.append("    " + line)
            state = "code"
        else:
            if state != "text":
                result.append("")
            result.append(escaped(line))
            state = "text"
    return [*result, ""]


def stub_signatures() -> dict[str, tuple[str, str]]:
    """The arguments and the result of each function that has one signature, by its full name."""
    found: dict[str, list[tuple[str, str]]] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef) and not is_property(node):
                found.setdefault(prefix + node.name, []).append(signature_of(node))

    for stub in sorted(pathlib.Path(dovetail.__file__).parent.glob("*.pyi")):
        module = "" if stub.stem in ("__init__", "_core") else f"{stub.stem}."
        visit(ast.parse(stub.read_text()).body, f"dovetail.{module}")
    return {name: several[0] for name, several in found.items() if len(several) == 1}


def is_property(function: ast.FunctionDef) -> bool:
    return any(
        ast.unparse(d) in ("property", f"{function.name}.setter") for d in function.decorator_list
    )


def signature_of(function: ast.FunctionDef) -> tuple[str, str]:
    arguments = function.args
    for positional in (arguments.posonlyargs, arguments.args):
        if positional and positional[0].arg in ("self", "cls"):
            del positional[0]
    result = ast.unparse(function.returns) if function.returns else ""
    words = [
        (r"\b(_t|_core|builtins)\.", ""),
        (r"\b_Report\b", "dovetail._explain.Report"),
        (r"\b_Trace\b", "dovetail._trace.Trace"),
        (r"\b_KernelLibrary\b", "dovetail._kernels.KernelLibrary"),
        (r"\b_Sharding\b", "Any"),
        (r"\b_Reshard\b", "dovetail.reshard.Reshard"),
        (r"\b_Explanation\b", "dovetail.reshard._explain.Explanation"),
        (r"\b_(Description|Layout|Pair)\b", r"dovetail.distributed.\1"),
        (r"(?<=[:|] )type\b", BUILTIN_TYPE),
    ]
    texts = [f"({ast.unparse(arguments)})", result]
    for pattern, replacement in words:
        texts = [re.sub(pattern, replacement, text) for text in texts]
    return texts[0], texts[1]


def setup(app):
    signatures = stub_signatures()

    def typed(app, what, name, obj, options, signature, result):
        return signatures.get(name.replace("dovetail._core.", "dovetail."))

    def readable(app, what, name, obj, options, lines):
        lines[:] = reformatted(lines)

    def plain_type(app, doctree):
        for reference in list(doctree.findall(addnodes.pending_xref)):
            if reference["reftarget"] == BUILTIN_TYPE:
                reference.replace_self(nodes.Text("type"))

    app.connect("autodoc-process-signature", typed)
    app.connect("doctree-read", plain_type)
    app.connect("autodoc-process-docstring", readable)
    return {"parallel_read_safe": True}
