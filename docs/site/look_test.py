"""The site as Chromium shows it, on a phone, a tablet, a laptop and a large screen, light and dark.

`./bazelw test //docs/site:look_test` installs Chromium from Debian, and keeps the pictures in
bazel-testlogs/docs/site/look_test/test.outputs/outputs.zip.
"""

import itertools
import json
import os
import pathlib
import shutil
import subprocess

import build
import pytest

PHONE, TABLET, LAPTOP = 360, 768, 1280
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)


@pytest.fixture(scope="module")
def facts(tmp_path_factory) -> dict[tuple[str, int, str], dict]:
    """What look.py measured: (page, width, theme) to facts."""
    if not CHROMIUM:
        pytest.skip("needs Chromium: ./bazelw test //docs/site:look_test installs it on Debian")
    if not shutil.which("doxygen"):
        pytest.skip("needs Doxygen: ./bazelw test //docs/site:look_test installs it on Debian")
    site = tmp_path_factory.mktemp("site")
    python = build.interpreter_of(os.environ["DOVETAIL_DOCS_PYTHON"])
    assert build.build(python, site, strict=False) == 0
    pictures = pathlib.Path(os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR", site))
    command = [python, "docs/site/look.py", str(site), str(pictures), CHROMIUM]
    measured = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    places = ((place.split(), fact) for place, fact in measured.items())
    return {(page, int(width), theme): fact for (page, width, theme), fact in places}


def found(facts, name, widths=range(10000)):
    """The places where the fact `name` is neither empty nor 0, with it."""
    return {place: fact[name] for place, fact in facts.items() if fact[name] and place[1] in widths}


def test_all_widths_and_themes_were_looked_at(facts):
    assert {width for _, width, _ in facts} == {360, 768, 1280, 1600}
    assert {theme for _, _, theme in facts} == {"light", "dark"}
    assert len({page for page, _, _ in facts}) > 80


def test_no_page_is_wider_than_the_screen(facts):
    assert not found(facts, "overflow")


def test_tables_fit_on_a_phone(facts):
    assert not found(facts, "wideTables", [PHONE])


def test_tables_of_long_names_fit_on_a_tablet(facts):
    for page in ("architecture", "protocol", "conformance/README"):
        assert not facts[page, TABLET, "light"]["wideTables"], page


def test_on_a_phone_a_library_is_a_card(facts):
    cells = facts["libraries", PHONE, "light"]["cells"]
    assert all(cell["right"] <= PHONE for cell in cells)
    numpy = {cell["label"].strip('"'): cell["text"] for cell in cells[:5]}
    assert numpy.pop("none").startswith("NumPy")
    assert numpy == {
        "Class": "numpy.ndarray",
        "in": "shared",
        "out: what is copied": "nothing",
        "refused": "packed int4 and float4",
    }


def test_each_heading_is_a_step_larger_than_the_next(facts):
    for place, fact in facts.items():
        for larger, smaller in itertools.pairwise(size for size in fact["headings"] if size):
            assert 1.1 <= larger / smaller <= 1.6, place


def test_the_title_of_the_first_page_is_centred(facts):
    shifts = {place: fact["offCentre"] for place, fact in facts.items() if place[0] == "index"}
    assert len(shifts) == 8
    assert all(abs(shift) <= 1 for shift in shifts.values()), shifts


def test_the_contents_are_visible_on_a_laptop(facts):
    contents = {place: fact["contents"] for place, fact in facts.items() if place[1] >= LAPTOP}
    assert contents["index", LAPTOP, "light"]
    assert not [place for place, visible in contents.items() if visible is False]


def test_tabs_share_one_line(facts):
    assert facts["index", PHONE, "light"]["linesOfTabs"] == [1]
    assert all(set(fact["linesOfTabs"]) <= {1} for fact in facts.values())


def test_comments_in_code_are_not_broken(facts):
    assert not found(facts, "brokenComments")


def test_words_stand_out_from_the_ground(facts):
    assert not found(facts, "pale")
