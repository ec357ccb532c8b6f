"""The analyst: how well a release teaches to predict records that were not in it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.coding import code_sensitive, domain_part
from indiff.data.schema import Kind, Role
from indiff.data.table import Table
from indiff.errors import UserError, unknown
from indiff.inference.encodings import Encoding, distinct_rows
from indiff.release.release import Release, ReleasedColumn
from indiff.sanitizers.mondrian.mondrian import Mondrian
from indiff.sanitizers.perturbation.mdav import Mdav
from indiff.sanitizers.perturbation.perturbed import Perturbed
from indiff.sanitizers.recoding.recoding import Recoding
from indiff.sanitizers.sanitizer import Identity, Sanitizer, Suppress, as_sanitizer

ENCODING = Encoding("QuantilesA", "Hot")
MODEL = f"logistic regression, {ENCODING}, each cell spread evenly over what it covers"
HELD_OUT = 0.3
MOST_CLASSES = 50
MOST_ROWS = 20_000
MOST_PLACES = 100
ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Analyst:
    """A legitimate analyst who learns to predict a column from a release.

    The records are split once, by ``seed``: a classifier trains on the *release* of 70 % of them
    and predicts the original records of the other 30 %, beside one trained on the original
    records and beside the most frequent value. ``task`` is the column to predict: the sensitive
    attribute (by default), a quasi-identifier, or a column of role ``other`` (which the release is
    then assumed to keep). Predictors are the quasi-identifiers, without the task.

    The classifier is one for all releases: logistic regression on DIT v1's encodings QuantilesA
    and Hot, a generalized cell spread evenly over what it covers. Another model may keep more; a
    high accuracy does not say that estimates of other quantities are right. A randomized
    sanitizer is asked for one release, drawn by ``seed``. ``removed`` are record numbers that the
    release lacks: they teach nothing, and are predicted all the same if they are held out.

    >>> from indiff import datasets
    >>> analyst = Analyst(datasets.demo_table(), task="sex")
    >>> analyst.accuracy("identity") == analyst.original
    True
    >>> analyst.accuracy("suppress") == analyst.majority
    True
    """

    table: Table
    task: str | None = None
    seed: int = 0
    removed: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.table) < 10:
            raise UserError(
                f"an analyst's accuracy needs at least 10 records; the table has {len(self.table)}."
            )
        if not self._predictors:
            raise UserError(
                f"an analyst predicts {self.predicted!r} from the other "
                "quasi-identifiers, and there is none",
                way_out="Choose another task",
            )
        _ = self._labels

    @property
    def predicted(self) -> str:
        """The column that is predicted."""
        return self.table.sensitive.name if self.task is None else self.task

    @property
    def _predictors(self) -> list[str]:
        return [a.name for a in self.table.attributes if a.name != self.predicted]

    @cached_property
    def _labels(self) -> tuple[NDArray[np.int32], int]:
        """Each record's class, and how many classes there are."""
        sensitive = self.table.sensitive
        if self.predicted == sensitive.name:
            return sensitive.codes, len(sensitive.values)
        for attribute in self.table.attributes:
            if attribute.name == self.predicted:
                _check_classes(self.predicted, len(attribute.values))
                return attribute.codes, len(attribute.values)
        known = [sensitive.name, *(a.name for a in self.table.attributes)]
        others = [n for n in self.table.schema.names(Role.OTHER) if n not in known]
        if self.predicted not in others:
            raise unknown("column to predict", self.predicted, [*known, *others])
        column = self.table.frame()[self.predicted]
        _check_classes(self.predicted, len(column.unique()))
        coded = code_sensitive(self.predicted, column, Kind.CATEGORICAL, None, None, None)
        return coded["codes"], len(coded["values"])

    @cached_property
    def _split(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        order = np.random.default_rng(self.seed).permutation(len(self.table))
        cut = len(order) - max(1, round(HELD_OUT * len(order)))
        return np.sort(order[:cut]), np.sort(order[cut:])

    @cached_property
    def original(self) -> float:
        """The accuracy with the original records of the training part."""
        return replace(self, removed=()).accuracy(Identity())

    @cached_property
    def majority(self) -> float:
        """The accuracy of always predicting the training part's most frequent value."""
        training, held_out = self._split
        labels, _ = self._labels
        return float((labels[held_out] == np.bincount(labels[training]).argmax()).mean())

    def interval(self, share: float, confidence: float) -> tuple[float, float]:
        """Return the exact binomial limits (Clopper and Pearson) of a share of those held out.

        They say how far the share may be off for other people of the same kind, and nothing about
        another training part.

        >>> from indiff import datasets
        >>> analyst = Analyst(datasets.demo_table(records=200))
        >>> analyst.held_out, [round(end, 3) for end in analyst.interval(0.5, 0.95)]
        (60, [0.368, 0.632])
        """
        from scipy.stats import beta

        count, error = self.held_out, (1 - confidence) / 2
        right = round(share * count)
        low = float(beta.ppf(error, right, count - right + 1)) if right else 0.0
        high = float(beta.ppf(1 - error, right + 1, count - right)) if right < count else 1.0
        return low, high

    @property
    def held_out(self) -> int:
        """How many records are predicted, which taught nothing."""
        return len(self._split[1])

    def accuracy(self, sanitizer: Any) -> float:
        """Return the share of held-out records predicted right from a release of the others."""
        chosen = as_sanitizer(sanitizer)
        training, held_out = self._split
        gone = np.isin(self.table.records[training], np.array(self.removed, np.int64))
        training = training[~gone]
        part = self.table.take(training)
        release = chosen.sanitize(part, np.random.default_rng(self.seed))
        lesson = self._lesson(release, chosen, training)
        labels, _ = self._labels
        predicted = _predict(lesson, self.table.take(held_out), self.seed)
        return float((predicted == labels[held_out]).mean())

    def _lesson(self, release: Release, sanitizer: Sanitizer, rows: NDArray[np.intp]) -> Release:
        """Return the release with the task as its class and without it among the columns."""
        if self.predicted == self.table.sensitive.name:
            return release
        labels, count = self._labels
        columns = tuple(c for c in release.columns if c.attribute.name != self.predicted)
        values = tuple(range(count))
        if len(columns) == len(release.columns):
            in_order = isinstance(
                sanitizer, Mondrian | Recoding | Perturbed | Mdav | Identity | Suppress
            )
            if not in_order or len(release) < len(rows):
                raise UserError(
                    f"{self.predicted!r} is released beside the records only where each row is a "
                    "record, in order; predict the sensitive attribute or a quasi-identifier."
                )
            return replace(release, classes=labels[rows], sensitive_values=values)
        # A generalized label counts for each value that it may be, in equal parts.
        shown = release.column(self.predicted)
        region, low, high = shown.span_region, shown.span_low, shown.span_high
        owner = np.repeat(region, high - low + 1)
        code = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
        size = np.bincount(owner, minlength=shown.count)
        by_region = np.argsort(owner, kind="stable")
        start = np.cumsum(size) - size
        row = np.repeat(np.arange(len(release)), size[shown.index])
        place = np.arange(len(row)) - np.repeat(
            np.cumsum(size[shown.index]) - size[shown.index], size[shown.index]
        )
        of_region = shown.index[row]
        weights = 1.0 / size[of_region]
        if release.weights is not None:
            weights = weights * release.weights[row]
        return Release(
            columns=tuple(replace(c, index=c.index[row]) for c in columns),
            sensitive_name=self.predicted,
            sensitive_values=values,
            classes=code[by_region][start[of_region] + place].astype(np.int32),
            weights=weights,
        )


def _check_classes(name: str, count: int) -> None:
    if not 2 <= count <= MOST_CLASSES:
        raise UserError(
            f"a column to predict has from 2 to {MOST_CLASSES} values; {name!r} has {count:,}",
            way_out="Choose another task",
        )


def _predict(release: Release, targets: Table, seed: int) -> NDArray[np.int64]:
    """Train on a release and return the most probable class of each target.

    Time and memory are bounded whatever the table: at most :data:`MOST_ROWS` distinct rows teach,
    drawn by their weight, a column has at most :data:`MOST_PLACES` features, and of many classes
    the :data:`MOST_CLASSES` most frequent are learned; a record of another is predicted wrong.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    total = release.class_totals() if len(release) else np.zeros(len(release.sensitive_values))
    if not total.any():
        raise UserError("there is nothing to learn from: the release of the training part is empty")
    held = distinct_rows(release)
    taught = np.flatnonzero(np.isin(held.classes, np.argsort(-total, kind="stable")[:MOST_CLASSES]))
    if len(taught) > MOST_ROWS:
        chances = held.weights[taught] / held.weights[taught].sum()
        rng = np.random.default_rng(seed)
        taught = np.sort(rng.choice(taught, MOST_ROWS, replace=False, p=chances))
    encoders = [Encoder.of(column) for column in release.columns]
    features = np.empty((len(taught), sum(one.width for one in encoders)))
    for part in _parts(len(taught)):
        shown = zip(encoders, held.regions, strict=True)
        features[part] = np.hstack([one.regions(cells[taught[part]]) for one, cells in shown])
    classes = held.classes[taught]
    if len(np.unique(classes)) == 1 or not np.ptp(features, axis=0).any():
        return np.full(len(targets), total.argmax())  # nothing to choose by: the most frequent
    model = LogisticRegression(tol=1e-3, max_iter=1_000)
    codes = [targets.attribute(column.attribute.name).codes for column in release.columns]
    predicted = np.empty(len(targets), np.int64)
    # One thread gives the same digits on any machine; a task of many values is known to be one.
    with threadpool_limits(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model.fit(features, classes, sample_weight=held.weights[taught])
        for part in _parts(len(targets)):
            shown = zip(encoders, codes, strict=True)
            predicted[part] = model.predict(
                np.hstack([one.values(code[part]) for one, code in shown])
            )
    return predicted


def _parts(size: int) -> Iterator[slice]:
    """Go through so many rows in parts that take little memory."""
    return (slice(first, first + ROWS_AT_ONCE) for first in range(0, size, ROWS_AT_ONCE))


@dataclass(frozen=True, eq=False)
class Encoder:
    """Features of one column, each cell's summing to 1: QuantilesA for numbers, Hot for others.

    ``place`` is the feature of each code. Where there are too many values for one feature each,
    neighbours in the column's order share one. A number's quantile is marked once, however many of
    its values a region covers; of other columns, values are counted.
    """

    column: ReleasedColumn
    place: NDArray[np.intp]
    counts_values: bool

    @classmethod
    def of(cls, column: ReleasedColumn) -> Encoder:
        """Return the encoder of a released column."""
        attribute = column.attribute
        if attribute.kind != Kind.NUMERIC:
            return cls(column, domain_part(len(attribute.values), MOST_PLACES), True)
        part = domain_part(len(attribute.values) - attribute.has_missing, ENCODING.quantiles)
        missing = [part.max(initial=-1) + 1] * attribute.has_missing
        return cls(column, np.append(part, missing).astype(np.intp), False)

    @property
    def width(self) -> int:
        """The number of features."""
        return int(self.place.max()) + 1

    def values(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the features of single values."""
        return np.eye(self.width)[self.place[codes]]

    def regions(self, shown: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the features of regions: what they cover, spread evenly."""
        wanted, back = np.unique(shown, return_inverse=True)
        asked = np.isin(self.column.span_region, wanted)
        region = np.searchsorted(wanted, self.column.span_region[asked])
        low, high = self.column.span_low[asked], self.column.span_high[asked]
        start, end = self.place[low], self.place[high]
        size = np.bincount(self.place)
        first = np.cumsum(size) - size
        steps = np.zeros((len(wanted), len(size) + 1))
        np.add.at(steps, (region, start), 1)
        np.subtract.at(steps, (region, end + 1), 1)
        covered = np.cumsum(steps[:, :-1], axis=1)
        if self.counts_values:  # whole features, less what the two ends lack
            covered *= size
            np.subtract.at(covered, (region, start), low - first[start])
            np.subtract.at(covered, (region, end), first[end] + size[end] - 1 - high)
        else:
            covered = np.minimum(covered, 1.0)
        return (covered / np.maximum(covered.sum(axis=1, keepdims=True), 1.0))[back.ravel()]
