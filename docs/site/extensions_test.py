"""The parts of the site that are this repository's own: links out of docs/, and comments of C++."""

import pathlib

import pytest
from doxygen_comments import SPACE, converted, with_lists
from repository_links import rewrite


@pytest.mark.parametrize(
    ("page", "text", "shown"),
    [
        ("gpu", "[the kernels](../devices/gpu/kernels)", "the kernels (`devices/gpu/kernels`)"),
        ("gpu", "[devices/gpu](../devices/gpu)", "`devices/gpu`"),
        ("gpu", "[trust](../SECURITY.md#trust)", "[trust](security.md#trust)"),
        ("interop/torch", "[GPUs](../gpu.md#streams)", "[GPUs](../gpu.md#streams)"),
        ("changelog", "[IPC](docs/ipc.md)", "[IPC](ipc.md)"),
        ("guide/migrating", "[why.md](../why.md)", "[](../why.md)"),
        ("architecture", "in [interop](interop)", "in [interop](reference/doors.md)"),
        ("gpu", "![a picture](../devices/x.svg)", "![a picture](../devices/x.svg)"),
    ],
)
def test_a_link_out_of_docs_is_a_page_of_the_site_or_a_path(page, text, shown):
    assert rewrite(text, page, "") == shown


def test_with_a_source_url_a_path_is_a_link():
    link = "[the kernels](../devices/gpu/kernels)"
    assert rewrite(link, "gpu", "https://x.org/tree/") == (
        "[the kernels](https://x.org/tree/devices/gpu/kernels)"
    )


def test_comments_become_those_of_the_declaration_below():
    header = """\
// A tensor.
//
//   Tensor x;

namespace dovetail {
inline namespace DOVETAIL_ABI {

// About nothing.

// Takes an @email and a <T>.
int F();  // NOLINT
int size;  // bytes
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
"""
    assert converted(header).splitlines() == [
        "/// @file",
        "/// A tensor.",
        "///",
        "/// @code{.cpp}",
        "/// Tensor x;",
        "/// @endcode",
        "",
        "namespace dovetail {",
        "",
        "",
        "/// Takes an \\@email and a \\<T\\>.",
        "int F();  // NOLINT",
        "int size;  ///< bytes",
        "}  // namespace dovetail",
    ]


def test_spaces_of_code_are_kept():
    assert f"/// {SPACE * 2}return;" in converted(
        "// F.\n//\n//   int f() {\n//     return;\n//   }\nint f();"
    )


def test_a_list_is_written_out(tmp_path: pathlib.Path):
    (tmp_path / "dovetail").mkdir()
    (tmp_path / "dovetail/list.inc").write_text("// A list.\nENTRY(Int, 0)\nENTRY(Float, 1)\n")
    header = '#define ENTRY(id, code) k##id = code,\n#include "dovetail/list.inc"\n#undef ENTRY\n'
    assert with_lists(header, tmp_path) == "kInt = 0,\nkFloat = 1,\n"
