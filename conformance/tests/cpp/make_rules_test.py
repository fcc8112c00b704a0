"""rules.inc has the rules of the Python kit."""

import pathlib

import make_rules

ROOT = pathlib.Path.cwd()


def test_the_list_is_up_to_date():
    written = (ROOT / make_rules.LIST).read_text(encoding="utf-8")
    made = make_rules.make_list(ROOT)
    assert written == made, "run ./bazelw run //conformance/tests/cpp:make_rules"


def test_a_line_is_a_call_of_the_macro_with_four_strings():
    line = make_rules.make_list(ROOT).splitlines()[-1]
    assert line.startswith('DLPACK_CONFORMANCE_RULE("consumer.')
    assert line.count('", "') == 3
    assert line.endswith('")')
