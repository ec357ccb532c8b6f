"""Release: a sanitized table, every quasi-identifier cell a region; and how it is written."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError, from_data, unknown
from indiff.files import write_frame
from indiff.release.number_text import NumberText
from indiff.release.regions import Anything, Coverage, Region, Value
from indiff.release.value_text import ValueText


def notation_of(column: Attribute) -> NumberText | ValueText:
    """Return what writes and reads the regions of a column."""
    return NumberText(column) if column.kind == Kind.NUMERIC else ValueText(column)


def write_regions(regions: Sequence[Region], column: Attribute) -> list[str]:
    """Return regions of a column as texts, each of which :func:`read_regions` understands."""
    notation = notation_of(column)
    written = {region: notation.write(region) for region in dict.fromkeys(regions)}
    return [written[region] for region in regions]


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """One released quasi-identifier: its regions, and which of them each row shows.

    What the regions cover is kept as spans of codes: region ``span_region[j]`` covers the codes
    from ``span_low[j]`` to ``span_high[j]``; a region may have several spans, or none. Where
    ``told_by_spans``, regions of the same spans are equal and others are not, as they are of a
    sanitizer that writes all of them in one way; spans are then in the order of their regions.
    """

    attribute: Attribute
    index: NDArray[np.int32]
    span_region: NDArray[np.int32]
    span_low: NDArray[np.int32]
    span_high: NDArray[np.int32]
    count: int
    make_region: Callable[[int], Region] = field(repr=False)
    told_by_spans: bool = False

    @classmethod
    def of(
        cls, attribute: Attribute, regions: Sequence[Region], index: NDArray[np.int32]
    ) -> ReleasedColumn:
        """Build a column from explicit regions."""
        coverage = Coverage(attribute)
        spans = [
            (number, low, high)
            for number, region in enumerate(regions)
            for low, high in coverage.spans_of(region)
        ]
        region_of, low, high = np.array(spans, np.int32).reshape(-1, 3).T.copy()
        index = index.astype(np.int32)
        return cls(attribute, index, region_of, low, high, len(regions), regions.__getitem__)

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """The regions, in the order of their numbers; several may be equal."""
        if not self.told_by_spans:
            return tuple(map(self.make_region, range(self.count)))
        first, back = np.unique(self.same, return_index=True, return_inverse=True)[1:]
        made = list(map(self.make_region, first.tolist()))
        return tuple(made[number] for number in back.ravel().tolist())

    @cached_property
    def same(self) -> NDArray[np.int64]:
        """A number for each region, which equal regions share and no others."""
        known: dict[Any, int] = {}
        keys: Iterable[Any] = self.regions if not self.told_by_spans else self._span_keys()
        return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)

    def _span_keys(self) -> Iterator[bytes]:
        """Return what each region covers as bytes, without making the region."""
        spans = np.stack([self.span_low, self.span_high], axis=1).astype(np.int32).tobytes()
        ends = np.searchsorted(self.span_region, np.arange(self.count + 1)) * 8
        return (spans[start:end] for start, end in pairwise(ends.tolist()))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The regions as text."""
        return tuple(write_regions(self.regions, self.attribute))

    def covering(self, code: int) -> NDArray[np.bool_]:
        """Tell for every row whether its region covers the value with this code."""
        return self.regions_covering(code)[self.index]

    def regions_covering(self, code: int) -> NDArray[np.bool_]:
        """Tell for every region whether it covers the value with this code."""
        inside = np.zeros(self.count, dtype=bool)
        inside[self.span_region[(self.span_low <= code) & (code <= self.span_high)]] = True
        return inside

    def regions_covering_each(self, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell for each of some codes what :meth:`regions_covering` tells of it, in a row."""
        distinct, back = np.unique(codes, return_inverse=True)
        asked = distinct[:, None]
        place, span = np.nonzero((self.span_low <= asked) & (asked <= self.span_high))
        inside = np.zeros((len(distinct), self.count), dtype=bool)
        inside[place, self.span_region[span]] = True
        return inside[back.ravel()]

    def covers_each(self, rows: NDArray[np.intp], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell for each pair of a row and a code whether the row's region covers the code."""
        size = len(self.attribute.values)
        pairs = self.index[rows].astype(np.int64) * size + codes
        asked, back = np.unique(pairs, return_inverse=True)
        region, code = asked // size, asked % size
        order = np.argsort(self.span_region, kind="stable")
        low, high = self.span_low[order], self.span_high[order]
        begin = np.searchsorted(self.span_region[order], region, "left")
        end = np.searchsorted(self.span_region[order], region, "right")
        found = np.zeros(len(asked), dtype=bool)
        for step in range(int((end - begin).max(initial=0))):
            place = np.minimum(begin + step, max(len(low) - 1, 0))
            found |= (begin + step < end) & (low[place] <= code) & (code <= high[place])
        return found[back.ravel()]

    def cover_counts(
        self, classes: NDArray[np.int32], class_count: int, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return N[v, c]: the rows of class c (by weight) whose region covers value v."""
        cells = self.index.astype(np.int64) * class_count + classes
        flat = np.bincount(cells, weights=weights, minlength=self.count * class_count)
        held = flat.reshape(self.count, class_count).astype(np.float64)
        steps = np.zeros((len(self.attribute.values) + 1, class_count))
        np.add.at(steps, self.span_low, held[self.span_region])
        np.subtract.at(steps, self.span_high + 1, held[self.span_region])
        # Counts of plain rows are whole numbers, which floating point adds and subtracts exactly.
        return np.cumsum(steps[:-1], axis=0)


@dataclass(frozen=True, eq=False)
class Release:
    """A sanitized table f(D); made by a sanitizer or by :func:`read_release`.

    ``constraint_met`` is False where the asked-for constraint could not be met, and such a release
    is never a pass; it is None where nothing was promised, as of a file made elsewhere. ``unread``
    are the columns of what was read that are neither a quasi-identifier nor sensitive, nor
    suppressed throughout, ``kept`` those of the table that were kept as they are:
    :mod:`indiff.release.unmeasured` judges both. ``notes`` say what of a file may have been meant
    differently, ``left_out`` which of its rows say nothing and are no rows of this.
    """

    columns: tuple[ReleasedColumn, ...]
    sensitive_name: str
    sensitive_values: tuple[Any, ...]
    classes: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int32] | None = None
    constraint_met: bool | None = None
    kept: pa.Table | None = field(default=None, repr=False)
    backend: str = "pyarrow"
    sanitizer: str = ""
    sensitive_columns: tuple[str, ...] = ()
    unread: pa.Table | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    left_out: Sequence[int] | NDArray[np.intp] = ()

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def sensitive(self) -> NDArray[Any]:
        """The sensitive column: one value per released record."""
        values = np.empty(len(self.sensitive_values), dtype=object)
        values[:] = self.sensitive_values
        return values[self.classes]

    @property
    def carried(self) -> pa.Table | None:
        """The columns of which nothing is measured; None where there is none."""
        carried = self.kept if self.unread is None else self.unread
        return None if carried is None or not carried.column_names else carried

    @property
    def shares_groups(self) -> bool:
        """Whether the columns share one array of regions, the groups of a partition."""
        first = self.columns[0]
        return all(c.index is first.index and c.count == first.count for c in self.columns)

    def codes_of(self, targets: Table) -> NDArray[np.int32]:
        """Return the codes of targets in the released columns, a row for each."""
        named = [targets.attribute(column.attribute.name).codes for column in self.columns]
        return np.stack(named, axis=1)

    def column(self, name: str) -> ReleasedColumn:
        """Return the released quasi-identifier with this name."""
        for column in self.columns:
            if column.attribute.name == name:
                return column
        raise unknown("released column", name, [c.attribute.name for c in self.columns])

    def covers(self, name: str, value: Value | datetime.date) -> NDArray[np.bool_]:
        """Tell for every released record whether its region contains this value.

        A date is a ``datetime.date`` or its ISO text; ``None`` is the missing value.
        """
        column = self.column(name)
        value = _as_value(value, column.attribute)
        inside = np.array([region.covers(value) for region in column.regions], dtype=bool)
        return inside[column.index]

    def class_totals(self) -> NDArray[np.float64]:
        """Return N_c: the released records (by weight) with each sensitive value."""
        return np.bincount(
            self.classes, weights=self.weights, minlength=len(self.sensitive_values)
        ).astype(np.float64)

    def to_arrow(self) -> pa.Table:
        """Return the release as text, one row per released record, in table order."""
        columns: dict[str, Any] = {}
        for column in self.columns:
            texts = pa.array(column.texts, pa.string())
            columns[column.attribute.name] = texts.take(pa.array(column.index))
        columns |= self.sensitive_cells()
        if self.kept is not None:
            columns.update(
                {name: self.kept[name] for name in self.kept.column_names if name not in columns}
            )
        if self.weights is not None:
            if "weight" in columns:
                raise UserError(
                    "a noisy table is released with a column 'weight' for its counts, but the "
                    "table has a column of that name",
                    way_out="Rename the table's column",
                )
            columns["weight"] = pa.array(self.weights)
        return pa.table(columns)

    def sensitive_cells(self) -> dict[str, pa.Array]:
        """Return the sensitive column; of a joint attribute, the columns that it was made of."""
        if all(not isinstance(value, tuple) for value in self.sensitive_values):
            return {self.sensitive_name: _plain_column(self.sensitive)}
        names = self.sensitive_columns or self.sensitive_name.split(", ")
        return {
            name: _plain_column([value[place] for value in self.sensitive])
            for place, name in enumerate(names)
        }

    def told_apart(self) -> dict[str, NDArray[np.int64]]:
        """Return the quasi-identifiers as numbers, which equal regions share and no others."""
        return {c.attribute.name: c.same[c.index] for c in self.columns}

    def to_frame(self) -> Any:
        """Return the release as text in the kind of frame that the table was read from."""
        return to_backend(self.to_arrow(), self.backend)

    def sorted_rows(self) -> pa.Table:
        """Return the release as text, its rows sorted: the same for every order of the input.

        Sorted rows tell as little of the input's order as shuffled ones, and need no secret.
        """
        frame = self.to_arrow()
        keys = []
        for cells in frame.columns:
            coded = cells.cast(pa.string()).combine_chunks().dictionary_encode()
            places = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
            ranks = pc.rank(coded.dictionary, sort_keys="ascending").to_numpy()
            keys.append(np.append(ranks, 0)[places])  # what is missing comes first
        return frame.take(pa.array(np.lexsort(keys[::-1])))

    def write(self, path: str | Path, *, seed: int | None = None) -> None:
        """Write the release to CSV or Parquet in a shuffled order, for its owner only.

        The input's order would link released rows to the input's; it is never kept. Whoever knows
        the seed can undo the shuffle, so by default it is random and kept nowhere.
        """
        frame = self.to_arrow()
        frame = frame.take(pa.array(np.random.default_rng(seed).permutation(frame.num_rows)))
        write_frame(frame, path)


def release_of(
    table: Table,
    columns: Iterable[ReleasedColumn],
    *,
    sanitizer: str,
    groups: NDArray[np.int32] | None = None,
    constraint_met: bool | None = None,
) -> Release:
    """Put a release of these columns together, one row per record of the table."""
    return Release(
        columns=tuple(columns),
        sensitive_name=table.sensitive.name,
        sensitive_values=table.sensitive.values,
        classes=table.sensitive.codes,
        groups=groups,
        constraint_met=constraint_met,
        backend=table.backend,
        sanitizer=sanitizer,
        sensitive_columns=table.sensitive.columns,
    )


def span_column(
    attribute: Attribute,
    index: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    make: Callable[[Attribute, int, int], Region],
) -> ReleasedColumn:
    """Release an attribute by regions that go from one code to another, ``index`` for each row."""

    def make_region(number: int) -> Region:
        return make(attribute, int(low[number]), int(high[number]))

    numbers = np.arange(len(low), dtype=np.int32)
    return ReleasedColumn(attribute, index, numbers, low, high, len(low), make_region, True)


def anything(attribute: Attribute) -> ReleasedColumn:
    """Release an attribute as ``*`` everywhere."""
    last = np.array([len(attribute.values) - 1], np.int32)
    rows = np.zeros(len(attribute.codes), np.int32)
    return span_column(attribute, rows, np.zeros(1, np.int32), last, lambda *_: Anything())


def _as_value(value: Value | datetime.date, attribute: Attribute) -> Value:
    """Return a user's value as a cell of its column, or refuse what could never be one."""
    if value is None:
        return None
    if attribute.kind != Kind.NUMERIC:  # True, 2.0 and a date as the column's cells were written
        return str(value if isinstance(value, str) else pa.scalar(value).cast(pa.string()))
    if attribute.is_date and isinstance(value, str):
        try:
            value = datetime.date.fromisoformat(value)
        except ValueError:
            raise UserError(
                f"column {attribute.name!r} holds dates", from_data(value), "Write it as 2024-12-31"
            ) from None
    if isinstance(value, datetime.date):
        return value.toordinal() - datetime.date(1970, 1, 1).toordinal()
    if isinstance(value, str):
        raise UserError(
            f"column {attribute.name!r} is numeric", f"the text {from_data(value)}", "Pass a number"
        )
    return value


def _plain_column(values: Sequence[Any] | NDArray[Any]) -> pa.Array:
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known):
        return pa.array([None if v is None else str(v) for v in values], pa.string())
    if any(isinstance(v, float) or abs(v) >= 2**63 for v in known):  # whole floats are integers
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array(list(values))


def to_backend(frame: pa.Table, backend: str) -> Any:
    """Convert a PyArrow table to the kind of frame the user works with."""
    if backend == "pandas":
        return frame.to_pandas()
    if backend == "polars":
        import polars

        return polars.from_arrow(frame)
    return frame
