"""Which file of a GPU vendor's library is in use, with libraries that stand in for HIP's."""

import pathlib

from process import run_python

import dovetail as dt
from dovetail import _core

FAKES = pathlib.Path("devices/rocm/testing").absolute()
HIP5 = FAKES / "hip5/libamdhip64.so.5"
TORCHS = FAKES / "torch/libamdhip64.so"

BEGIN = f"""
    import ctypes
    import dovetail as dt
    from dovetail import _core
    torchs = {str(TORCHS)!r}
"""


def test_backends_that_were_asked_too_early_find_a_driver_that_another_package_brings():
    printed = run_python(
        BEGIN
        + """
    early = dt.backends()["rocm"]
    assert isinstance(early, str) and dt.backends()["rocm"] == early, early
    ctypes.CDLL(torchs)  # as `import torch` does
    print(dt.backends()["rocm"], _core._library_files()["rocm"][0] == torchs)
    """,
        DOVETAIL_BACKENDS="cpu,rocm",
    )
    assert printed == "2 True\n"


def test_the_chosen_file_wins_over_a_loaded_one_and_both_are_told():
    printed = run_python(
        BEGIN
        + """
    ctypes.CDLL(torchs)
    from dovetail.__main__ import _devices_text
    print(_devices_text(dt.backends()["rocm"], _core._library_files()["rocm"]))
    """,
        DOVETAIL_ROCM_LIBRARY=str(HIP5),
    )
    assert printed == f"2 devices, {HIP5} (and not {TORCHS}, which is loaded too)\n"


def test_a_chosen_file_that_cannot_be_opened_is_told_with_the_variable():
    code = "import dovetail as dt; print(dt.backends()['rocm'])"
    printed = run_python(code, DOVETAIL_ROCM_LIBRARY="/no/such/libamdhip64.so")
    assert printed.startswith(
        "no ROCm runtime that can be used: DOVETAIL_ROCM_LIBRARY names a library that can't be "
        "opened: /no/such/libamdhip64.so: "
    )


def test_the_host_has_no_driver():
    assert list(_core._library_files()) == list(dt.backends())
    assert _core._library_files()["cpu"] == []
