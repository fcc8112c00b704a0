"""registry_entry.py: what a registry for the archive says."""

import json
import pathlib

import pytest
import registry_entry
import source_version


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / f"a folder & more/dovetail-{source_version.read()}.tar.gz"
    path.parent.mkdir()
    path.write_bytes(b"abc")
    return path


def source(registry):
    [path] = registry.glob("modules/dovetail/*/source.json")
    return json.loads(path.read_text())


def test_the_entry_names_the_archive_where_it_lies(archive, tmp_path):
    registry_entry.write(archive, tmp_path / "registry")
    entry = source(tmp_path / "registry")
    assert entry["url"] == archive.as_uri() and " " not in entry["url"]
    assert entry["integrity"] == "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="


def test_the_entry_names_the_file_of_the_page_whatever_the_repository_is_called(archive, tmp_path):
    registry_entry.write(archive, tmp_path / "registry", "acme/tensor-exchange")
    entry, version = source(tmp_path / "registry"), source_version.read()
    page = f"https://github.com/acme/tensor-exchange/releases/download/v{version}"
    assert entry["url"] == f"{page}/dovetail-{version}.tar.gz"
    assert entry["strip_prefix"] == f"dovetail-{version}"
    metadata = json.loads((tmp_path / "registry/modules/dovetail/metadata.json").read_text())
    assert metadata["repository"] == ["github:acme/tensor-exchange"]


def test_the_module_is_that_of_the_tree(archive, tmp_path):
    registry_entry.write(archive, tmp_path)
    [module] = tmp_path.glob("modules/dovetail/*/MODULE.bazel")
    assert module.read_bytes() == pathlib.Path("MODULE.bazel").read_bytes()
    assert module.with_name("presubmit.yml").exists()
