"""Python runs out of memory at each allocation of an import and of an export, one at a time."""

import sys

import numpy as np
import pytest
from managed import Lent

import dovetail as dt

try:
    import _testcapi
except ImportError:
    _testcapi = None
pytestmark = pytest.mark.skipif(_testcapi is None, reason="this Python has no _testcapi")

ALLOCATIONS = 20  # more than any of these exchanges needs


def with_each_allocation_failing(subjects, work):
    """The results of work(subject), where Python's i-th allocation fails for subject i. None for a
    MemoryError."""
    work(subjects[-1])  # fills the process's caches
    in_use = [dt.empty(1) for _ in range(200)]  # empties the caches of free objects
    results = [None] * ALLOCATIONS
    for n in range(ALLOCATIONS):
        _testcapi.set_nomemory(n, n + 1)
        try:
            results[n] = work(subjects[n])
        except MemoryError:
            pass
        finally:
            _testcapi.remove_mem_hooks()
    assert results[0] is None
    assert results[-1] is not None
    assert len(in_use) == 200
    return results


def lend(version=(1, 3)):
    return [Lent(version=version) for _ in range(ALLOCATIONS + 1)]


# Rules 25, 30.
@pytest.mark.parametrize("version", [(1, 3), None])
def test_a_capsule_frees_its_tensor_once_whatever_fails(version):
    lents = lend(version)
    capsules = [lent.capsule() for lent in lents]
    tensors = with_each_allocation_failing(capsules, dt.from_dlpack)
    del capsules
    for lent, t in zip(lents, tensors, strict=False):
        assert lent.deletions == (t is None)
    del tensors, t
    assert [lent.deletions for lent in lents] == [1] * len(lents)


# Rule 30.
@pytest.mark.parametrize("wrap", [np.asarray, dt.from_dlpack], ids=["NumPy", "dovetail"])
def test_an_array_has_the_references_it_had_whatever_fails(wrap):
    x = wrap(np.zeros(3))
    before = sys.getrefcount(x)
    tensors = with_each_allocation_failing([x] * (ALLOCATIONS + 1), dt.from_dlpack)
    del tensors
    assert sys.getrefcount(x) == before


# Rule 30.
@pytest.mark.parametrize(
    "asked",
    [{}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}],
    ids=["legacy", "versioned", "copy"],
)
def test_an_export_lets_go_of_its_tensor_once_whatever_fails(asked):
    lents = lend()
    tensors = [dt.from_dlpack(lent.capsule()) for lent in lents]
    capsules = with_each_allocation_failing(tensors, lambda t: t.__dlpack__(**asked))
    assert not any(lent.deletions for lent in lents)
    del tensors, capsules
    assert [lent.deletions for lent in lents] == [1] * len(lents)
