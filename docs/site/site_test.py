"""The documentation site builds without a warning, its links lead somewhere, and it is complete."""

import html.parser
import os
import pathlib
import re
import shutil
import urllib.parse

import build
import pytest

import dovetail


class Links(html.parser.HTMLParser):
    """What a page links to, and the places in it that can be linked."""

    def __init__(self, page: pathlib.Path):
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.targets.append(value)
            elif name == "id" and value:
                self.places.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> pathlib.Path:
    """The site, built with each warning as an error."""
    if not shutil.which("doxygen"):
        pytest.skip(
            "needs Doxygen, which is not installed (Debian and Ubuntu: apt-get install doxygen)"
        )
    output = tmp_path_factory.mktemp("site")
    python = build.interpreter_of(os.environ["DOVETAIL_DOCS_PYTHON"])
    assert build.build(python, output, strict=True) == 0
    return output


def test_each_link_leads_to_a_place_that_exists(site):
    pages = {path: Links(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for target in page.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc or not (url.path or url.fragment):
                continue
            there = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            assert there.exists(), f"{path.name}: {target}"
            if there in pages and url.fragment:
                place = urllib.parse.unquote(url.fragment)
                assert place in pages[there].places, f"{path.name}: {target}"


def test_the_reference_has_every_public_name(site):
    places = Links(site / "reference/python.html").places
    constants = {
        name for name in dovetail.__all__ if isinstance(getattr(dovetail, name), dovetail.DType)
    }
    modules = {"ipc", "utils"}
    names = set(dovetail.__all__) - constants - modules - {"dlpack_version"}
    missing = names - {place.removeprefix("dovetail.") for place in places}
    assert not missing, "docs/site/reference/python.md has to list them"
    for header in ("tensor", "dlpack", "copy", "streams"):
        assert "dovetail" in (site / f"reference/cpp/{header}.html").read_text()
    assert "_CPPv4N8dovetail6TensorE" in Links(site / "reference/cpp/tensor.html").places


def test_the_reference_has_comments_code_and_types(site):
    tensor = (site / "reference/cpp/tensor.html").read_text()
    assert "Copying a Tensor copies no elements." in tensor
    assert "highlight-cpp" in tensor
    assert 'class="pre">inline<' not in tensor
    assert "_CPPv4N8dovetail8kFloat32E" in Links(site / "reference/cpp/types.html").places
    python = (site / "reference/python.html").read_text()
    from_dlpack = python.partition('id="dovetail.from_dlpack"')[2].partition("</dl>")[0]
    assert "DeviceLike" in from_dlpack
    assert "where the tensor is to lie" in python


def test_the_search_finds_a_function_and_an_error(site):
    index = (site / "searchindex.js").read_text()
    for word in ("from_dlpack", "exchangeerror", "stride"):
        assert word in index


def test_the_contents_have_six_parts_and_every_page(site):
    index = (site / "index.html").read_text()
    contents = index.partition('class="sidebar-tree"')[2].partition("</aside>")[0]
    captions = re.findall(r'class="caption-text">([^<]*)<', contents)
    assert captions == ["Start", "Guides", "Doors", "Reference", "How it works", "Figures"]
    for page in (
        "migrating/jax",
        "distributed/mpi",
        "devices/casts",
        "devices/oneapi",
        "interop/eigen",
        "conformance/docs/ci",
        "reference/cpp/copy",
    ):
        assert f'href="{page}.html"' in contents, page
