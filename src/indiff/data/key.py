"""Makes digests of data that only the owner of a secret key can check.

Whoever knows a table but for one value could try every value and compare a plain digest of it: a
report that is shared would confirm the guess. With a key that stays with the table's owner, the
digest still tells the owner whether two results are of the same records, and others nothing.
"""

from __future__ import annotations

import hmac
import os
import secrets
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from indiff.errors import UserError
from indiff.temporary import temporary_prefix

VARIABLE = "INDIFF_KEY"
"""The environment's name for another file with a key, such as one that colleagues share."""

_SHORTEST = 32


def keyed(text: str) -> str:
    """Return the name of the key in use and, behind a dash, HMAC-SHA-256 of a text by it.

    >>> keyed("a") == keyed("a"), keyed("a") == keyed("b")
    (True, False)
    >>> keyed("a").partition("-")[0] == key_name()
    True
    """
    return f"{key_name()}-{_digest(text)}"


def key_name() -> str:
    """Return eight digits by which keys are told apart; they tell nothing about the key."""
    return _digest("the name of this key")[:8]


def is_own(digest: str) -> bool:
    """Tell whether a digest was made with the key in use, so that it can be checked."""
    return digest.partition("-")[0] == key_name()


def _digest(text: str) -> str:
    return hmac.new(_key(), text.encode(), "sha256").hexdigest()


def key_file() -> Path | None:
    """Return where the key of this user is kept; None for a user who has no folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return None if base.startswith("~") else Path(base) / "indiff" / "key"


def _key() -> bytes:
    place = key_file()
    return _key_in(place, place is not None and VARIABLE in os.environ)


@cache
def _key_in(place: Path | None, named: bool) -> bytes:
    """Return the key in a file, made if it is not there; one of this process where none can be."""
    if place is None:
        return secrets.token_hex(_SHORTEST).encode()
    if not named:
        with suppress(OSError):  # a folder that cannot be written
            _make(place)
    try:
        found = place.read_bytes().strip()
    except OSError as error:
        if named:
            raise UserError(
                f"{VARIABLE} names a file with a key", f"{str(place)!r} ({error.strerror})"
            ) from None
        return _key_in(None, False)
    if len(found) < _SHORTEST:
        raise UserError(
            f"a key for fingerprints has at least {_SHORTEST} characters",
            f"{len(found)} in {str(place)!r}",
            "Put a longer one there, or remove the file: another is made",
        )
    return found


def _make(place: Path) -> None:
    """Make a key, for its owner alone, unless there is one: of two that make it one prevails."""
    if place.exists():
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{temporary_prefix()}", dir=place.parent)
    try:
        with os.fdopen(descriptor, "w") as handle:
            handle.write(f"{secrets.token_hex(_SHORTEST)}\n")
            handle.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(name, place)
    finally:
        os.unlink(name)
