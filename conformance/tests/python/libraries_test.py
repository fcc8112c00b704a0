"""What the kit finds in real libraries, at the versions of the environment.

When a new version mends a fault, a test fails here: take the fault out of the table.
"""

import pytest
from command import python

from dlpack_conformance import run

# Rules that are broken, and one that is kept, by library.
_BROKEN = {
    "numpy": {"producer.empty", "producer.cpu-alignment", "consumer.null-data", "buffer.requests"},
    "torch": {
        "producer.copied-flag",
        "consumer.read-only",
        "consumer.strides",
        "from-buffer.holds",
        "exchange.elements",
        "exchange.refuses",
        "exchange.to-python-refuses",
    },
    "jax": {"producer.versioned", "consumer.asks", "consumer.null-deleter"},
    "tvm_ffi": {"producer.old-major", "producer.copy-true", "consumer.asks"},
    "paddle": {
        "producer.device",
        "consumer.read-only",
        "consumer.null-context",
        "exchange.to-python-refuses",
        "exchange.cpu-stream",
    },
    "pyarrow": {"producer.read-only-legacy", "producer.unsupported"},
    "onnxruntime": {"producer.keywords", "producer.lifetime"},
}
_KEPT = {"pyarrow": "producer.read-only", "jax": "consumer.deletes", "numpy": "consumer.read-only"}

# Paddle 3.3.1 may hang in its exit handlers: an exception ends the process at once.
_AT_ONCE = """
import os, sys
def hook(*error): sys.__excepthook__(*error), sys.stderr.flush(), os._exit(1)
sys.excepthook = hook
"""


@pytest.mark.parametrize("library", _BROKEN)
def test_the_known_faults_of_a_library_are_found(library):
    kept = _KEPT.get(library, "producer.device-id")
    report = run(library, [*_BROKEN[library], kept])
    assert not report.problem
    assert {result.rule for result in report.failures()} == _BROKEN[library]
    assert report.status(kept) == "kept"
    for result in {result.rule: result for result in report.failures()}.values():
        assert len(result.reproduction) <= 16
        done = python("-c", _AT_ONCE + "\n".join(result.reproduction))
        error = (done.stderr.splitlines() or [""])[-1]
        if result.status == "crashed":
            assert done.returncode < 0, error
        else:
            assert done.returncode == 1
            kind, _, message = error.partition(": ")
            assert message[:10] in result.seen or kind.split(".")[-1] in result.seen
