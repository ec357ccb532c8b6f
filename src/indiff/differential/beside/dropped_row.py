"""Tests one release beside its original: linkage, beliefs, and each record's row dropped."""
# ruff: noqa: PT028 - test_release is no test of this project

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.beside.linkage import Linkage, link, match_by_key, match_in_order
from indiff.differential.beside.result import ReleaseResult, Shift
from indiff.differential.path import Beliefs, from_beliefs
from indiff.differential.refit.refit import Releases, refit
from indiff.differential.result import DifferentialResult
from indiff.differential.strongest import choose_model
from indiff.differential.test import as_rows, check_testable, describe
from indiff.distances.functions import DEFAULT, Distance, Emd, bind_distance
from indiff.errors import Message, UserError, option
from indiff.inference import Frequency, Model, NaiveBayes
from indiff.inference.background import Prior, with_background
from indiff.inference.models import is_randomized_model
from indiff.release.reading import read_release, read_released
from indiff.release.release import Release
from indiff.release.repeated import repeats
from indiff.release.unmeasured import Unmeasured, broken, gaps, judge_columns, key_notes
from indiff.sanitizers.sanitizer import Identity

Floats = NDArray[np.float64]

WHY_APPROXIMATE = (
    "the dropped-row test leaves out the record's row of this one release; the differential test "
    "would leave out the record before sanitizing, which can change everybody's regions (DIT v2, "
    "Section 3.2). The true distances can be larger or smaller."
)
NO_ROWS: str = Message(
    "no row of the release is known to be a given record's; name a column that both have with "
    f"{option('key')}, or declare with {option('rows_in_order', True)} that the rows are in the "
    "original's order"
)
NONE_OWNED = "no tested record has a released row of its own, so there is none to drop"


def test_release(
    table: Table,
    release: Any,
    *,
    key: str | None = None,
    rows_in_order: bool = False,
    model: str | Model | None = None,
    distance: str | Distance | Emd = DEFAULT,
    targets: Iterable[int] | None = None,
    prior: Mapping[Any, Any] | str | Path | None = None,
    known: Sequence[str] | str | None = None,
    encoding: str | None = None,
    suppressed: Sequence[str] | str = (),
) -> Any:
    """Test one release beside its original, without its sanitizer (DIT v2, Section 3.2).

    ``release`` is a path, a frame, or a :class:`~indiff.release.release.Release`. Its cells may be
    generalized, suppressed, perturbed or synthetic, its rows fewer or more than the table's.
    Always measured: how many released rows each record could be (``linkage``), and how far the
    model's belief about it is from the shares of the sensitive values in the release
    (``shift``). Where the row of each record is known, by a column ``key`` of both or by
    ``rows_in_order=True``, also the model's belief without that row (``test``).

    Dropping i's row from f(D) is not f(D⁻ⁱ): the paper insists that the record be removed before
    sanitizing, because what is left would be sanitized differently. The result says so
    (``exactness="approximation"``): a small δ of it proves nothing about f. Several sensitive
    attributes give a mapping from their names.

    ``prior`` and ``known`` are what the adversary knows beforehand, as in
    :func:`~indiff.differential.test.differential_test`. With a ``prior`` the shift is measured
    from it instead of from the shares in the release. The linkage is by all quasi-identifiers.
    ``suppressed`` are texts that stand for a suppressed cell, as in
    :func:`~indiff.release.reading.read_release`.

    >>> import pyarrow as pa
    >>> from indiff import read_table
    >>> table = read_table(
    ...     pa.table({"Age": [28, 36, 47, 53, 72], "Gender": list("MMFMF"),
    ...               "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]}),
    ...     quasi=["Age", "Gender"], sensitive="Disease")
    >>> release = pa.table({"Age": ["[28, 36]"] * 2 + ["[47, 72]"] * 3, "Gender": list("MM***"),
    ...                     "Disease": ["Flu", "Flu", "Cancer", "Flu", "Flu"]})
    >>> found = test_release(table, release, rows_in_order=True, model="frequency")
    >>> found.linkage.candidates, found.test.distances.round(3)
    (array([2, 2, 3, 3, 3]), array([0.   , 0.   , 0.667, 0.333, 0.333]))
    >>> found.test.exactness
    'approximation'
    """
    if key is not None and rows_in_order:
        both = f"{option('key')} or by {option('rows_in_order')}"
        raise UserError(f"rows are matched by {both}, not by both; leave one.", field="key")
    options: dict[str, Any] = {
        "key": key, "rows_in_order": rows_in_order, "model": model, "distance": distance,
        "prior": prior, "known": known, "encoding": encoding, "suppressed": suppressed,
    }  # fmt: skip
    if len(table.sensitives) > 1:
        wanted = None if targets is None else list(targets)
        return {
            s.name: test_release(table.focus(s.name), release, targets=wanted, **options)
            for s in table.sensitives
        }
    start = time.perf_counter()
    check_testable(table)
    name, read, frame = _read(release, table, encoding, suppressed)
    adversary = choose_model(model, Identity())
    if is_randomized_model(adversary):
        raise UserError(
            "a release beside its original is tested with a model that is not random",
            describe(adversary),
            "Use naive-bayes, frequency, tree, logistic or knn",
            field="model",
        )
    if read.weights is not None:
        raise UserError(
            f"a release beside its original has a row for each record; {name!r} has "
            "counts in a column 'weight'",
            way_out="Repeat each row as often as it counts, or test the sanitizer of a noisy table "
            "instead",
        )
    if len(read) < 2:
        raise UserError(f"a release needs at least 2 rows to be tested; {name!r} has {len(read)}.")
    adversary, told = with_background(adversary, table, prior, known)
    measure = bind_distance(distance, table.sensitive)
    rows = as_rows(table, targets)  # in the order asked for
    beside = _Beside(table, read, rows, link(read, table, rows), adversary, measure)
    shift = beside.shift(prior)
    columns = judge_columns(read, table, key)
    notes = [*told, *_notes(read, table, beside.linkage, columns, key)]
    test, skipped = None, NO_ROWS
    if key is not None or rows_in_order:
        matched, more = (
            match_by_key(table, frame, key) if key is not None else match_in_order(table, read)
        )
        notes += [*more, *fit_notes(read, table, matched)]
        skipped = NONE_OWNED
        if (matched[rows] >= 0).any():
            test = beside.test(matched, f"release:{name}", tuple(notes), start)
    return ReleaseResult(
        name=name,
        sensitive_name=table.sensitive.name,
        model=describe(adversary),
        distance=measure[0],
        linkage=beside.linkage,
        shift=shift,
        test=test,
        skipped=None if test is not None else skipped,
        notes=tuple(notes),
        fingerprint=table.fingerprint,
        table_size=len(table),
        unmeasured=columns,
        repeated=tuple(repeats(read, table)),
        backend=table.backend,
        seconds=time.perf_counter() - start,
    )


