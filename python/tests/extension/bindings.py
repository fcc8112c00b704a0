"""The test extensions, one for each way of binding, and what their refusals are checked with.

A module with `pytest_plugins = ["bindings"]` has the fixture `ext`: each extension in turn.
"""

import re

import nanobind_capsule_extension
import nanobind_extension
import pybind11_extension
import pytest

EXTENSIONS = [nanobind_extension, nanobind_capsule_extension, pybind11_extension]


@pytest.fixture(params=EXTENSIONS, ids=lambda extension: extension.__name__)
def ext(request):
    return request.param


def refused(error, words, function, *arguments):
    """Call the function, and return the text of its error, which has the words."""
    with pytest.raises(error, match=re.escape(words)) as caught:
        function(*arguments)
    return str(caught.value)
