"""The table in docs/guide/frameworks.md is what explain() says of each pair of libraries."""

import pathlib
import re

import jax
import numpy as np
import onnxruntime
import paddle
import pyarrow
import pytest
import torch
import tvm_ffi

import dovetail as dt

PAGE = pathlib.Path("docs/guide/frameworks.md").read_text()
CLASSES = {
    "NumPy": np.ndarray,
    "PyTorch": torch.Tensor,
    "JAX": jax.Array,
    "Paddle": paddle.Tensor,
    "tvm-ffi": tvm_ffi.Tensor,
    "PyArrow": pyarrow.Array,
    "ONNX Runtime": onnxruntime.OrtValue,
}
WORDS = {True: "shared", False: "copied", None: "refused"}


def table() -> dict[tuple[str, str], str]:
    """The cells by (source, target), without links and footnotes."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")]
    targets = [cell.strip() for cell in lines[0].split("|")[2:-1]]
    cells = {}
    for line in lines[2 : 2 + len(CLASSES)]:
        source, *row = (
            re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).strip(" *¹²³")
            for cell in line.split("|")[1:-1]
        )
        cells.update({(source, target): cell for target, cell in zip(targets, row, strict=True)})
    return cells


def tensor_of(library: str):
    """Dense numbers at an address that every library accepts."""
    t = dt.zeros((32,), dtype=dt.float32)
    return dt.convert(t, CLASSES[library], copy=None)


@pytest.mark.parametrize("source", CLASSES)
def test_each_row_is_what_explain_says(source):
    x = tensor_of(source)
    take = dt.from_arrow if source == "PyArrow" else dt.from_dlpack
    for target, tensor_class in CLASSES.items():
        if target == source:
            continue
        said = WORDS[dt.explain(x, tensor_class).aliases]
        if said == "shared" and target == "NumPy" and take(x).readonly:
            said += ", read-only"
        assert table()[source, target] == said, target
