"""The journal of a run: torn writes, damage, other settings, two processes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indiff import UserError
from indiff.differential.calls.journal import Journal
from indiff.version import __version__

SETTINGS = {"table": "t", "sanitizer": "s", "seed": "0"}


def fill(folder: Path, targets: range, settings: dict[str, str] = SETTINGS) -> None:
    with Journal(folder, settings) as journal:
        for target in targets:
            journal.append([(target, {"b": [target / 7]})])


def read(folder: Path, settings: dict[str, str] = SETTINGS) -> dict[int, dict[str, Any]]:
    with Journal(folder, settings) as journal:
        return dict(journal.take())


def test_numbers_come_back_bit_by_bit(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).random(2000) * 10.0 ** np.arange(-300, -100, 0.1)
    values = [*numbers.tolist(), 5e-324, 1.7976931348623157e308, 0.1 + 0.2, float("inf")]
    with Journal(tmp_path, SETTINGS) as journal:
        journal.append([(3, {"belief": values})])
    assert read(tmp_path)[3]["belief"] == values


def test_a_write_torn_at_any_byte_loses_that_entry_alone(tmp_path: Path) -> None:
    few = {"seed": "0"}  # every byte is tried, so there are not many
    fill(tmp_path, range(3), few)
    file = tmp_path / "journal"
    whole = file.read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    assert len(ends) == 4  # the settings and three targets
    for length in range(len(whole) + 1):
        file.write_bytes(whole[:length])
        kept = max(0, sum(end <= length for end in ends) - 1)
        assert sorted(read(tmp_path, few)) == list(range(kept))
        # Whoever goes on from there ends with the bytes of an undisturbed run.
        fill(tmp_path, range(kept, 3), few)
        assert file.read_bytes() == whole


def test_garbage_after_a_crash_is_cut_off(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    file = tmp_path / "journal"
    whole = file.read_bytes()
    for garbage in (b"\0" * 500, b"\n\n\n", b"abc\ndef\n"):
        file.write_bytes(whole + garbage)
        assert sorted(read(tmp_path)) == [0, 1]
        assert file.read_bytes() == whole


def test_damage_in_the_middle_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    file = tmp_path / "journal"
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    start = len(lines[0])
    for place in range(start, start + len(lines[1]), 5):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(UserError, match=r"is damaged: line 2 of its journal does not match"):
            Journal(tmp_path, SETTINGS)
        assert file.read_bytes() == damaged  # nothing is lost by looking


@pytest.mark.parametrize("name", SETTINGS)
def test_other_settings_are_refused_by_name(tmp_path: Path, name: str) -> None:
    fill(tmp_path, range(1))
    with pytest.raises(
        UserError, match=rf"the {name} is another one than when .* Use the same {name}, or another"
    ):
        Journal(tmp_path, {**SETTINGS, name: "x"})
    assert sorted(read(tmp_path)) == [0]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        Journal(tmp_path, SETTINGS),
        pytest.raises(UserError, match="is in use by another process; wait for it"),
    ):
        Journal(tmp_path, SETTINGS)
    assert read(tmp_path) == {}


@pytest.mark.parametrize("text", ["dear diary\ntoday\n", "no end of line", "x", "\n", "{}"])
def test_a_file_of_someone_else_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "journal").write_text(text)
    with pytest.raises(UserError, match="is no journal of a run; name another folder"):
        Journal(tmp_path, SETTINGS)
    assert (tmp_path / "journal").read_text() == text


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_after_a_failed_write_the_journal_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    fill(tmp_path, range(2))
    whole = (tmp_path / "journal").read_bytes()
    write = os.write

    def torn(file: int, data: bytes = b"") -> int:
        write(file, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with Journal(tmp_path, SETTINGS) as journal:
        with monkeypatch.context() as full:
            full.setattr(os, failing, torn)
            with pytest.raises(UserError, match=r"cannot be used \(No space left on device\). See"):
                journal.append([(2, {"b": [2 / 7]})])
        assert (tmp_path / "journal").read_bytes() == whole
        journal.append([(3, {"b": [3 / 7]})])
    assert sorted(read(tmp_path)) == [0, 1, 3]


def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    before = os.umask(0)
    try:
        fill(folder, range(1))
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "journal").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"run folder '.*/file' cannot be used \(File exists\)"):
        Journal(tmp_path / "file", SETTINGS)


@pytest.mark.parametrize("kind", ["a link", "a folder", "a pipe"])
def test_what_is_no_file_is_no_journal(tmp_path: Path, kind: str) -> None:
    place, outside = tmp_path / "journal", tmp_path / "outside"
    outside.write_text("of somebody else")
    if kind == "a link":
        place.symlink_to(outside)
    elif kind == "a folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    with pytest.raises(UserError, match="journal' is no journal of a run; name another folder"):
        Journal(tmp_path, SETTINGS)
    assert outside.read_text() == "of somebody else"


def test_a_later_entry_replaces_an_earlier_one(tmp_path: Path) -> None:
    with Journal(tmp_path, SETTINGS) as journal:
        journal.append([(1, {"failed": "x"}), (2, {"a": 1})])
        journal.append([(1, {"a": 2})])
    assert read(tmp_path) == {1: {"a": 2}, 2: {"a": 1}}


def line_of(content: Any) -> bytes:
    """A line as the format says: a checksum of 16 hexadecimal digits, a blank, JSON."""
    text = json.dumps(content, separators=(",", ":")).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest().encode() + b" " + text + b"\n"


def test_the_format_on_disk_is_that_of_every_version(tmp_path: Path) -> None:
    first = {"run": 1, **SETTINGS, "version of indiff": __version__}
    written = line_of(first) + line_of({"target": 4, "b": [4 / 7]})
    fill(tmp_path, range(4, 5))
    assert (tmp_path / "journal").read_bytes() == written
    for refused, why in (
        ({**first, "run": 2}, "has a format that indiff .* cannot read"),
        ({**first, "version of indiff": "0.1"}, "the version of indiff is another one"),
        ({**first, "more": "x"}, "the more is another one"),
    ):
        (tmp_path / "journal").write_bytes(line_of(refused))
        with pytest.raises(UserError, match=why):
            Journal(tmp_path, SETTINGS)
    (tmp_path / "journal").write_bytes(written + line_of(["no", "entry"]))
    assert read(tmp_path) == {4: {"b": [4 / 7]}}
    (tmp_path / "journal").write_bytes(written + line_of({"target": True}))
    with pytest.raises(UserError, match="line 3 of its journal names no target"):
        Journal(tmp_path, SETTINGS)


def test_a_first_line_that_goes_on_otherwise_is_left_alone(tmp_path: Path) -> None:
    first = line_of({"run": 1, **SETTINGS, "version of indiff": __version__})
    for text in (first[:-1] + b"!", first[:-1] + b" and more of somebody else"):
        (tmp_path / "journal").write_bytes(text)
        with pytest.raises(UserError, match="is no journal of a run"):
            Journal(tmp_path, SETTINGS)
        assert (tmp_path / "journal").read_bytes() == text


def test_a_line_counts_when_it_and_its_file_s_name_are_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought: list[tuple[str, bytes]] = []
    fsync = os.fsync

    def noted(file: int) -> None:
        fsync(file)
        place = Path(os.readlink(f"/proc/self/fd/{file}"))
        brought.append((place.name, place.read_bytes() if place.is_file() else b""))

    monkeypatch.setattr(os, "fsync", noted)
    with Journal(tmp_path / "run", SETTINGS) as journal:
        assert [name for name, _ in brought] == ["run", "journal"]
        journal.append([(1, {}), (2, {})])
    assert brought[-1] == ("journal", (tmp_path / "run" / "journal").read_bytes())
    assert len(brought) == 3


def test_whoever_is_refused_or_done_keeps_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    fill(tmp_path, range(2))
    before = opened()
    with pytest.raises(UserError, match="the seed is another one"):
        Journal(tmp_path, {**SETTINGS, "seed": "1"})
    assert opened() == before
    with Journal(tmp_path, SETTINGS):
        inside = opened()
        with pytest.raises(UserError, match="in use"):
            Journal(tmp_path, SETTINGS)
        assert opened() == inside > before
    assert opened() == before

    def failing(_: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", failing)
        with pytest.raises(UserError, match=r"cannot be used \(Input/output error\)"):
            Journal(tmp_path, SETTINGS)
    assert opened() == before
    assert sorted(read(tmp_path)) == [0, 1]
