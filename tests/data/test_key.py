"""The key of fingerprints: secret, made once, and no digest that a stranger could check."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from indiff.data import key
from indiff.data.table import read_table
from indiff.errors import UserError

RECORDS = {"age": [31, 45, 52], "ill": ["flu", "flu", "HIV"]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has no key yet."""
    monkeypatch.delenv("INDIFF_KEY")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def fingerprint(last: str = "HIV") -> str:
    frame = pa.table({**RECORDS, "ill": ["flu", "flu", last]})
    return read_table(frame, quasi=["age"], sensitive="ill").fingerprint


def test_a_key_is_made_once_for_its_owner_alone(home: Path) -> None:
    place = home / "config" / "indiff" / "key"
    assert not place.exists()
    first = fingerprint()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    assert [one.name for one in place.parent.iterdir()] == ["key"]
    made = place.read_text(encoding="ascii")
    assert len(made.strip()) == 64
    assert fingerprint() == first
    assert place.read_text(encoding="ascii") == made


def test_two_users_have_different_fingerprints_of_the_same_records(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fingerprint()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "another"))
    second = fingerprint()
    assert first.partition("-")[0] != second.partition("-")[0]
    assert first.partition("-")[2] != second.partition("-")[2]
    assert key.is_own(second)
    assert not key.is_own(first)
    assert not key.is_own("0" * 64)


def test_a_guess_is_confirmed_by_the_key_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows every record but one value tries them all, with everything but the key."""
    shown = fingerprint()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "attacker"))
    guesses = [fingerprint(value) for value in ("HIV", "flu", "cold")]
    assert shown.partition("-")[2] not in [one.partition("-")[2] for one in guesses]
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("INDIFF_KEY", str(home / "config" / "indiff" / "key"))
    assert [fingerprint(value) == shown for value in ("HIV", "flu")] == [True, False]


def test_the_digest_is_hmac_by_the_text_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "k" * 40
    (tmp_path / "shared").write_text(f"{secret}\n")
    monkeypatch.setenv("INDIFF_KEY", str(tmp_path / "shared"))
    own = hmac.new(secret.encode(), b"words", hashlib.sha256).hexdigest()
    assert key.keyed("words").partition("-")[2] == own


def test_a_key_that_is_named_must_be_there_and_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INDIFF_KEY", str(tmp_path / "none"))
    with pytest.raises(UserError, match="INDIFF_KEY names a file with a key"):
        key.keyed("a")
    assert not (tmp_path / "none").exists()
    (tmp_path / "short").write_text("secret\n")
    monkeypatch.setenv("INDIFF_KEY", str(tmp_path / "short"))
    with pytest.raises(UserError, match="at least 32 characters; got 6"):
        key.keyed("a")


def test_without_a_place_a_key_lasts_as_long_as_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("INDIFF_KEY")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert key.keyed("a") == key.keyed("a")
    monkeypatch.setattr(key, "key_file", lambda: None)
    assert key.keyed("a") == key.keyed("a")


def test_many_that_make_a_key_at_once_have_the_same(home: Path) -> None:
    ask = "from indiff.data.key import keyed; print(keyed('a'))"
    running = [
        subprocess.Popen([sys.executable, "-c", ask], stdout=subprocess.PIPE, env=dict(os.environ))
        for _ in range(4)
    ]
    assert len({one.communicate(timeout=120)[0] for one in running}) == 1
