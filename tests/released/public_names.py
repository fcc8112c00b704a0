"""The public names of this tree: of the Python package, and the C++ headers that the pages name.

    ./bazelw run //tests/released:renew      # before a release: writes them to names.txt

A name is what a module's __all__ has, or a public attribute of a class that `dovetail` or
`dovetail.ipc` has.
"""

import ast
import os
import pathlib
import re

import source_version

import dovetail

HEADERS = pathlib.Path("tests/released/headers")
OPENING = "# The public names of {version}. ./bazelw run //tests/released:renew writes this file.\n"


def _exported(file: pathlib.Path) -> list[str]:
    """The names of the literal __all__ of a module, which need not be importable here."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "__all__":
            return ast.literal_eval(node.value) if isinstance(node.value, ast.List) else []
    return []


def _of_class(name: str, value: object) -> set[str]:
    if not isinstance(value, type):
        return set()
    return {f"{name}.{member}" for member in dir(value) if not member.startswith("_")}


def python_names() -> set[str]:
    names = {f"dovetail.{name}" for name in dovetail.__all__}
    package = pathlib.Path(dovetail.__file__).parent
    for file in package.rglob("*.py"):
        module = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        if not re.search(r"\._", module):
            names |= {f"{module}.{name}" for name in _exported(file)}
    for module, exported in ((dovetail, dovetail.__all__), (dovetail.ipc, dovetail.ipc.__all__)):
        for name in exported:
            names |= _of_class(f"{module.__name__}.{name}", getattr(module, name))
    return names


def headers() -> set[str]:
    return {str(file.relative_to(HEADERS)) for file in HEADERS.rglob("*.h")}


def headers_on_pages() -> set[str]:
    pages = [pathlib.Path("README.md"), *pathlib.Path("docs").rglob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    return set(re.findall(r"\bdovetail/[a-z0-9_/]+\.h\b", text))


def main() -> None:
    names = sorted(python_names() | headers_on_pages())
    text = OPENING.format(version=source_version.read()) + "".join(f"{name}\n" for name in names)
    target = pathlib.Path(os.environ["BUILD_WORKSPACE_DIRECTORY"], "tests/released/names.txt")
    target.write_text(text, encoding="utf-8")
    print(f"{len(names)} names: {target}")


if __name__ == "__main__":
    main()
