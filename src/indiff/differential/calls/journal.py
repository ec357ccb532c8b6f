"""Keeps every finished target of a run on disk at once, so that a killed run can go on.

The folder holds one file, ``journal``: a line with the run's settings, then one line for each
finished target. A line is a checksum, a blank, and JSON; numbers are written so that they read
back bit by bit. A line counts once its end is on disk; a torn last line is cut off.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from indiff.errors import UserError
from indiff.systems import BINARY, lock, sync_names
from indiff.version import __version__

FORMAT = 1
NAME = "journal"
_DIGITS = 16  # of the checksum, in hexadecimal


class Journal:
    """The open journal of one run: what was finished before, and where to note what is next.

    One process at a time may have it open. The entries are by name, the record number of the
    target; a later entry of the same target replaces an earlier one.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Journal(folder, {"seed": "0"}) as journal:
    ...         journal.append([(7, {"belief": [0.25, 0.75]})])
    ...     with Journal(folder, {"seed": "0"}) as journal:
    ...         dict(journal.take())
    {7: {'belief': [0.25, 0.75]}}
    """

    def __init__(self, folder: str | Path, settings: Mapping[str, str]) -> None:
        self.folder = Path(folder)
        self._entries: dict[int, bytes] = {}
        with _usable(self.folder):
            self._file = _open(self.folder)
            try:
                self._continue({**settings, "version of indiff": __version__})
            except BaseException:
                os.close(self._file)
                raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)  # and with it the lock

    def append(self, entries: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
        """Write the outcomes of some targets, and return once they are on disk."""
        with _usable(self.folder):
            self._write([{"target": name, **entry} for name, entry in entries])

    def take(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Hand over what was finished before, target by target, and let go of it."""
        while self._entries:
            name, line = self._entries.popitem()
            content = json.loads(line[_DIGITS + 1 :])
            del content["target"]
            yield name, content

    def understood(self, name: int, read: Callable[[], Any]) -> Any:
        """Return what an entry means to the test; refuse one that no test wrote."""
        try:
            return read()
        except UserError:
            raise
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            raise self._damaged(f"what it has of target {name:,} is no result") from None

    def _damaged(self, how: str) -> UserError:
        return UserError(
            f"the run in {str(self.folder)!r} is damaged: {how}",
            way_out="Start anew in another folder",
            field="run",
        )

    def _write(self, contents: Sequence[Mapping[str, Any]]) -> None:
        data = b"".join(map(_line, contents))
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except BaseException:  # a full disk, an interruption: no later line may follow a torn one
            os.ftruncate(self._file, end)
            raise

    def _continue(self, settings: dict[str, str]) -> None:
        """Read what is there, cut off a torn end, and refuse another run's folder."""
        good = 0  # how many bytes can be trusted
        begun = False
        bad_line = None
        for number, line in enumerate(_lines(self._file), 1):
            content = _content(line)
            if content is None:
                bad_line = bad_line or number
                continue
            if bad_line is not None:
                raise self._damaged(
                    f"line {bad_line:,} of its journal does not match its checksum, and later "
                    "ones do"
                )
            if not begun:
                self._compare(content, settings)
                begun = True
            elif type(content.get("target")) is int:
                self._entries[content["target"]] = line
            else:
                raise self._damaged(f"line {number:,} of its journal names no target")
            good += len(line)
        first = {"run": FORMAT, **settings}
        if not begun:
            self._check_unused(_line(first))
        os.ftruncate(self._file, good)
        if not begun:
            self._write([first])

    def _check_unused(self, first: bytes) -> None:
        """Refuse a file that is not the torn beginning of this journal."""
        os.lseek(self._file, 0, os.SEEK_SET)
        if not first.startswith(os.read(self._file, len(first) + 1)):
            raise _foreign(self.folder / NAME)

    def _compare(self, found: dict[str, Any], settings: dict[str, str]) -> None:
        if found.pop("run", None) != FORMAT:
            raise UserError(
                f"the run in {str(self.folder)!r} has a format that indiff {__version__} cannot "
                "read; use the version that began it, or another folder.",
                field="run",
            )
        # What explains another difference comes first: another table is never the same prior.
        for name in dict.fromkeys([*settings, *found]):
            if found.get(name) != settings.get(name):
                raise UserError(
                    f"a run goes on with the same settings; the {name} is another one than "
                    f"when the run in {str(self.folder)!r} began",
                    way_out=f"Use the same {name}, or another folder",
                    field="run",
                )


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Say what the system has against a folder; what was finished before stays in it."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"the run folder {str(folder)!r} cannot be used ({error.strerror})",
            way_out="See to that, and the same command goes on, or name another folder",
            field="run",
        ) from None


def _open(folder: Path) -> int:
    """Open the journal for its owner alone, and lock it against other processes."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / NAME
    if os.path.lexists(place) and not stat.S_ISREG(os.lstat(place).st_mode):
        raise _foreign(place)  # a pipe would be waited for, a link leads out of the folder
    file = os.open(place, os.O_RDWR | os.O_CREAT | BINARY, 0o600)
    try:
        if not lock(file):
            raise UserError(
                f"the run in {str(folder)!r} is in use by another process; wait for it, or name "
                "another folder.",
                field="run",
            )
        sync_names(folder)
    except BaseException:
        os.close(file)
        raise
    return file


def _foreign(place: Path) -> UserError:
    return UserError(f"{str(place)!r} is no journal of a run; name another folder.", field="run")


def _line(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, separators=(",", ":")).encode()
    return _checksum(text) + b" " + text + b"\n"


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=_DIGITS // 2).hexdigest().encode()


def _lines(file: int) -> Iterator[bytes]:
    os.lseek(file, 0, os.SEEK_SET)
    with os.fdopen(os.dup(file), "rb") as stream:
        yield from stream


def _content(line: bytes) -> dict[str, Any] | None:
    """Return what a line says, or None where it is torn or damaged."""
    text = line[_DIGITS + 1 : -1]
    if not line.endswith(b"\n") or line[: _DIGITS + 1] != _checksum(text) + b" ":
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
