"""Runs Python, and `python -m dlpack_conformance`, in processes of their own."""

import os
import pathlib
import subprocess
import sys

PLANTED = str(pathlib.Path(__file__).with_name("planted_adapter.py"))

# Rules that the switch of another one breaks, too.
ALSO = {
    "consumer.strides": {"consumer.byte-offset"},
    "producer.scalar": {"producer.elements"},
    "producer.lifetime": {"producer.elements"},
    "consumer.type": {"consumer.strides", "consumer.byte-offset"},
    "consumer.misaligned": {"consumer.strides"},
    "consumer.unused-strides": {"consumer.strides"},
}


def python(*arguments, **variables):
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True
    )


def command(*arguments, **variables):
    return python("-m", "dlpack_conformance", *arguments, **variables)
