"""What killed processes left is removed, and nothing else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from indiff.files import write_text
from indiff.temporary import private_folder, sweep, temporary_prefix


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that all temporary files go to."""
    folder = tmp_path / "temporary files"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_folders_of_killed_processes_are_swept_and_those_of_living_ones_are_not(
    temporary: Path,
) -> None:
    with private_folder() as mine:
        (mine / "input.csv").write_text("age\n1\n")
        stem, process, born, _ = mine.name.rsplit("-", 3)
        gone = temporary / f"{stem}-{process}-{int(born) - 1}-abcdefgh"  # the number, used again
        gone.mkdir()
        (gone / "input.csv").write_text("age\n1\n")
        elsewhere = temporary / f"indiff-00000000-{process}-{int(born) - 1}-abcdefgh"
        elsewhere.mkdir()
        sweep()
        assert (mine / "input.csv").exists()
        assert not gone.exists()
        assert elsewhere.exists()  # another machine's or container's
    assert not mine.exists()


def test_what_a_killed_write_left_beside_a_file_goes_with_the_next(tmp_path: Path) -> None:
    stem, process, born, _ = temporary_prefix().rsplit("-", 3)
    left = tmp_path / f".{stem}-{process}-{int(born) - 1}-abcdefgh"
    left.write_text("age\n1\n")
    foreign = tmp_path / ".indiff-notes"
    foreign.write_text("mine")
    write_text(tmp_path / "release.csv", "age\n*\n")
    assert sorted(os.listdir(tmp_path)) == [".indiff-notes", "release.csv"]
