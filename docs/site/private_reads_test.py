"""docs/architecture.md has the table of private reads as the code has it."""

import pathlib

import private_reads


def test_the_page_has_the_table():
    page = pathlib.Path(private_reads.PAGE).read_text()
    assert page.count(private_reads.HEADING) == 1
    assert page == private_reads.with_section(page), (
        "./bazelw run //docs/site:private_reads mends it"
    )


def test_every_file_of_the_table_is_named_once_more_in_the_section():
    section = private_reads.section()
    for _, what, where, _, _ in private_reads._core._private_reads():
        assert f"`{where}`" in section
        assert private_reads.cell(what) in section
