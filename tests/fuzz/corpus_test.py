"""The archives of the corpora: the same inputs make the same bytes, and come back as they were."""

from pathlib import Path

import corpus
import pytest

ARCHIVES = sorted(Path("tests/fuzz/corpus").glob("*.zip"))


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_an_archive_is_what_add_makes_of_its_inputs(archive, tmp_path):
    corpus.unpack(archive, tmp_path / "inputs")
    inputs = sorted((tmp_path / "inputs").iterdir())
    assert inputs
    corpus.add(tmp_path / "again.zip", inputs[1:])
    corpus.add(tmp_path / "again.zip", inputs[:1])
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_there_are_archives():
    assert len(ARCHIVES) >= 7
