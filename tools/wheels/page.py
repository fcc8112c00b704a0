"""Runs the Python of a page: page.py docs/start.md [PACKAGE…]

Each block runs alone, as //docs/site:pages_test runs it beside all libraries. Blocks that import
one of the PACKAGEs are left out if that is not installed. Prints how many ran, and fails if one did
not do what the page says.
"""

import contextlib
import doctest
import importlib.util
import io
import pathlib
import re
import sys

BLOCK = re.compile(r"^(<!-- not run: .*-->\n+)?```python\n((?:.*\n)*?)```$", re.MULTILINE)


def imports(code, package):
    return re.search(rf"^(>>> )?\s*(import|from) .*\b{package}\b", code, re.MULTILINE)


def run(code, name):
    """Runs a block. Returns whether it did what it shows."""
    names = {"__name__": "__main__"}
    if ">>> " not in code:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(code, name, "exec"), names)
        return True
    test = doctest.DocTestParser().get_doctest(code, names, name, name, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    return not runner.run(test).failed


def main():
    page = pathlib.Path(sys.argv[1])
    absent = [name for name in sys.argv[2:] if importlib.util.find_spec(name) is None]
    codes = [code for remark, code in BLOCK.findall(page.read_text(encoding="utf-8")) if not remark]
    able = [code for code in codes if not any(imports(code, package) for package in absent)]
    for code in able:
        if not run(code, page.name):
            raise SystemExit(f"page: {page.name} shows something else")
    if not able:
        raise SystemExit(f"page: {page.name} has no block that could run")
    without = f" of {len(codes)}, for want of {', '.join(absent)}" if len(able) < len(codes) else ""
    print(f"{len(able)} programs of {page.name}{without}")


if __name__ == "__main__":
    main()