test_release.__test__ = False  # type: ignore[attr-defined]  # nor may pytest collect it


def _read(
    release: Any, table: Table, encoding: str | None, suppressed: Sequence[str] | str
) -> tuple[str, Release, pa.Table]:
    """Return the name of a release, the release, and all its columns as they were given."""
    if isinstance(release, Release):
        return "release", release, release.to_arrow()
    frame = read_released(release, table, encoding=encoding).frame
    read = replace(read_release(frame, table, suppressed=suppressed), backend=table.backend)
    frame = frame.take(np.delete(np.arange(frame.num_rows), read.left_out))
    return Path(release).name if isinstance(release, str | Path) else "frame", read, frame


def _notes(
    release: Release, table: Table, linkage: Linkage, columns: Sequence[Unmeasured], key: str | None
) -> list[str]:
    notes = [*broken(columns), *gaps(columns), *key_notes(release, key), *release.notes]
    if len(release) > len(table):
        notes.append(f"the release has {len(release):,} rows for {len(table):,} records")
    if 2 * linkage.unlinked > len(linkage.records):
        notes.append(
            "most records are covered by no released row, as in a perturbed or synthetic release: "
            "naive-bayes and frequency see little of it; also try a model with another encoding, "
            "such as knn:encoding=Scaling-Hot"
        )
    return notes


def fit_notes(release: Release, table: Table, matched: NDArray[np.intp]) -> list[str]:
    """Say how many matched rows fit their records: few, where the match is wrong."""
    known = np.flatnonzero(matched >= 0)
    fits = np.ones(len(known), dtype=bool)
    for column in release.columns:
        codes = table.attribute(column.attribute.name).codes[known]
        fits &= column.covers_each(matched[known], codes)
    same = release.classes[matched[known]] == table.sensitive.codes[known]
    return [
        f"{len(known):,} of {len(table):,} records have a released row of their own; "
        f"{int(fits.sum()):,} of these rows cover their record, {int(same.sum()):,} have its "
        "sensitive value"
    ]


