"""Whether a type checker knows the type of every public name of the Python package."""

import json
import os
import pathlib
import subprocess
from collections.abc import Iterator

# Programs, which nobody imports.
PROGRAMS = ("dovetail.__main__.", "dovetail.bench.", "dovetail.doctor.")


def unknown_types(workspace: pathlib.Path, tools: pathlib.Path) -> Iterator[str]:
    """One line for each public name that `pyright --verifytypes` has no whole type for."""
    command = [str(tools / "basedpyright"), "--verifytypes", "dovetail"]
    result = subprocess.run(
        [*command, "--ignoreexternal", "--outputjson"],
        env={**os.environ, "PYTHONPATH": str(workspace / "python")},
        stdout=subprocess.PIPE,
        text=True,
    )
    symbols = json.loads(result.stdout)["typeCompleteness"]["symbols"]
    if not any(symbol["name"] == "dovetail._core.Tensor.numpy" for symbol in symbols):
        yield "pyright did not find the package"
    for symbol in symbols:
        known = symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"]
        if not known and not symbol["name"].startswith(PROGRAMS):
            why = "; ".join(found["message"] for found in symbol["diagnostics"])
            yield f"{symbol['name']}: {why}"
