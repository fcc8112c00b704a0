"""Two copies of Dovetail in one process, possibly of different versions, share no state."""

import pathlib
import signal
import subprocess

import pytest
from process import run_failing, run_python

FOLDER = pathlib.Path(__file__).parent
COPIES = ["first.so", "second.so", "bound.so", "named.so", "whole.so"]

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

# With RTLD_GLOBAL, as where both are a program's own libraries, both copies call the first one's
# functions, unless a copy binds its own or has other names.
PAIRS = [
    ("first.so", "second.so", "RTLD_LOCAL"),
    ("second.so", "first.so", "RTLD_LOCAL"),
    ("first.so", "bound.so", "RTLD_GLOBAL"),
    ("first.so", "named.so", "RTLD_GLOBAL"),
    ("named.so", "first.so", "RTLD_GLOBAL"),
    ("whole.so", "named.so", "RTLD_GLOBAL"),
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


def test_a_trace_and_no_copies_hold_in_the_copy_that_asks(run):
    run("""
first.Register(); second.Register()
for copy in (first, second):
    assert copy.CountEventsOfACopy() > 0
    assert copy.RefusesCopies()
""")


@pytest.mark.parametrize(
    "call", ["Register", "CountBackends", "CountEventsOfACopy", "RefusesCopies"]
)
def test_a_copy_that_would_call_anothers_functions_says_so_and_ends_the_program(call):
    load = LOAD.format(folder=FOLDER, first="first.so", second="second.so", mode="RTLD_GLOBAL")
    status, message = run_failing(f"{load}\nfirst.Register()\nsecond.{call}()")
    assert status == -signal.SIGABRT
    assert "Two copies of Dovetail (namespace v0)" in message
    assert message.index("second.so has one") < message.index("first.so.")
    assert "--@dovetail//:inline_namespace=NAME" in message


def test_a_copy_with_a_name_has_it_in_every_symbol():
    ours = symbols_of("named.so")
    assert "T" in {kind for kind, _ in ours}
    assert [s for _, s in ours if "dovetail::v0::" in s] == []
    assert any("dovetail::v0_other_product::" in s for _, s in ours)


def symbols_of(name):
    """The kind and the name of each symbol of ours."""
    symbols = subprocess.run(
        ["nm", "-C", FOLDER / name], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line.split(maxsplit=2)[-2:] for line in symbols if "dovetail::" in line]


# A symbol of kind "u" (STB_GNU_UNIQUE) is shared by the whole process, however objects are loaded.
@pytest.mark.parametrize("name", COPIES)
def test_no_symbol_is_one_for_the_whole_process(name):
    ours = symbols_of(name)
    assert "T" in {kind for kind, _ in ours}
    assert [symbol for kind, symbol in ours if kind == "u"] == []
