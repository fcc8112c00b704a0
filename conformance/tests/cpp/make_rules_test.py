"""The lists of the C++ suite are those of the Python kit."""

import pathlib

import make_rules
import pytest

ROOT = pathlib.Path.cwd()
LISTS = make_rules.make_lists(ROOT)


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_up_to_date(name):
    written = (ROOT / make_rules.FOLDER / name).read_text(encoding="utf-8")
    assert written == LISTS[name], "run ./bazelw run //conformance/tests/cpp:make_rules"


def test_a_rule_is_a_call_of_the_macro_with_four_strings():
    line = LISTS["rules.inc"].splitlines()[-1]
    assert line.startswith('DLPACK_CONFORMANCE_RULE("consumer.')
    assert line.count('", "') == 3
    assert line.endswith('")')
