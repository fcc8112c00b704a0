"""Two copies of Dovetail in one process, possibly of different versions, share no state."""

import pathlib
import subprocess

import pytest
from process import run_python

FOLDER = pathlib.Path(__file__).parent
COPIES = ["first.so", "second.so", "bound.so"]

LOAD = """
import ctypes

def load(name, mode):
    copy = ctypes.CDLL(f"{folder}/{{name}}", mode=mode)
    for function in (copy.FreeABlock, copy.TakeABlock, copy.FreeSmallMemory, copy.TakeSmallMemory):
        function.restype = ctypes.c_void_p
    return copy

first = load("{first}", ctypes.{mode})
second = load("{second}", ctypes.{mode})
"""

# With RTLD_GLOBAL, both copies call the first one's functions, unless a copy binds its own.
PAIRS = [
    ("first.so", "second.so", "RTLD_LOCAL"),
    ("second.so", "first.so", "RTLD_LOCAL"),
    ("first.so", "bound.so", "RTLD_GLOBAL"),
]


@pytest.fixture(params=PAIRS, ids=lambda pair: f"{pair[0]} before {pair[1]}, {pair[2]}")
def run(request):
    first, second, mode = request.param

    def run_with_both(code):
        load = LOAD.format(folder=FOLDER, first=first, second=second, mode=mode)
        return run_python(load + code)

    return run_with_both


def test_a_backend_that_one_registers_is_none_of_the_others(run):
    run("""
assert not first.CanAllocate() and not second.CanAllocate()
first.Register()
assert first.CanAllocate() and not second.CanAllocate()
second.Register()
assert second.CanAllocate()
""")


@pytest.mark.parametrize(
    ("free", "take"), [("FreeABlock", "TakeABlock"), ("FreeSmallMemory", "TakeSmallMemory")]
)
def test_what_one_keeps_the_other_does_not_give_out(run, free, take):
    run(f"""
first.{free}()  # the first call creates the free list, and may release its block at once
block = first.{free}()
assert second.{take}() != block
assert first.{take}() == block
""")


def test_what_one_may_stop_the_other_does_not(run):
    run("""
first.BeginInterruptible()
assert first.IsInterruptible() and not second.IsInterruptible()
""")


# A symbol of kind "u" (STB_GNU_UNIQUE) is shared by the whole process, however objects are loaded.
@pytest.mark.parametrize("name", COPIES)
def test_no_symbol_is_one_for_the_whole_process(name):
    symbols = subprocess.run(
        ["nm", "-C", FOLDER / name], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    ours = [line.split(maxsplit=2)[-2:] for line in symbols if "dovetail::" in line]
    assert "T" in {kind for kind, _ in ours}
    assert [symbol for kind, symbol in ours if kind == "u"] == []
