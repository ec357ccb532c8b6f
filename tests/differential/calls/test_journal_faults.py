"""Every fault at every write of a journal: what was kept stays, and the run ends alike."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from indiff import UserError
from indiff.differential.calls.journal import Journal
from tests.faults import Killed, each

SETTINGS = {"table": "t", "seed": "0"}
TARGETS = 4


def finish(folder: Path, kept: list[int]) -> None:
    """Begin a run, or go on, and note each target that is said to be on disk."""
    with Journal(folder, SETTINGS) as journal:
        done = dict(journal.take())
        assert set(kept) <= set(done), "what was said to be kept is gone"
        assert all(done[target] == {"b": [target / 7]} for target in done)
        for target in range(TARGETS):
            if target not in done:
                journal.append([(target, {"b": [target / 7]})])
                kept.append(target)


def test_a_run_ends_with_the_same_bytes_whatever_fails(tmp_path: Path) -> None:
    finish(tmp_path / "whole", [])
    whole = (tmp_path / "whole" / "journal").read_bytes()
    told, tried = {"full": UserError, "failing": UserError, "memory": MemoryError}, set()
    for disk in each(lambda: finish(tmp_path / "counted", [])):
        folder, kept = tmp_path / "night", list[int]()
        shutil.rmtree(folder, ignore_errors=True)
        with disk(), pytest.raises(told.get(str(disk.fault), Killed)):
            finish(folder, kept)
        tried.add(disk.names[-1])
        finish(folder, kept)
        assert (folder / "journal").read_bytes() == whole
    assert {"mkdir", "open", "write", "fsync"} <= tried


def test_a_run_that_is_killed_again_while_it_goes_on(tmp_path: Path) -> None:
    finish(tmp_path / "whole", [])
    whole = (tmp_path / "whole" / "journal").read_bytes()
    for disk in each(lambda: finish(tmp_path / "counted", []), faults=("killed",)):
        folder = tmp_path / "night"
        shutil.rmtree(folder, ignore_errors=True)
        with disk(), pytest.raises(Killed):
            finish(folder, [])
        for again in each(partial(_copied, folder), faults=("killed",)):
            copy = tmp_path / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            if folder.exists():
                shutil.copytree(folder, copy)
            kept: list[int] = []
            with again(), pytest.raises(Killed):
                finish(copy, kept)
            finish(copy, kept)
            assert (copy / "journal").read_bytes() == whole


def _copied(folder: Path) -> None:
    counted = folder.parent / "counted again"
    shutil.rmtree(counted, ignore_errors=True)
    if folder.exists():
        shutil.copytree(folder, counted)
    finish(counted, [])
