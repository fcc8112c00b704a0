"""The program in docs/start.md is the demo, and the demo does what it says."""

import pathlib
import subprocess
import sys

DEMO = pathlib.Path("examples/demo.py")


def test_the_page_has_the_program():
    _, _, program = DEMO.read_text().partition('"""\n\n')
    assert f"```python\n{program}```" in pathlib.Path("docs/start.md").read_text()


def test_every_library_has_the_same_memory():
    result = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    assert {"numpy", "torch", "jax", "pyarrow"} < {name for name, _ in lines}
    assert {rest for _, rest in lines} == {"True [7.0, 10.0, 20.0, 30.0, 40.0, 50.0]"}
