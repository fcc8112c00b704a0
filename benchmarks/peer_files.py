"""Libraries of the user's own as further columns of a Python benchmark.

    made = report.parser(__doc__)
    peer_files.add_flag(made, "from_dlpack")     # --peer=FILE.py, which has at least this function
    for peer in made.parse_args().peer: ...
    peer_files.add(row, peer, lambda: lambda: peer.from_dlpack(array))

docs/benchmarks.md has an example of such a file.
"""

import argparse
import importlib.util
import sys

import report


def add_flag(parser, *required):
    """Add --peer to a parser. A file without a required function is refused."""

    def load(text):
        return _load(text, required)

    parser.add_argument(
        "--peer", metavar="FILE.py", type=load, action="append", default=[],
        help=f"a further column: a file with {', '.join(required)} (docs/benchmarks.md)",
    )  # fmt: skip


def _load(text, required):
    path = report.path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{path} is not a file")
    spec = importlib.util.spec_from_file_location(f"peer_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.name = path.stem
    if missing := [name for name in required if not hasattr(module, name)]:
        raise argparse.ArgumentTypeError(f"{path} has no {', '.join(missing)}")
    return module


def add(row, peer, make):
    """Give the row the peer's column, the function that make() returns.

    If either fails, reports that, and leaves the column out.
    """
    try:
        function = make()
        function()
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0]
        print(f"{row.work}: without {peer.name}: {type(error).__name__}: {reason}", file=sys.stderr)
    else:
        row.functions[peer.name] = function
