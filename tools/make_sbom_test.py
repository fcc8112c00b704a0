"""make_sbom.py: the versions of libraries by their headers."""

import json
import sys

import make_sbom
import pytest

HEADERS = {
    "dlpack/dlpack.h": "#define DLPACK_MAJOR_VERSION 1\n#define DLPACK_MINOR_VERSION 3\n",
    "libcxx/include/__config": "#  define _LIBCPP_VERSION 220108\n",
}


@pytest.fixture
def components(tmp_path, monkeypatch):
    """A function that makes a bill of these headers, and returns its components."""
    for name, text in HEADERS.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)

    def components(*headers):
        bill = tmp_path / "bill.json"
        options = ["--name=wheel", "--version=1.2.3", f"--output={bill}"]
        paths = [str(tmp_path / header) for header in headers]
        monkeypatch.setattr(sys, "argv", ["make_sbom", *options, *paths])
        make_sbom.main()
        return json.loads(bill.read_text())["components"]

    return components


def test_a_version_has_a_macro_for_each_part(components):
    (dlpack,) = components("dlpack/dlpack.h")
    assert dlpack["purl"] == "pkg:github/dmlc/dlpack@1.3"
    assert dlpack["licenses"] == [{"license": {"id": "Apache-2.0"}}]


def test_libcxx_has_one_macro_and_a_license_with_an_exception(components):
    (libcxx,) = components("libcxx/include/__config")
    assert (libcxx["name"], libcxx["version"]) == ("libcxx", "22.1.8")
    assert libcxx["purl"] == "pkg:github/llvm/llvm-project@22.1.8#libcxx"
    assert libcxx["licenses"] == [{"expression": "Apache-2.0 WITH LLVM-exception"}]


def test_an_unknown_header_is_an_error(components, tmp_path):
    (tmp_path / "other.h").write_text("")
    with pytest.raises(SystemExit, match="no library"):
        components("other.h")
