"""Runs the Python on the pages of the site, and finds their C++ in programs that are compiled.

Each block runs alone, as a file of its own would: it imports what it needs and makes what it uses.
A block with prompts (>>>) shows what it prints. Each part of C++, between empty lines, is in one
program. A comment of HTML above a block says that it is another case:

    <!-- not run: needs a GPU -->      the reason; its names are checked all the same
    <!-- ends the process -->          a signal ends its process
"""

import ast
import builtins
import doctest
import gc
import importlib
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
from typing import NamedTuple

import pytest

ROOT = pathlib.Path.cwd()
PAGES = [ROOT / "README.md", ROOT / "docs/site/index.md"]
for _folder in ("docs", "docs/devices", "docs/distributed", "docs/guide", "docs/migrating"):
    PAGES += sorted((ROOT / _folder).glob("*.md"))
PROGRAMS = sorted(p for ext in ("cc", "cu", "h") for p in (ROOT / "examples").rglob(f"*.{ext}"))
BLOCK = re.compile(
    r"^(?:<!-- ([^\n]*) -->\n+)?```(python|cpp)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)

# Other tests run the code of these pages, or it is no program of one process.
ELSEWHERE = {
    "docs/adding-a-backend.md",
    "docs/adding-a-library.md",
    "docs/benchmarks.md",
    "docs/distributed/kv_cache.md",
    "docs/distributed/mpi.md",
    "docs/distributed/torch_and_jax.md",
    "docs/reshard.md",
}
# Where the blocks of a page run: beside a file that they load.
FOLDERS = {"docs/kernels.md": ROOT / "examples/kernel_library"}
# Imported once, before the blocks: each block runs in a fork of that process.
LIBRARIES = ("dovetail", "jax", "numpy", "onnxruntime", "paddle", "pandas", "pyarrow", "torch")


class Block(NamedTuple):
    page: str
    line: int
    comment: str
    code: str


def path_of(page: pathlib.Path) -> str:
    """Its path in the repository."""
    return str(page.relative_to(ROOT))


def blocks(page: pathlib.Path, language: str) -> list[Block]:
    text = page.read_text()
    return [
        Block(path_of(page), text.count("\n", 0, match.start(3)), match[1] or "", match[3])
        for match in BLOCK.finditer(text)
        if match[2] == language
    ]


def pages_with(language: str) -> list[pathlib.Path]:
    return [page for page in PAGES if path_of(page) not in ELSEWHERE and blocks(page, language)]


def is_run(block: Block) -> bool:
    return not block.comment.startswith("not run: ")


PYTHON = [block for page in pages_with("python") for block in blocks(page, "python")]
RUN = [block for block in PYTHON if is_run(block)]
FAULTS = [
    Block("fault.md", 0, "", "x = 1\n"),
    Block("fault.md", 2, "", "print(x)\n"),
    Block("fault.md", 5, "", ">>> 1 + 1\n3\n"),
]


def name_of(block: Block) -> str:
    return f"{block.page}:{block.line}"


def run(block: Block, output: int) -> None:
    """Runs the block in this process, a fork, which writes to the descriptor `output`."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(FOLDERS.get(block.page, ROOT))
    # What other processes get from a block is found there by its name.
    sys.modules["__main__"] = types.ModuleType("__main__")
    names = vars(sys.modules["__main__"])
    if ">>> " not in block.code:
        exec(compile("\n" * block.line + block.code, block.page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(
        block.code, names, block.page, block.page, block.line
    )
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=report.append)
    if runner.failures:
        sys.exit("".join(report))


def run_in_a_fork(block: Block) -> tuple[int, str]:
    """The exit code (negative: a signal) and the output."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = multiprocessing.get_context("fork").Process(
            target=run, args=(block, output.fileno())
        )
        process.start()
        process.join()
        output.seek(0)
        return process.exitcode, output.read()


@pytest.fixture(scope="module")
def results() -> dict[Block, tuple[int, str]]:
    """Of a process that has imported the libraries and used none, so that it can be forked."""
    program = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps(RUN + FAULTS),
        env={
            **os.environ,
            "PYTHONPATH": ":".join(filter(None, sys.path)),
            "ARROW_DEFAULT_MEMORY_POOL": "system",  # the others have threads
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(zip(RUN + FAULTS, json.loads(program.stdout), strict=True))


@pytest.mark.parametrize("block", RUN, ids=name_of)
def test_a_block_of_python_runs_alone_and_does_what_the_page_says(block, results):
    status, output = results[block]
    if block.comment == "ends the process":
        assert status < 0, f"{name_of(block)}: no signal ended it:\n{output}"
    else:
        assert status == 0, f"{name_of(block)}: {status}\n{output}"


@pytest.mark.parametrize("block", [block for block in PYTHON if not is_run(block)], ids=name_of)
def test_a_block_that_is_not_run_imports_or_makes_what_it_uses(block):
    nodes = list(ast.walk(ast.parse(block.code)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    known |= {*dir(builtins), "__file__"}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
    assert {node.id for node in names} <= known


def test_two_blocks_share_no_name_and_a_fault_is_found(results):
    (made, _), (used, missing), (prompted, other) = (results[block] for block in FAULTS)
    assert (made, used, prompted) == (0, 1, 1)
    assert 'File "fault.md", line 3' in missing
    assert "NameError" in missing
    assert "Got:\n    2" in other


@pytest.mark.parametrize("page", pages_with("cpp"), ids=path_of)
def test_the_cpp_on_a_page_is_part_of_a_program_that_is_compiled(page):
    programs = ["\n".join(line.strip() for line in p.read_text().splitlines()) for p in PROGRAMS]
    for block in filter(is_run, blocks(page, "cpp")):
        lines = "\n".join(line.strip() for line in block.code.strip().splitlines())
        for part in lines.split("\n\n"):
            assert any(part in program for program in programs), (
                f"{name_of(block)}: no program has\n{part}"
            )


def test_a_comment_above_a_block_is_one_that_the_test_knows():
    for page in PAGES:
        for block in blocks(page, "python") + blocks(page, "cpp"):
            assert re.fullmatch(r"|not run: .+|ends the process", block.comment), (
                f"{name_of(block)}: {block.comment}"
            )


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()  # a collection in a fork would copy the pages of every object
    json.dump([run_in_a_fork(Block(*block)) for block in json.load(sys.stdin)], sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # without the libraries' exit handlers, which can wait forever after forks
