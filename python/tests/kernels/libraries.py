"""The kernel libraries of these tests: beside this file, or in DOVETAIL_KERNEL_LIBRARIES."""

import os
import re

import pytest

import dovetail as dt

FOLDER = os.environ.get("DOVETAIL_KERNEL_LIBRARIES") or os.path.dirname(__file__)


def path_of(name):
    return os.path.join(FOLDER, name)


k = dt.load_kernels(path_of("kernel_library.so"), namespace="under_test")


def refused(error, words, function, *arguments, **named):
    with pytest.raises(error, match=re.escape(words)) as found:
        function(*arguments, **named)
    return found.value
