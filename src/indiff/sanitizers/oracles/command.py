"""Oracles that are programs: any command that reads a table from a file and writes a release."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.random import Generator

from indiff.data.table import Table
from indiff.errors import UserError, marked, reason_of, said
from indiff.files import write_frame
from indiff.release.release import Release
from indiff.sanitizers.oracles.child_process import Ended, run_program
from indiff.sanitizers.oracles.function import BlackBox, OracleFailed, read_returned
from indiff.temporary import private_folder

Format = Literal["csv", "parquet"]
FORMATS = ("csv", "parquet")
TIMEOUT = 600.0
_LARGEST_SCRIPT = 1 << 24
_PLACE = re.compile(r"\{(input|output|seed)(?:\.(\w+))?\}")


@dataclass(frozen=True)
class Command(BlackBox):
    """A program that reads the table from ``{input}`` and writes its release to ``{output}``.

    ``command`` is one text, split like a shell would but never run by one unless ``shell=True``,
    or a list of arguments. The files are CSV, or Parquet with ``format="parquet"``;
    ``{input.parquet}`` and ``{output.csv}`` choose for one of them. They lie in a new temporary
    folder that only its owner can read (also the program's ``TMPDIR``) and are removed after the
    call, with every process that the program left running. It runs in ``folder``: the current
    one by default. A ``{seed}`` makes it a randomized sanitizer that takes its seed from us.

    On the command line it is written ``command:./anonymize.sh {input} {output}``, with
    another time limit ``command(timeout=60):…``, and through a shell ``shell:… > {output}``.

    >>> from indiff import read_table
    >>> import pyarrow as pa
    >>> table = read_table(pa.table({"age": [28, 36], "ill": ["no", "yes"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> copy = Command("cp {input} {output}")
    >>> copy.sanitize(table).to_frame()["age"].to_pylist()
    ['28', '36']
    >>> str(copy)
    'command:cp {input} {output}'
    """

    command: str | Sequence[object]
    timeout: float = TIMEOUT
    format: Format = "csv"
    shell: bool = False
    folder: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.command, str):
            if self.shell:
                rule, got = "a shell reads one text, not a list", f"{list(self.command)!r}"
                raise UserError(rule, got, "Write it as one text, or leave shell=True out")
            object.__setattr__(self, "command", " ".join(map(_quoted, self.command)))
        object.__setattr__(self, "folder", os.path.abspath(self.folder))
        timeout = self.timeout
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise UserError("timeout must be a number of seconds above 0", f"{timeout!r}")
        if self.format not in FORMATS:
            raise UserError("format must be 'csv' or 'parquet'", f"{self.format!r}")
        for kind in ("input", "output"):
            if not self._has(kind):
                rule = f"a command needs {{{kind}}} where the name of its {kind} file goes"
                way_out = "Write for example './anonymize.sh {input} {output}'"
                raise UserError(rule, f"{self._text!r}", way_out)
        for found in _PLACE.finditer(self._text):
            if found[2] is not None and (found[1] == "seed" or found[2] not in FORMATS):
                raise UserError(
                    "a command's files are {input} and {output}, with .csv or .parquet if need be",
                    f"{found[0]!r}",
                )
        if not self.shell:
            self._check_program()

    @property
    def _text(self) -> str:
        assert isinstance(self.command, str)
        return self.command

    def _has(self, kind: str) -> bool:
        return any(found[1] == kind for found in _PLACE.finditer(self._text))

    @property
    def randomized(self) -> bool:
        """Whether the command takes a seed."""
        return self._has("seed")

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the files that the command names, such as its script: changed, it is another.

        What these files read or call in turn, and programs on the PATH, are not looked at.
        """
        digest = hashlib.sha256()
        for word in self._text.split() if self.shell else self._words():
            file = Path(self.folder, word)
            try:
                if file.is_file() and file.stat().st_size <= _LARGEST_SCRIPT:
                    digest.update(hashlib.sha256(file.read_bytes()).digest())
            except (OSError, ValueError):  # no name of a file, or one that may only be executed
                continue
        return digest.hexdigest()

    def __str__(self) -> str:
        limit = [] if self.timeout == TIMEOUT else [f"timeout={self.timeout:g}"]
        kind = [] if self.format == "csv" else [f"format={self.format}"]
        chosen = f"({','.join(limit + kind)})" if limit + kind else ""
        return f"{'shell' if self.shell else 'command'}{chosen}:{self._text}"

    def _words(self) -> list[str]:
        try:
            return shlex.split(self._text)
        except ValueError as error:
            raise UserError(
                "a command is split at blanks outside quotes, and every quote must be closed",
                f"{self._text!r} ({reason_of(error)})",
            ) from None

    def _check_program(self) -> None:
        program = self._words()[0]
        place = os.path.join(self.folder, program) if os.sep in program else program
        if shutil.which(place) is not None:
            return
        if os.path.isfile(place):
            raise UserError(
                f"a command must be a program; {program!r} is a file that cannot be executed",
                way_out=f"Make it one with chmod +x, or name what runs it: 'python3 {program} …'",
            )
        raise UserError(
            f"a command must be a program; there is no {program!r} "
            f"{f'in {self.folder!r}' if os.sep in program else 'in the folders of PATH'}",
            way_out="Check its name",
        )

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Write the table, run the program and read what it wrote."""
        seed = 0
        if self.randomized:
            generator = np.random.default_rng() if rng is None else rng
            seed = int(generator.integers(2**31))
        with private_folder() as room:
            places = self._places(room, seed)
            for place in {places[f[0]] for f in _PLACE.finditer(self._text) if f[1] == "input"}:
                write_frame(table.frame(), place, lasting=False)
            ended = self._run(places, room)
            if ended.code != 0:
                raise OracleFailed(self._complaint(ended, table))
            return self._read(places, table)

    def _places(self, room: Path, seed: int) -> dict[str, str]:
        """Return what each placeholder stands for in this call."""
        return {
            found[0]: str(seed)
            if found[1] == "seed"
            else str(room / f"{found[1]}.{found[2] or self.format}")
            for found in _PLACE.finditer(self._text)
        }

    def _run(self, places: Mapping[str, str], room: Path) -> Ended:
        def fill(text: str, quote: Any) -> str:
            return _PLACE.sub(lambda found: quote(places[found[0]]), text)

        if self.shell:
            arguments = ["/bin/sh", "-c", fill(self._text, shlex.quote)]
        else:
            arguments = [fill(word, str) for word in self._words()]
        environment = {**os.environ, "TMPDIR": str(room)}
        try:
            return run_program(
                arguments, folder=self.folder, environment=environment, timeout=self.timeout
            )
        except OSError as error:
            raise OracleFailed(
                f"a command must be a program that can be started in {self.folder!r}; "
                f"{str(self)!r} cannot ({error.strerror}). Check its name, its first line and "
                "its permissions."
            ) from None

    def _complaint(self, ended: Ended, table: Table) -> str:
        last = f": {said(f'…{ended.words[-500:]}')}" if ended.words else " nothing."
        complaint = f" It said{last}"
        if ended.code is None:
            return (
                f"a command must end in time; {str(self)!r} was stopped after {self.timeout:g} "
                f"seconds on {len(table):,} records. Give it longer: timeout=1200, or "
                f"command(timeout=1200):… on the command line.{complaint}"
            )
        how = f"with code {ended.code}" if ended.code > 0 else f"by signal {-ended.code}"
        return (
            f"a command must end with code 0; {str(self)!r} ended {how} on {len(table):,} "
            f"records.{complaint}"
        )

    def _read(self, places: Mapping[str, str], table: Table) -> Release:
        written = {places[f[0]] for f in _PLACE.finditer(self._text) if f[1] == "output"}
        found = [Path(place) for place in sorted(written) if Path(place).is_file()]
        if len(found) != 1 or not found[0].stat().st_size:
            wrote = "an empty one" if found and len(found) == 1 else f"{len(found)} of them"
            raise OracleFailed(
                f"a command must write one release to {{output}}; {str(self)!r} ended with code 0 "
                f"and wrote {wrote} for {len(table):,} records. Run it by hand on a table."
            )
        try:
            return read_returned(found[0], table, str(self))
        except OracleFailed as error:  # where the file lay means nothing to anybody
            raise OracleFailed(marked(error).replace(repr(str(found[0])), "its file")) from None


def _quoted(word: object) -> str:
    text = os.fspath(word) if isinstance(word, os.PathLike) else str(word)
    return text if re.fullmatch(r"[\w@%+=:,./{}-]+", text) else shlex.quote(text)


def parse_command(name: str, options: str, text: str) -> Command:
    """Return the command of ``command(options):text`` or ``shell(options):text``.

    >>> parse_command("shell", "timeout=60", "cat {input} > {output}").timeout
    60.0
    """
    chosen: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in options.split(","))):
        key, sign, value = part.partition("=")
        if key not in ("timeout", "format") or not sign:
            rule = f"a {name} takes timeout=SECONDS and format=csv or parquet"
            raise UserError(rule, f"{part!r}", f"Write {name}(timeout=60):{text or '…'}")
        chosen[key] = value
    with contextlib.suppress(KeyError, ValueError):  # the command refuses what is no number
        timeout = float(chosen["timeout"])
        chosen["timeout"] = chosen["timeout"] if math.isnan(timeout) else timeout
    return Command(text.strip(), shell=name == "shell", **chosen)
