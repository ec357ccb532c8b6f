"""Tests several releases of the same people: what each record's candidate rows leave together."""
# ruff: noqa: PT028 - test_releases is no test of this project

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.beside.differences import small_differences
from indiff.differential.beside.intersection import MOST, Folded, fold_release, intersect
from indiff.differential.beside.linkage import match_by_key
from indiff.differential.beside.several_result import Considered, SeveralResult
from indiff.differential.people import as_rows
from indiff.errors import UserError, check_whole, unknown
from indiff.release.reading import read_release, read_released
from indiff.release.release import Release
from indiff.release.repeated import repeats
from indiff.release.unmeasured import broken, gaps, judge_columns, key_notes


def test_releases(
    table: Table,
    releases: Sequence[Any],
    *,
    key: str | None = None,
    targets: Iterable[int] | None = None,
    encoding: str | None = None,
    suppressed: Sequence[str] | str = (),
    k: int = 5,
) -> Any:
    """Test what several releases of the same people tell together about each record.

    Each release is a path, a frame, or a :class:`~indiff.release.release.Release`. It may lack some
    of the table's quasi-identifiers; the record is then looked up by the others. Per record and
    release the candidates are the rows whose regions cover it. What the releases leave possible
    together is the intersection of the sensitive values that the candidates hold, release by
    release: the intersection attack of Ganta, Kasiviswanathan and Smith (KDD 2008, Section 3).
    Nothing is sampled or estimated. The numbers come in the order of the releases, so that they
    show what each one adds.

    A release in which a record has no candidate says nothing about it. With a ``key``, a column of
    the table and of every release, a record is looked up only where it has a row: releases of
    other people change nothing. Without, the adversary is taken to know that the record is in every
    release that covers it.

    A determined record is one of which only its own sensitive value is left. That nobody is
    determined proves little: two values that are left, one of them rare, tell nearly as much, and
    rows that the adversary can tell apart by more than their regions leave less.

    Where two releases show a group with the same regions and differ in it by some but fewer than
    ``k`` rows, whoever knows who was added or left reads off their values (``differences``).

    Several sensitive attributes give a mapping from their names.

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> table = read_table(
    ...     pa.table({"age": [25, 35, 45, 55], "ill": ["flu", "cancer", "flu", "cold"]}),
    ...     quasi=["age"], sensitive="ill")
    >>> first = pa.table({"age": ["20-39", "20-39", "40-59", "40-59"], "ill": table.source["ill"]})
    >>> second = pa.table({"age": ["20-29", "30-49", "30-49", "50-59"], "ill": table.source["ill"]})
    >>> found = test_releases(table, [first, second.slice(1, 2)])
    >>> found.candidates.tolist()
    [[2, 0], [2, 2], [2, 2], [2, 0]]
    >>> found.everything.possible[:, 1].tolist(), found.everything.determined[:, 1].tolist()
    ([2, 2, 1, 2], [False, False, True, False])
    """
    if not 1 <= len(releases) <= MOST:
        rule = f"releases are tested together from 1 to {MOST}"
        raise UserError(rule, len(releases), field="release")
    if len(table.sensitives) > 1:
        options: dict[str, Any] = {
            "key": key,
            "encoding": encoding,
            "suppressed": suppressed,
            "k": k,
        }
        wanted = None if targets is None else list(targets)
        return {
            s.name: test_releases(table.focus(s.name), releases, targets=wanted, **options)
            for s in table.sensitives
        }
    check_whole("k", k, 1)
    start = time.perf_counter()
    rows = as_rows(table, targets)
    names = _names(releases)
    folded: list[Folded] = []
    considered: list[Considered] = []
    present = np.ones((len(table), len(releases)), np.bool_)
    for place, (name, release) in enumerate(zip(names, releases, strict=True)):
        try:
            read, frame = _read(release, table, encoding, suppressed)
        except UserError as error:
            rule = f"{name!r}: {error.rule}"
            raise UserError(rule, error.got, error.way_out, field=error.field) from None
        if key is not None:
            present[:, place] = match_by_key(table, frame, key)[0] >= 0
        considered.append(_consider(name, read, table, key))
        folded.append(fold_release(read, table))
    candidates, everything, closest = intersect(table.take(rows), folded, present[rows])
    return SeveralResult(
        sensitive_name=table.sensitive.name,
        records=table.records[rows],
        considered=tuple(considered),
        candidates=candidates,
        everything=everything,
        closest=closest,
        differences=small_differences(names, folded, k),
        fingerprint=table.fingerprint,
        table_size=len(table),
        backend=table.backend,
        seconds=time.perf_counter() - start,
    )


test_releases.__test__ = False  # type: ignore[attr-defined]  # nor may pytest collect it


def _names(releases: Sequence[Any]) -> list[str]:
    """Name files by their last part, or by all where two are called alike; frames by number."""
    names = [
        Path(one).name if isinstance(one, str | Path) else f"release {place + 1}"
        for place, one in enumerate(releases)
    ]
    return [
        str(one) if isinstance(one, str | Path) and names.count(name) > 1 else name
        for one, name in zip(releases, names, strict=True)
    ]


def _read(
    release: Any, table: Table, encoding: str | None, suppressed: Sequence[str] | str
) -> tuple[Release, pa.Table]:
    """Return one release, read by the quasi-identifiers that it has, and all its columns."""
    if isinstance(release, Release):
        if release.sensitive_values != table.sensitive.values:
            raise UserError(
                "a release is of the table that it is tested beside",
                f"one of other values of {release.sensitive_name!r}",
                "Make it from this table and this sensitive attribute",
                field="release",
            )
        read, frame = release, release.to_arrow()
    else:
        frame = read_released(release, table, encoding=encoding).frame
        held = tuple(a for a in table.attributes if a.name in frame.column_names)
        if not held:
            raise unknown("quasi-identifier", table.attributes[0].name, frame.column_names)
        view = replace(table, attributes=held)
        read = read_release(frame, view, suppressed=suppressed, others=True)
        kept: NDArray[np.intp] = np.delete(np.arange(frame.num_rows), read.left_out)
        frame = frame.take(pa.array(kept))
    if read.weights is not None:
        raise UserError(
            "releases are compared row by row; it has counts in a column 'weight'",
            way_out="Repeat each row as often as it counts, or test the sanitizers of noisy tables "
            "together instead",
            field="release",
        )
    return read, frame


def _consider(name: str, release: Release, table: Table, key: str | None) -> Considered:
    """Say what is known of one release by itself."""
    columns = judge_columns(release, table, key)
    shown = [column.attribute.name for column in release.columns]
    lacking = [a.name for a in table.attributes if a.name not in shown]
    notes = [*broken(columns), *gaps(columns), *key_notes(release, key), *release.notes]
    if lacking:
        notes.append(f"it has no {', '.join(map(repr, lacking))}: records are looked up without")
    strangers = int((release.classes == len(table.sensitive.values)).sum())
    if strangers:
        notes.append(
            f"{strangers:,} of its rows hold a value of {table.sensitive.name!r} that no record of "
            "the table has: rows of other people"
        )
    return Considered(
        name, len(release), tuple(shown), tuple(notes), tuple(columns),
        tuple(repeats(release, replace(table, attributes=tuple(map(table.attribute, shown))))),
    )  # fmt: skip
