"""Runs the Python of a page with the packages that are installed: page.py docs/start.md

Each block runs alone, as //docs/site:pages_test runs it beside all libraries. Blocks that import a
package that is not here are left out. Prints how many ran, and fails if one did not do what the
page says.
"""

import contextlib
import doctest
import importlib.util
import io
import pathlib
import re
import sys

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMPORT = re.compile(r"^(?:>>> )?(?:import|from) ([^#\n]+)", re.MULTILINE)


def missing(code):
    """The packages that a block imports and that are not installed."""
    lines = [found.partition(" import ")[0].split(",") for found in IMPORT.findall(code)]
    names = {name.split()[0].partition(".")[0] for line in lines for name in line}
    return sorted(name for name in names if importlib.util.find_spec(name) is None)


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
    ran, absent = 0, set()
    for code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if lacking := missing(code):
            absent.update(lacking)
        elif run(code, page.name):
            ran += 1
        else:
            raise SystemExit(f"page: {page.name} shows something else")
    if not ran:
        raise SystemExit(f"page: {page.name} has no block that could run")
    without = f", without those of {', '.join(sorted(absent))}" if absent else ""
    print(f"{ran} programs of {page.name}{without}")


if __name__ == "__main__":
    main()
