"""The cells of a contingency table: every combination of bins, by every sensitive value.

A quasi-identifier is cut by quantiles, at declared edges, or value by value. Bins that are made
from the records tell something about them: a release is differentially private only if its bins
were declared beforehand.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Sensitive, Table
from indiff.errors import UserError, from_data, option, unknown
from indiff.release.regions import Anything, Interval, Missing, Region, ValueSet, plain
from indiff.release.release import Release, ReleasedColumn, write_regions


@dataclass(frozen=True, eq=False)
class DeclaredColumn(ReleasedColumn):
    """A released column whose regions may name declared values that no record holds."""

    written_in: Attribute | None = None

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The regions as text, among all declared values."""
        return tuple(write_regions(self.regions, self.written_in or self.attribute))


@dataclass(frozen=True, eq=False)
class Axis:
    """One quasi-identifier of a noisy table: its bins as regions, and the bin of each value.

    ``bin_of`` is by code of the attribute. ``declared`` says that the bins do not depend on the
    records; ``fewer_than`` is the number of quantile bins asked for where ties left fewer.
    """

    attribute: Attribute
    regions: tuple[Region, ...]
    bin_of: NDArray[np.int32]
    declared: bool
    fewer_than: int | None = None

    def __len__(self) -> int:
        return len(self.regions)

    @cached_property
    def _empty(self) -> ReleasedColumn:
        column = DeclaredColumn.of(self.attribute, self.regions, np.empty(0, np.int32))
        return replace(column, written_in=_widened(self.attribute, self.regions))  # type: ignore[call-arg]

    def released(self, bins: NDArray[Any]) -> ReleasedColumn:
        """Return the released column whose rows show these bins."""
        return replace(self._empty, index=bins.astype(np.int32))


