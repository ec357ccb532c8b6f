"""The cells of a contingency table: every combination of bins, by every sensitive value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Sensitive, Table
from indiff.errors import UserError, from_data, unknown
from indiff.release.release import Release, ReleasedColumn
from indiff.sanitizers.noise.binning import (
    Axis,
    check_distinct,
    domain_axis,
    edge_axis,
    quantile_axis,
    value_axis,
)

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
    backend: str = "pyarrow"

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
        self.check_size()
        where = np.zeros(len(table), np.int64)
        for axis, attribute in zip(self.axes, table.attributes, strict=True):
            where = where * len(axis) + axis.bin_of[attribute.codes]
        size = len(self.sensitive_values)
        flat = np.bincount(where * size + self.classes(table), minlength=self.cells * size)
        return flat.reshape(self.cells, size).astype(np.int64)

    def check_size(self) -> None:
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
        self.check_size()
        sizes = [len(axis) for axis in self.axes]
        bins = np.unravel_index(np.arange(self.cells), sizes)
        repeat = len(self.sensitive_values)
        return tuple(
            axis.released(np.repeat(place, repeat))
            for axis, place in zip(self.axes, bins, strict=True)
        )

    def weighted(self, weights: NDArray[np.float64], **marks: Any) -> Release:
        """Return the release that gives each cell and sensitive value this weight."""
        size = len(self.sensitive_values)
        return Release(
            columns=self.columns,
            sensitive_name=self.sensitive_name,
            sensitive_values=self.sensitive_values,
            classes=np.tile(np.arange(size, dtype=np.int32), self.cells),
            weights=np.ascontiguousarray(weights, np.float64).ravel(),
            backend=self.backend,
            **marks,
        )

    def microdata(self, table: Table, classes: NDArray[np.int32], **marks: Any) -> Release:
        """Return the release of the records in their bins, with these sensitive values."""
        columns = [
            axis.released(axis.bin_of[attribute.codes])
            for axis, attribute in zip(self.axes, table.attributes, strict=True)
        ]
        return Release(
            columns=tuple(columns),
            sensitive_name=self.sensitive_name,
            sensitive_values=self.sensitive_values,
            classes=classes.astype(np.int32),
            backend=self.backend,
            **marks,
        )


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
    values, class_of = _sensitive_domain(table.sensitive, domains.get(table.sensitive.name))
    return Grid(
        axes=tuple(axes),
        sensitive_name=table.sensitive.name,
        sensitive_values=values,
        class_of=class_of,
        sensitive_declared=table.sensitive.name in domains,
        backend=table.backend,
    )


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
