"""release_page.py: which tags it takes, and what it writes."""

import subprocess

import pytest
import release_page

CHANGELOG = """# Changelog

## 0.3.0 (unreleased)

- Coming.

## 0.2.0 (2027-01-15)

- New.

### Fixed

- Old.

## 0.1.0 (2026-12-01)

- First.

## 0.0.9 (2026-11-01)

## 0.0.8-rc1 (2026-10-01)

- Tried.
"""


def test_the_notes_are_the_section_of_the_version():
    assert release_page.notes(CHANGELOG, "v0.2.0", "0.2.0") == "- New.\n\n### Fixed\n\n- Old.\n"
    assert release_page.notes(CHANGELOG, "v0.1.0", "0.1.0") == "- First.\n"


@pytest.mark.parametrize(
    ("tag", "version", "words"),
    [
        ("v0.2.1", "0.2.0", "is not v0.2.0"),
        ("0.2.0", "0.2.0", "is not v0.2.0"),
        ("v0.3.0", "0.3.0", "unreleased"),
        ("v0.4.0", "0.4.0", "has no section"),
        ("v0.0.9", "0.0.9", "nothing in it"),
        ("v0.0.8", "0.0.8", "has no section"),  # 0.0.8-rc1 is another one
    ],
)
def test_a_tag_that_is_no_release_is_refused(tag, version, words):
    with pytest.raises(ValueError, match=words):
        release_page.notes(CHANGELOG, tag, version)


def test_a_draft_need_not_be_dated():
    assert release_page.notes(CHANGELOG, "v0.3.0", "0.3.0", draft=True) == "- Coming.\n"
    with pytest.raises(ValueError, match="has no section"):
        release_page.notes(CHANGELOG, "v0.4.0", "0.4.0", draft=True)


def test_the_list_of_public_names_must_be_of_the_version():
    release_page.check_names("# The public names of 0.2.0. A command writes them.\n", "0.2.0")
    with pytest.raises(ValueError, match="renew"):
        release_page.check_names("# The public names of 0.1.0. A command writes them.\n", "0.2.0")


def test_a_commit_beside_main_is_refused(tmp_path, monkeypatch):
    def git(*words):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(release_page, "ROOT", tmp_path)
    git("init", "--quiet")
    git("commit", "--allow-empty", "--message=first")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    release_page.check_on_main()
    git("commit", "--allow-empty", "--message=second")
    with pytest.raises(ValueError, match="origin/main"):
        release_page.check_on_main()


def test_checksums_are_those_of_all_files_but_their_own(tmp_path):
    (tmp_path / "b.whl").write_bytes(b"")
    (tmp_path / "a.tar.gz").write_bytes(b"abc")
    (tmp_path / "SHA256SUMS").write_text("old")
    assert [line.split("  ") for line in release_page.checksums(tmp_path).splitlines()] == [
        ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "a.tar.gz"],
        ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "b.whl"],
    ]


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no files"):
        release_page.checksums(tmp_path)