def quantile_edges(attribute: Attribute, bins: int) -> NDArray[Any]:
    """Return the upper edges of all but the last of the quantile bins (DIT v2, Section 4.5.2).

    The edge of a share p is the smallest value that at least p of the records do not exceed.
    Equal edges are one, and an edge at the largest value cuts nothing: ties leave fewer bins.
    """
    known = attribute.codes[attribute.codes != attribute.missing_code]
    if not len(known):
        return attribute.values[:0]
    # Codes stand in the order of the values, and whole numbers round nothing.
    below = np.cumsum(np.bincount(known))
    needed = -(-len(known) * np.arange(1, bins, dtype=np.int64) // bins)
    cuts = np.unique(np.searchsorted(below, needed))
    return attribute.values[cuts[cuts < known.max()]]


def quantile_axis(attribute: Attribute, bins: int) -> Axis:
    """Cut a numeric attribute at the quantiles of its records."""
    edges = [plain(edge) for edge in quantile_edges(attribute, bins)]
    axis = _cut(attribute, edges, declared=False, with_missing=attribute.has_missing)
    return replace(axis, fewer_than=bins if len(edges) + 1 < bins else None)


def edge_axis(attribute: Attribute, edges: Sequence[Any], *, with_missing: bool) -> Axis:
    """Cut a numeric attribute at declared edges; each edge belongs to the bin below it.

    The first and the last bin have no outer end, so every number has a bin.
    """
    if attribute.kind != Kind.NUMERIC:
        raise UserError(
            f"edges cut numbers; {attribute.name!r} is {attribute.kind}",
            way_out=f"Give {option('domains', {attribute.name: ['...']})} instead",
            field="edges",
        )
    numbers = [_as_number(attribute, edge) for edge in edges]
    if not numbers or any(low >= high for low, high in pairwise(numbers)):
        rule = "edges must be at least one number, in ascending order"
        raise UserError(rule, f"{from_data(list(edges))} for {attribute.name!r}")
    return _cut(attribute, numbers, declared=True, with_missing=with_missing)


def domain_axis(attribute: Attribute, domain: Sequence[Any]) -> Axis:
    """Give each declared value a bin of its own; a value outside the domain is an error."""
    read = partial(_as_number, attribute) if attribute.kind == Kind.NUMERIC else str
    values = [None if value is None else read(value) for value in domain]
    place = check_distinct(attribute.name, values)
    if attribute.hierarchy is not None or attribute.kind == Kind.ORDINAL:
        known = [plain(value) for value in attribute.values]
        for value in values:
            if value not in known:
                where = "hierarchy" if attribute.hierarchy is not None else "order"
                rule = f"the domain of {attribute.name!r} may only list what its {where} has"
                raise UserError(rule, from_data(value), "Add it there, or leave it out")
    bins = np.array([place.get(plain(value), -1) for value in attribute.values], np.int32)
    held = np.unique(attribute.codes)
    for code in held[bins[held] < 0]:
        shown = plain(attribute.values[code])
        raise UserError(
            f"the domain of {attribute.name!r} must list every value that occurs; it "
            f"lacks {'the missing value (None)' if shown is None else from_data(shown)}",
            way_out="Add it",
        )
    regions = tuple(_single(attribute, value) for value in values)
    return Axis(attribute, regions, bins, declared=True)


def value_axis(attribute: Attribute) -> Axis:
    """Give each value of the records a bin of its own."""
    regions = tuple(_single(attribute, plain(value)) for value in attribute.values)
    return Axis(attribute, regions, np.arange(len(regions), dtype=np.int32), declared=False)


def check_distinct(name: str, values: Sequence[Any]) -> dict[Any, int]:
    """Return the place of each value of a domain, or raise: at least one, each once."""
    place = {value: number for number, value in enumerate(values)}
    if not values or len(place) < len(values):
        rule = "a domain must list each value once, and at least one"
        raise UserError(rule, f"{from_data(list(values))} for {name!r}")
    return place


def _cut(attribute: Attribute, edges: Sequence[Any], *, declared: bool, with_missing: bool) -> Axis:
    ends = [-np.inf, *edges, np.inf]
    regions: list[Region] = [
        Interval(low, high, low_closed=low == -np.inf) for low, high in pairwise(ends)
    ]
    if len(regions) == 1 and not with_missing:
        regions = [Anything()]
    numbers = attribute.values[: len(attribute.values) - attribute.has_missing]
    bin_of = np.searchsorted(np.asarray(edges), numbers, side="left") if edges else 0 * numbers
    if attribute.has_missing:
        bin_of = np.append(bin_of, len(regions))
    if with_missing:
        regions.append(Missing())
    return Axis(attribute, tuple(regions), bin_of.astype(np.int32), declared=declared)


def _widened(attribute: Attribute, regions: Sequence[Region]) -> Attribute:
    """Return the attribute with the declared values among its own, to write regions with."""
    if attribute.kind != Kind.CATEGORICAL or attribute.hierarchy is not None:
        return attribute
    held = {plain(value) for value in attribute.values}
    held.update(
        value for region in regions if isinstance(region, ValueSet) for value in region.values
    )
    texts = sorted(value for value in held if isinstance(value, str))
    values = np.empty(len(texts) + (None in held), dtype=object)  # the last stays None: missing
    values[: len(texts)] = texts
    return replace(attribute, values=values, has_missing=None in held)


def _single(attribute: Attribute, value: Any) -> Region:
    if value is None and attribute.kind != Kind.CATEGORICAL:
        return Missing()
    if attribute.kind == Kind.NUMERIC:
        return Interval(value, value)
    return ValueSet(frozenset({value}))


def _as_number(attribute: Attribute, value: Any) -> int | float:
    """Read a declared number, or a date as days since 1970-01-01."""
    try:
        if attribute.is_date:
            day = value if isinstance(value, datetime.date) else datetime.date.fromisoformat(value)
            return (day - datetime.date(1970, 1, 1)).days
        number = value if isinstance(value, int) else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        wanted = "dates (YYYY-MM-DD)" if attribute.is_date else "finite numbers"
        raise UserError(f"{attribute.name!r} takes {wanted}", from_data(value))
    return number


MOST_CELLS = 10**7


@dataclass(frozen=True, eq=False)
class Grid:
    """How a table's records fall into cells; it stays the same for a table without a record.

    ``class_of`` gives the place of each sensitive value of the table among ``sensitive_values``,
    which are the declared ones where they were declared.
    """

    axes: tuple[Axis, ...]
    sensitive_name: str
    sensitive_values: tuple[Any, ...]
    class_of: NDArray[np.int32]
    sensitive_declared: bool
    backend: str

    @property
    def undeclared(self) -> tuple[str, ...]:
        """The columns whose bins or values were taken from the records."""
        names = [axis.attribute.name for axis in self.axes if not axis.declared]
        return (*names, *(() if self.sensitive_declared else (self.sensitive_name,)))

    @property
    def cells(self) -> int:
        """How many combinations of bins there are, occupied or not."""
        return math.prod(len(axis) for axis in self.axes)

    def classes(self, table: Table) -> NDArray[np.int32]:
        """Return the place of each record's sensitive value."""
        return self.class_of[table.sensitive.codes]

    def occupied(self, table: Table) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return each record's cell among the occupied ones, and their counts by sensitive value.

        Works for any number of cells, since only those with records are numbered.
        """
        where = np.zeros(len(table), np.int64)
        for axis, attribute in zip(self.axes, table.attributes, strict=True):
            where = where * len(axis) + axis.bin_of[attribute.codes]
            where = np.unique(where, return_inverse=True)[1].astype(np.int64)
        size = len(self.sensitive_values)
        number = int(where.max(initial=-1)) + 1
        counts = np.bincount(where * size + self.classes(table), minlength=number * size)
        return where.astype(np.intp), counts.reshape(number, size).astype(np.int64)

    def counts(self, table: Table) -> NDArray[np.int64]:
        """Return how many records each cell of the whole grid holds, cells × sensitive values."""
        self._check_size()
        where = np.zeros(len(table), np.int64)
        for axis, attribute in zip(self.axes, table.attributes, strict=True):
            where = where * len(axis) + axis.bin_of[attribute.codes]
        size = len(self.sensitive_values)
        flat = np.bincount(where * size + self.classes(table), minlength=self.cells * size)
        return flat.reshape(self.cells, size).astype(np.int64)

    def _check_size(self) -> None:
        """Refuse grids that are too large to put noise on every cell."""
        total = self.cells * len(self.sensitive_values)
        if total > MOST_CELLS:
            raise UserError(
                "a noisy table has noise on every cell of its domain, and may have at most "
                f"{MOST_CELLS:,} cells; this one has {total:,}",
                way_out="Use fewer bins, values or columns",
            )

    @cached_property
    def columns(self) -> tuple[ReleasedColumn, ...]:
        """The released columns of the whole grid: one row per cell and sensitive value."""
        self._check_size()
        bins = np.unravel_index(np.arange(self.cells), [len(axis) for axis in self.axes])
        repeat = len(self.sensitive_values)
        return tuple(
            axis.released(np.repeat(place, repeat))
            for axis, place in zip(self.axes, bins, strict=True)
        )

    def weighted(self, weights: NDArray[np.float64], **marks: Any) -> Release:
        """Return the release that gives each cell and sensitive value this weight."""
        classes = np.tile(np.arange(len(self.sensitive_values), dtype=np.int32), self.cells)
        flat = np.ascontiguousarray(weights, np.float64).ravel()
        return self._release(self.columns, classes, weights=flat, **marks)

    def microdata(self, table: Table, classes: NDArray[np.int32], **marks: Any) -> Release:
        """Return the release of the records in their bins, with these sensitive values."""
        columns = [
            axis.released(axis.bin_of[attribute.codes])
            for axis, attribute in zip(self.axes, table.attributes, strict=True)
        ]
        return self.rows(columns, classes, **marks)

    def rows(
        self, columns: Sequence[ReleasedColumn], classes: NDArray[Any], **marks: Any
    ) -> Release:
        """Return the release of any rows of this grid's columns and sensitive values."""
        return self._release(columns, classes.astype(np.int32), **marks)

    def _release(
        self, columns: Sequence[ReleasedColumn], classes: NDArray[np.int32], **marks: Any
    ) -> Release:
        name, values = self.sensitive_name, self.sensitive_values
        return Release(tuple(columns), name, values, classes, backend=self.backend, **marks)


def make_grid(
    table: Table,
    *,
    bins: int | None,
    edges: Mapping[str, Sequence[Any]],
    domains: Mapping[str, Sequence[Any]],
) -> Grid:
    """Lay out the cells of a table: declared edges and domains first, else from its records."""
    names = [attribute.name for attribute in table.attributes]
    for name in edges:
        if name not in names:
            raise unknown("quasi-identifier", name, names)
    for name in domains:
        if name not in (*names, table.sensitive.name):
            raise unknown("column", name, [*names, table.sensitive.name])
        if name in edges:
            raise UserError(f"{name!r} has edges and a domain; declare one of the two.")
    axes = []
    for attribute in table.attributes:
        if attribute.name in edges:
            # The reading's policy, not the records, decides whether there is a missing bin.
            split = table.missing == "split"
            axes.append(edge_axis(attribute, edges[attribute.name], with_missing=split))
        elif attribute.name in domains:
            axes.append(domain_axis(attribute, domains[attribute.name]))
        elif attribute.kind == Kind.NUMERIC and bins is not None:
            axes.append(quantile_axis(attribute, bins))
        else:
            axes.append(value_axis(attribute))
    name = table.sensitive.name
    values, class_of = _sensitive_domain(table.sensitive, domains.get(name))
    return Grid(tuple(axes), name, values, class_of, name in domains, table.backend)


def _sensitive_domain(
    sensitive: Sensitive, declared: Sequence[Any] | None
) -> tuple[tuple[Any, ...], NDArray[np.int32]]:
    if declared is None:
        return sensitive.values, np.arange(len(sensitive.values), dtype=np.int32)
    place = check_distinct(sensitive.name, [_text(value) for value in declared])
    values, class_of = list(declared), []
    for value in sensitive.values:
        if _text(value) not in place:
            raise UserError(
                f"the domain of {sensitive.name!r} must list every value that occurs; it "
                f"lacks {from_data(value)}",
                way_out="Add it",
            )
        class_of.append(place[_text(value)])
        values[class_of[-1]] = value
    if len(values) < 2:
        raise UserError(
            "a sensitive attribute needs at least 2 values; the domain of "
            f"{sensitive.name!r} has {len(values)}",
            way_out="List them all",
        )
    return tuple(values), np.array(class_of, np.int32)


def _text(value: Any) -> Any:
    """Compare declared values as text, so that 1 and "1" are one; the missing value is None."""
    if isinstance(value, tuple):
        return tuple(_text(part) for part in value)
    return None if value is None else str(value)
