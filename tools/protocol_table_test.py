"""docs/protocol.md matches the rules and the tests, and every rule has a test."""

import pathlib

import protocol_table
import pytest

ROOT = pathlib.Path.cwd()
# Rules about streams that only a GPU has.
LATER = {46, 47, 49, 50}


def test_the_table_is_up_to_date():
    written = (ROOT / protocol_table.TABLE).read_text(encoding="utf-8")
    assert written == protocol_table.make_table(ROOT), "run ./bazelw run //tools:protocol_table"


def test_every_rule_has_a_statement_and_a_test_or_a_note_when_it_comes():
    text = (ROOT / protocol_table.RULES).read_text(encoding="utf-8")
    rules = {n: rule for _, part in protocol_table.read_rules(text) for n, rule in part.items()}
    assert list(rules) == list(range(1, 66))
    assert {n for n, (_, note) in rules.items() if note} == LATER
    assert set(rules) - set(protocol_table.find_tests(ROOT)) <= LATER


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a_test.cc", "// Rule 8.\nTEST(A, B) {}\n", [(8, "A.B")]),
        (
            "a_test.cc",
            "// Why.\n// Rules 5, 17.\nTYPED_TEST(A,\n    B) {}",
            [(5, "A.B"), (17, "A.B")],
        ),
        ("a_test.py", "# Rule 8.\n@mark(\n    1\n)\ndef test_a(): pass\n", [(8, "test_a")]),
        ("a_test.py", "# Rule 8 is hard.\ndef test_a(): pass\n", []),
    ],
)
def test_a_marker_belongs_to_the_test_below_it(path, text, found):
    assert protocol_table.marked_tests(path, text) == found


@pytest.mark.parametrize("text", ["# Rule 8.\n\ndef test_a(): pass\n", "# Rule 8.\nx = 1\n"])
def test_a_marker_that_is_above_no_test_is_an_error(text):
    with pytest.raises(SystemExit, match=r"a_test\.py:1"):
        protocol_table.marked_tests("a_test.py", text)
