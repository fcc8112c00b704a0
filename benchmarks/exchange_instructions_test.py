"""The instruction count of an exchange in C++ stays within bounds, however busy the machine is."""

import callgrind
import pytest

# Counted by callgrind 3.19 in code of g++ 12, on x86-64 with glibc 2.36.
COUNTED = {
    "export_and_delete": 196,
    "import_foreign": 544,
    "export_and_import": 560,
    "there_and_back": 513,
    "empty": 1229,
    "slice": 835,
    "copy_handle": 68,
}
ROOM = 1.5  # tolerance for other compilers and C libraries


@pytest.fixture(scope="module")
def counts():
    if reason := callgrind.missing():
        pytest.skip(reason)
    try:
        return callgrind.count(["benchmarks/exchange_steps"])
    except callgrind.UnmarkedError as error:
        pytest.skip(str(error))


def test_every_step_of_ours_has_a_bound(counts):
    names = [name.split("/") for name in counts]
    assert {step for step, library in names if library == "dovetail"} == set(COUNTED)


@pytest.mark.parametrize("step", COUNTED)
def test_a_step_takes_little_more_instructions_than_it_did(counts, step):
    assert 0 < counts[f"{step}/dovetail"] <= ROOM * COUNTED[step]
