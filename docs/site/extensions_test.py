"""The parts of the site that are this repository's own: links out of docs/, and comments of C++."""

import pathlib

import pytest
from doxygen_comments import SPACE, converted, with_lists
from narrow_tables import fitted
from repository_links import rewrite


@pytest.mark.parametrize(
    ("page", "text", "shown"),
    [
        ("devices", "[the kernels](../devices/gpu/kernels)", "the kernels (`devices/gpu/kernels`)"),
        ("devices", "[devices/gpu](../devices/gpu)", "`devices/gpu`"),
        ("devices", "[trust](../SECURITY.md#trust)", "[trust](security.md#trust)"),
        ("devices/casts", "[a](../../core/copy.h)", "a (`core/copy.h`)"),
        (
            "interop/torch",
            "[S](../devices/streams.md#streams)",
            "[S](../devices/streams.md#streams)",
        ),
        ("changelog", "[IPC](docs/ipc.md)", "[IPC](ipc.md)"),
        ("guide/migrating", "[why.md](../why.md)", "[](../why.md)"),
        ("faq", "[kit](../conformance/README.md#limits)", "[kit](conformance/README.md#limits)"),
        ("guide/x", "[p](../../conformance/docs/pairs.md)", "[p](../conformance/docs/pairs.md)"),
        ("conformance/README", "[what](docs/found.md)", "[what](../conformance/docs/found.md)"),
        ("conformance/README", "[all](./cpp/suite.h)", "all (`conformance/cpp/suite.h`)"),
        ("conformance/docs/found_cuda", "[H100](../../docs/gpu.md)", "[H100](../../gpu.md)"),
        ("architecture", "in [interop](interop)", "in [interop](reference/doors.md)"),
        ("index", "in [the repository](../)", "in the repository"),
        ("devices", "![a picture](../devices/x.svg)", "![a picture](../devices/x.svg)"),
    ],
)
def test_a_link_out_of_docs_is_a_page_of_the_site_or_a_path(page, text, shown):
    assert rewrite(text, page, "") == shown


def test_with_a_source_url_a_path_is_a_link():
    link = "[the kernels](../devices/gpu/kernels)"
    assert rewrite(link, "devices", "https://x.org/tree/") == (
        "[the kernels](https://x.org/tree/devices/gpu/kernels)"
    )
    assert rewrite("[all](../)", "index", "https://x.org/tree") == "[all](https://x.org/tree/)"


def test_a_remark_lists_the_pages_below_a_page():
    remark = "Text.\n\n<!-- contents: From A <a/b>,\nc -->\n"
    assert rewrite(remark, "guide/x", "") == (
        "Text.\n\n```{toctree}\n:hidden:\n\nFrom A <a/b>\nc\n```\n"
    )


TABLE = """\
<table class="docutils align-default"><thead><tr>{head}</tr></thead>
<tbody><tr><td>{text}</td><td class="text-right">2</td><td></td></tr></tbody></table>"""


def test_cells_of_wide_tables_name_their_columns():
    head = "<th><p>a &amp; b</p></th><th><code>C</code></th><th></th>"
    wide = TABLE.format(head=head, text="word " * 9)
    page = fitted(f"<p>x</p>{wide}{wide}")
    assert page.count('<table class="cards docutils align-default">') == 2
    assert '<td data-label="a &amp; b">word' in page
    assert '<td data-label="C" class="text-right">2' in page
    assert '<td data-label=""></td>' in page
    for narrow in (
        TABLE.format(head=head, text="word " * 7),
        TABLE.format(head="<th>a</th><th>b</th>", text="word " * 9),
    ):
        assert fitted(narrow) == narrow


def test_of_two_wide_columns_the_second_is_below_the_first():
    row = "<tr><td>{}</td><td>{}</td></tr>"
    table = '<table class="docutils"><thead><tr><th>a</th><th>b</th></tr></thead>{}</table>'
    wide = table.format(row.format("n" * 30, "word " * 9 + "."))
    assert fitted(wide).count('<td data-label="">') == 2
    assert '<table class="cards docutils">' in fitted(wide)
    for narrow in (("n" * 29, "word " * 20), ("n" * 60, "word " * 8)):
        assert fitted(table.format(row.format(*narrow))) == table.format(row.format(*narrow))


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("cuda.core.utils.View2", "cuda.<wbr>core.<wbr>utils.<wbr>View2"),
        ("peers/torch/torch_private.h", "peers/<wbr>torch/<wbr>torch_<wbr>private.h"),
        ("torch::jit::getTracingState", "torch::<wbr>jit::<wbr>getTracingState"),
        ("a b c d e f g h i j k l m n.o/p", "a b c d e f g h i j k l m n.o/p"),
        ("cuda.core.utils.View", "cuda.core.utils.View"),
    ],
)
def test_long_names_in_tables_may_break(name, broken):
    for text in ("{}", '<code><span class="pre">{}</span></code>'):
        table = fitted(TABLE.format(head="", text=text.format(name)))
        assert table == TABLE.format(head="", text=text.format(broken))


def test_comments_become_those_of_the_declaration_below():
    header = """\
// A tensor.
//
//   Tensor x;

namespace dovetail {
inline namespace DOVETAIL_ABI {

// About nothing.

// Takes an @email and a <T> in `data`.
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
        "/// Takes an \\@email and a \\<T\\> in <tt>data</tt>.",
        "int F();  // NOLINT",
        "int size;  ///< bytes",
        "}  // namespace dovetail",
    ]


def test_declarations_below_each_other_share_a_comment():
    header = """\
// A file.

class A {
 public:
  // Views.
  A First(int a,
          int b) const;
  A Second() const {
    return First(1, 2);
  }
  friend bool operator==(A, A);
  A Third() const;

  A Fourth() const;
};
static_assert(sizeof(A) == 1);
"""
    lines = converted(header).splitlines()
    below = [lines[i + 1].split("(")[0] for i, line in enumerate(lines) if line == "  /// Views."]
    assert below == ["  A First", "  A Second", "  A Third"]


def test_spaces_of_code_are_kept():
    assert f"/// {SPACE * 2}return;" in converted(
        "// F.\n//\n//   int f() {\n//     return;\n//   }\nint f();"
    )


def test_a_list_is_written_out(tmp_path: pathlib.Path):
    (tmp_path / "dovetail").mkdir()
    (tmp_path / "dovetail/list.inc").write_text("// A list.\nENTRY(Int, 0)\nENTRY(Float, 1)\n")
    header = '#define ENTRY(id, code) k##id = code,\n#include "dovetail/list.inc"\n#undef ENTRY\n'
    assert with_lists(header, tmp_path) == "kInt = 0,\nkFloat = 1,\n"
