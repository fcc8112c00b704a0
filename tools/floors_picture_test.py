"""floors_picture.py: which floor a folder is on, and which lines are drawn."""

import floors_picture
import pytest


def rule(name, *used, testonly=False):
    inputs = "".join(f'<rule-input name="{label}"/>' for label in used)
    flag = '<boolean name="testonly" value="true"/>' if testonly else ""
    return f'<rule class="cc_library" name="{name}">{flag}{inputs}</rule>'


RULES = (
    "<query>"
    + rule("//core:tensor", "//core/trace:trace", "@absl//:strings")
    + rule("//core/trace:trace")
    + rule("//interop/dlpack:import", "//core:tensor")
    + rule("//interop/arrow:import", "//interop/dlpack:import", "//core:tensor")
    + rule("//interop/arrow:fake", "//python/exchange/base:base", testonly=True)
    + rule("//core/testing:fake", "//interop/dlpack:import")
    + rule("//python/exchange/base:base", "//interop/dlpack:import")
    + "</query>"
)


def test_libraries_of_a_folder_are_one_and_those_of_tests_are_none():
    assert floors_picture.uses(RULES) == {
        "core": set(),
        "interop/dlpack": {"core"},
        "interop/arrow": {"interop/dlpack", "core"},
        "python/exchange/base": {"interop/dlpack"},
    }


def test_a_folder_stands_one_floor_above_the_highest_that_it_uses():
    assert floors_picture.floors(floors_picture.uses(RULES)) == {
        "core": 0,
        "interop/dlpack": 1,
        "interop/arrow": 2,
        "python/exchange/base": 2,
    }


def test_folders_that_use_each_other_are_named():
    with pytest.raises(SystemExit, match="a -> b -> a"):
        floors_picture.floors({"a": {"b"}, "b": {"a"}})


def test_a_line_leads_to_what_no_folder_between_uses():
    picture = floors_picture.draw(floors_picture.uses(RULES))
    assert picture.count("<line") == 3  # arrow, base -> dlpack -> core; none from arrow to core
    assert ">exchange/base</text>" in picture
