"""Tests for the one private, atomic file writer."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from indiff.errors import UserError
from indiff.files import open_private, write_text


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def fail(path: Path, failure: BaseException) -> None:
    with open_private(path) as handle:
        handle.write(b"half")
        raise failure


def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("a longer text than the next one")
    old.chmod(0o644)
    for path in (old, tmp_path / "new.txt", tmp_path / ("x" * 255)):
        write_text(path, "größer\n")
        assert path.read_bytes() == "größer\n".encode()
        assert mode(path) == 0o600
    assert not [one for one in os.listdir(tmp_path) if one.startswith(".")]


def test_of_a_write_that_fails_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_text(path, "whole")
    for failure in (KeyError(), KeyboardInterrupt()):
        with pytest.raises(type(failure)):
            fail(path, failure)
    with pytest.raises(UserError, match=r"result.json' cannot be written \(no more\)"):
        fail(path, OSError(28, "no more"))
    assert path.read_text() == "whole"
    assert os.listdir(tmp_path) == ["result.json"]


def test_a_reader_never_sees_half_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_text(path, "old")
    with open_private(path) as handle:
        handle.write(b"new")
        handle.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link, place = tmp_path / "link.txt", tmp_path / "folder" / "place.txt"
    link.symlink_to(place)
    for text in ("first", "second"):  # the place is not there yet, then it is
        write_text(link, text)
        assert link.is_symlink()
        assert place.read_text() == text
        assert mode(place) == 0o600


def test_another_name_of_a_file_keeps_what_it_had(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("old")
    other.hardlink_to(one)
    write_text(one, "new")
    assert (one.read_text(), other.read_text()) == ("new", "old")


def test_a_pipe_is_written_directly(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_text(pipe, "through")
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="open files have no names here")
def test_an_open_file_by_its_name_is_written_in_place(tmp_path: Path) -> None:
    path = tmp_path / "redirected.txt"
    with path.open("wb", buffering=0) as handle:
        inode = path.stat().st_ino
        for name in ("/dev/fd", "/proc/self/fd"):
            write_text(Path(name, str(handle.fileno())), "result, ")
        handle.write(b"then what is printed")
    assert path.read_text() == "result, result, then what is printed"
    assert path.stat().st_ino == inode


def test_a_file_in_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ours.txt"
    path.write_text("old and long")
    may = os.access
    monkeypatch.setattr(os, "access", lambda place, how: place != str(tmp_path) and may(place, how))
    write_text(path, "new")
    assert path.read_text() == "new"
    assert mode(path) == 0o600


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "file.txt", tmp_path):
        with pytest.raises(UserError, match=r"cannot be written \(.*\); choose another place"):
            write_text(path, "")
