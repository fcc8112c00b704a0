"""The DLPack conformance kit has become a package of its own, dlpack_conformance.

`python -m dovetail conformance` and `import dovetail.conformance` are the installed kit. Without it
they say where to get it: the command exits with 2, the import raises ImportError.
"""

import importlib
import importlib.util
import runpy
import sys

_WHERE = (
    "The DLPack conformance kit is the package dlpack_conformance, which is not installed: in "
    "Dovetail's repository `./bazelw build //conformance:wheel` makes a wheel for pip "
    "(conformance/README.md)"
)

_installed = importlib.util.find_spec("dlpack_conformance") is not None

if __name__ == "__main__":
    if not _installed:
        print(_WHERE, file=sys.stderr)
        sys.exit(2)
    runpy.run_module("dlpack_conformance", run_name="__main__", alter_sys=True)
elif not _installed:
    raise ImportError(_WHERE, name="dlpack_conformance")
else:
    sys.modules[__name__] = importlib.import_module("dlpack_conformance")
