"""Releases that were made already: f(D), and f(D⁻ⁱ) for each record i, as files in a folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from indiff.data.schema import Kind
from indiff.data.table import Table
from indiff.errors import UserError
from indiff.release.release import Release
from indiff.sanitizers.oracles.function import BlackBox, OracleFailed, read_returned

ENDINGS = (".csv", ".tsv", ".parquet")
_NAMED = 12  # records in a file's name


@dataclass(frozen=True)
class Releases(BlackBox):
    """A folder with ``release.csv`` and ``without-<record>.csv`` for each target.

    Files end in ``.csv``, ``.tsv`` or ``.parquet``. A record is its position in the input, from 0
    and before anything is dropped; without several records (all of one person's) the file is
    ``without-3-7-12.csv``. A target without a file cannot be tested and is an error of its own.

    Each file must come from one run of the same sanitizer, and one that is not random: nothing
    here can tell a record's influence from that of chance. Of a random one there are many runs, in
    folders ``release`` and ``without-<record>``, each file a run of its own under any name; those
    are read by :func:`~indiff.test_claim` and :func:`~indiff.infer_membership`.

    >>> import pyarrow as pa, tempfile
    >>> from indiff import differential_test, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> with tempfile.TemporaryDirectory() as name:
    ...     for file, ill in {"release": "no yes no", "without-0": "yes no"}.items():
    ...         rows = "\\n".join(f"*,{value}" for value in ill.split())
    ...         _ = Path(name, f"{file}.csv").write_text(f"age,ill\\n{rows}\\n")
    ...     result = differential_test(table, Releases(name), targets=[0], model="frequency")
    >>> result.distances.round(4)
    array([0.3333])
    """

    folder: str
    randomized: ClassVar[bool] = False

    def __post_init__(self) -> None:
        folder = os.path.abspath(os.path.expanduser(os.fspath(self.folder)))
        object.__setattr__(self, "folder", folder)
        if not os.path.isdir(folder):
            raise UserError(f"releases are in a folder; there is no folder {folder!r}.")
        if not self.runs():
            self._file()

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the release of the whole table; :meth:`evidence` has those of the others.

        Of many runs it is that of all of them.
        """
        return self._of_all_runs if self.runs() else self.evidence(())

    @cached_property
    def _sides(self) -> dict[str, list[Path]]:
        """The files of many runs, in the order of their names, by the folder that they are in."""
        named = [*Path(self.folder).glob("release"), *Path(self.folder).glob("without-*")]
        return {side.name: _files(side) for side in sorted(named) if side.is_dir()}

    @cached_property
    def _of_all_runs(self) -> str:
        digest = hashlib.sha256()
        for file in chain.from_iterable(self._sides.values()):
            told = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.parent.name}/{file.name} {told}\n".encode())
        return digest.hexdigest()

    def __str__(self) -> str:
        return f"releases:{self.folder}"

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Read the release of the table, told by the records that it lacks."""
        if self.runs():
            raise OracleFailed(
                f"one release is read where there is one; {str(self)!r} has runs of a random "
                "sanitizer. Test a claim with them, or in Python members with infer_membership."
            )
        return read_returned(self._file(_absent(table)), table, str(self))

    def runs(self, absent: Sequence[int] = ()) -> list[Path]:
        """Return the files of the runs without these records, in the order of their names."""
        return self._sides.get(_stem(sorted(absent)), [])

    def read_run(self, table: Table, run: int) -> Release:
        """Read one run of the table, told by the records that it lacks."""
        absent = _absent(table)
        files = self.runs(absent)
        if run >= len(files):
            raise OracleFailed(
                f"a run is a file of its own; {str(self)!r} has {len(files):,} in "
                f"{_stem(absent)!r}, and no run {run:,}."
            )
        return read_returned(files[run], table, str(self))

    def evidence(self, records: Sequence[int]) -> str:
        """SHA-256 of the release without these records."""
        return hashlib.sha256(self._file(sorted(records)).read_bytes()).hexdigest()

    def _file(self, absent: Sequence[int] = ()) -> Path:
        stem, what = _stem(absent), "the release of the whole table"
        if absent:
            numbers = stem.removeprefix("without-").replace("-", ", ")
            what = f"the release without record{'s' if len(absent) > 1 else ''} {numbers}"
        found = [path for end in ENDINGS if (path := Path(self.folder, stem + end)).is_file()]
        if len(found) == 1:
            return found[0]
        if found:
            raise OracleFailed(
                f"{what} must be one file; {self.folder!r} has "
                f"{' and '.join(path.name for path in found)}. Remove all but one."
            )
        raise OracleFailed(
            f"{what} must be in the folder; {self.folder!r} has no {stem}.csv, .tsv or .parquet. "
            "Add it, or name only targets that have one."
        )


def _stem(absent: Sequence[int]) -> str:
    """Return how the files or the folder of releases without these records are called."""
    if not absent:
        return "release"
    return f"without-{'-'.join(map(str, absent[:_NAMED]))}{'-…' * (len(absent) > _NAMED)}"


def _files(side: Path) -> list[Path]:
    return sorted(path for path in side.iterdir() if path.suffix in ENDINGS and path.is_file())


def _absent(table: Table) -> list[int]:
    """Return the records of the input that a table lacks, but for those that reading dropped."""
    there = np.zeros(table.source.num_rows, dtype=bool)
    there[table.records] = True
    if table.dropped:
        for attribute in table.attributes:
            if attribute.kind != Kind.CATEGORICAL:
                there |= np.asarray(table.source[attribute.name].is_null().to_numpy())
    return [int(record) for record in np.flatnonzero(~there)]
