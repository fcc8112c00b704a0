"""Runs the example of docs/reshard.md, and compares the table that it shows."""

import os
import pathlib
import re
import subprocess
import sys

import dovetail as dt
from dovetail.reshard import Mesh, Shard

PAGE = pathlib.Path("docs/reshard.md").read_text()


def section(title, language):
    text = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_two_trainers_give_three_processes_their_columns(tmp_path):
    program = section("Start", "python")[0]
    file = tmp_path / "this_file.py"
    file.write_text(program)
    result = subprocess.run(
        [sys.executable, file],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (result.returncode, result.stderr) == (0, "")
    for rank in (2, 3, 4):
        assert f"rank {rank} has (1000, 200)" in result.stdout
    table = section("What a plan says", "")[0]
    assert table in result.stdout


def test_the_table_of_layouts_has_layouts():
    code = re.findall(r"^\| .* \| `([^`]*)`", PAGE.split("## Layouts")[1], re.MULTILINE)
    mesh, boxes = code[0], code[3]
    names = {"Mesh": Mesh, "Shard": Shard, "Replicate": dt.reshard.Replicate}
    layout = eval(mesh, names)
    assert dt.Reshard((8, 8), "int8", source=layout, target=layout).size == 8
    layout = eval(boxes, names)
    plan = dt.Reshard((7, 9), "int8", source=layout, target=layout)
    assert plan.source_shapes(2) == [(4, 4), (4, 5)]