@dataclass(frozen=True, eq=False)
class _Beside:
    """A release beside its original, and who asks what about which of its records."""

    table: Table
    release: Release
    rows: NDArray[np.intp]
    linkage: Linkage
    model: Model
    measure: tuple[str, Distance]

    def shift(self, prior: Mapping[Any, Any] | str | Path | None) -> Shift:
        """Measure each belief against the prior: by default the shares of the sensitive values."""
        table, rows = self.table, self.rows
        believed = np.asarray(self.model.beliefs(self.release, table.take(rows)), np.float64)
        totals = self.release.class_totals()
        before = np.broadcast_to(totals / totals.sum(), believed.shape)
        if prior is not None:
            before = Prior.of(prior).for_records(table.sensitive.values, table.records[rows])
        columns = from_beliefs([self.measure], believed, np.ascontiguousarray(before))
        distances = columns[self.measure[0]].distances
        return Shift(distances, believed, before, table.sensitive.codes[rows])

    def test(
        self, matched: NDArray[np.intp], sanitizer: str, notes: tuple[str, ...], start: float
    ) -> DifferentialResult:
        """Measure the belief about each record with and without its released row."""
        table, rows, name = self.table, self.rows, self.measure[0]
        owned = rows[matched[rows] >= 0]
        if len(owned) < len(rows):
            missing = len(rows) - len(owned)
            notes = (*notes, f"{missing:,} records have no released row to drop: not measured")
        if len(owned) < len(table):
            notes = (
                *notes,
                f"{len(owned):,} of {len(table):,} records were measured: the largest of their "
                "distances is a lower bound on that of all",
            )
        beliefs = self._beliefs(matched, owned)
        column = from_beliefs([self.measure], beliefs.with_record, beliefs.without)[name]
        return DifferentialResult(
            distances=column.distances,
            beliefs=beliefs.with_record,
            beliefs_without=beliefs.without,
            records=table.records[beliefs.rows],
            classes=table.sensitive.codes[beliefs.rows],
            sensitive_name=table.sensitive.name,
            sensitive_values=table.sensitive.values,
            sanitizer=sanitizer,
            model=describe(self.model),
            distance=name,
            method="dropped-row",
            exactness="approximation",
            table_size=len(table),
            fingerprint=table.fingerprint,
            uncovered=int(beliefs.uncovered.sum()),
            uncovered_without=int(beliefs.uncovered_without.sum()),
            dropped=table.dropped,
            requested=len(owned),
            seconds=time.perf_counter() - start,
            backend=table.backend,
            notes=(*table.notes, *notes, WHY_APPROXIMATE),
            largest=column.largest,
        )

    def _beliefs(self, matched: NDArray[np.intp], owned: NDArray[np.intp]) -> Beliefs:
        """Return the beliefs with and without each row, from counts where those are enough."""
        table, release, model = self.table, self.release, self.model
        if not isinstance(model, NaiveBayes | Frequency):
            done = _Done(replace(release, unread=None), tuple(matched.tolist()))
            return refit(table, done, model, owned, source=_Dropped)
        size, columns = len(release.sensitive_values), release.columns
        codes = [table.attribute(column.attribute.name).codes[owned] for column in columns]
        own, classes = matched[owned], release.classes[matched[owned]]
        one = np.eye(size)[classes]
        inside = np.stack(
            [c.covers_each(own, code) for c, code in zip(columns, codes, strict=True)]
        )
        place = np.flatnonzero(matched[self.rows] >= 0)
        candidates = self.linkage.candidates[place]
        inside_all: NDArray[np.bool_] = np.asarray(inside.all(axis=0))
        left = candidates - inside_all
        totals = release.class_totals()
        if isinstance(model, NaiveBayes):
            counts = np.empty((len(owned), len(columns), size))
            for spot, (column, code) in enumerate(zip(columns, codes, strict=True)):
                counts[:, spot] = column.cover_counts(release.classes, size, None)[code]
            believed = model.from_counts(totals, counts)
            fewer = counts - inside.T[:, :, None] * one[:, None, :]
            without = np.empty_like(believed)
            for value in np.unique(classes):
                chosen = classes == value
                remaining = totals - (np.arange(size) == value)
                without[chosen] = model.from_counts(remaining, fewer[chosen])
        else:
            believed = self.linkage.shares[place]
            fewer = np.rint(believed * candidates[:, None]) - inside_all[:, None] * one
            shares = np.where((left > 0)[:, None], fewer, totals - one)
            without = shares / shares.sum(axis=1, keepdims=True)
        nothing = np.zeros(len(owned), dtype=bool)
        return Beliefs(owned, believed, without, candidates == 0, left == 0, nothing, None, release)


@dataclass(frozen=True, eq=False)
class _Done:
    """A sanitizer that has run already: its one release, and the row of each row of the table."""

    release: Release = field(repr=False)
    matched: tuple[int, ...] = field(repr=False)
    randomized: ClassVar[bool] = False
    per_record: ClassVar[bool] = True

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        return self.release


class _Dropped(Releases):
    """The release without the row of a record."""

    def without(self, row: int) -> Release:
        return drop_rows(self.sanitizer.release, [self.sanitizer.matched[row]])


def drop_rows(release: Release, rows: Sequence[int]) -> Release:
    """Return a release without some of its rows."""
    keep = np.delete(np.arange(len(release)), rows)
    return replace(
        release,
        columns=tuple(replace(c, index=c.index[keep]) for c in release.columns),
        classes=release.classes[keep],
        weights=None if release.weights is None else release.weights[keep],
        groups=None if release.groups is None else release.groups[keep],
        kept=None if release.kept is None else release.kept.take(pa.array(keep)),
        unread=None if release.unread is None else release.unread.take(pa.array(keep)),
    )
