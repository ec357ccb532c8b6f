"""Cutting one quasi-identifier into bins: by quantiles, at declared edges, or value by value.

A noisy contingency table has one cell per combination of bins. Where the bins are made from the
records, they tell something about the records: a release is differentially private only if its
bins were declared beforehand.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute
from indiff.errors import UserError, from_data, option
from indiff.release.regions import Anything, Interval, Missing, Region, ValueSet, plain
from indiff.release.release import ReleasedColumn, write_regions


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

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [20, 20, 20, 30, 40, 50], "ill": list("ynynyn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> quantile_edges(table.attribute("age"), 3)
    array([20, 30])
    >>> quantile_edges(table.attribute("age"), 5)
    array([20, 30, 40])
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
    fewer = bins if len(edges) + 1 < bins else None
    return replace(axis, fewer_than=fewer)


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
        raise UserError(
            "edges must be at least one number, in ascending order",
            f"{from_data(list(edges))} for {attribute.name!r}",
        )
    return _cut(attribute, numbers, declared=True, with_missing=with_missing)


def domain_axis(attribute: Attribute, domain: Sequence[Any]) -> Axis:
    """Give each declared value a bin of its own; a value outside the domain is an error."""
    values = [_as_value(attribute, value) for value in domain]
    place = check_distinct(attribute.name, values)
    if attribute.hierarchy is not None or attribute.kind == Kind.ORDINAL:
        known = [plain(value) for value in attribute.values]
        for value in values:
            if value not in known:
                where = "hierarchy" if attribute.hierarchy is not None else "order"
                raise UserError(
                    f"the domain of {attribute.name!r} may only list what its {where} has",
                    from_data(value),
                    "Add it there, or leave it out",
                )
    bins = [place.get(plain(value), -1) for value in attribute.values]
    held = np.unique(attribute.codes)
    for code in held[np.array(bins, np.int64)[held] < 0]:
        shown = plain(attribute.values[code])
        raise UserError(
            f"the domain of {attribute.name!r} must list every value that occurs; it "
            f"lacks {'the missing value (None)' if shown is None else from_data(shown)}",
            way_out="Add it",
        )
    regions = tuple(_single(attribute, value) for value in values)
    return Axis(attribute, regions, np.array(bins, np.int32), declared=True)


def value_axis(attribute: Attribute) -> Axis:
    """Give each value of the records a bin of its own."""
    regions = tuple(_single(attribute, plain(value)) for value in attribute.values)
    return Axis(attribute, regions, np.arange(len(regions), dtype=np.int32), declared=False)


def check_distinct(name: str, values: Sequence[Any]) -> dict[Any, int]:
    """Return the place of each value of a domain, or raise: at least one, each once."""
    place = {value: number for number, value in enumerate(values)}
    if not values or len(place) < len(values):
        raise UserError(
            "a domain must list each value once, and at least one",
            f"{from_data(list(values))} for {name!r}",
        )
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


def _as_value(attribute: Attribute, value: Any) -> Any:
    if value is None:
        return None
    return _as_number(attribute, value) if attribute.kind == Kind.NUMERIC else str(value)


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
