"""What sanitizers that change values share: their text, their random numbers, their columns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.schema import Kind
from indiff.data.table import Attribute, Table
from indiff.errors import UserError
from indiff.release.regions import Interval, Missing, Region, plain, region_of
from indiff.release.release import Release, ReleasedColumn, release_of, span_column

Floats = NDArray[np.float64]
EVERY_KIND = tuple(Kind)


class Perturbed(ABC):
    """A sanitizer whose rows are the records in their order, with other values in some columns.

    Quasi-identifiers of another kind than ``kinds`` and the sensitive values are published as they
    are. ``coverage_says_little``: a released value need not be anybody's, so that an adversary who
    only looks at which rows cover a person misses most; a tree that reads values is asked, too.
    """

    name: ClassVar[str]
    strength: ClassVar[str]  # the parameter that says how much is changed
    example: ClassVar[str]  # and a value of it
    kinds: ClassVar[tuple[Kind, ...]] = EVERY_KIND
    coverage_says_little: ClassVar[bool] = True

    def __str__(self) -> str:
        shown: Any = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}  # type: ignore[arg-type]
        parts = [f"{name}={as_text(value)}" for name, (value, usual) in shown.items()
                 if value != usual]  # fmt: skip
        return f"{self.name}:{','.join(parts)}"

    @property
    def randomized(self) -> bool:
        """Whether two calls on the same table may differ."""
        return True

    @abstractmethod
    def column(self, attribute: Attribute, draws: Floats) -> ReleasedColumn:
        """Return one column as it is released; ``draws`` has this column's numbers by record."""

    def draw(self, rng: Generator, shape: tuple[int, ...]) -> Floats:
        """Draw what the columns need, records × columns × numbers for each value."""
        return rng.random(shape)

    def untouched(self, table: Table) -> tuple[str, ...]:
        """Name the quasi-identifiers that are published as they are."""
        return tuple(a.name for a in table.attributes if a.kind not in self.kinds)

    def notes(self, table: Table) -> tuple[str, ...]:
        """Say what a release of this table leaves as it is."""
        return tuple(f"{self} publishes {name!r} as it is" for name in self.untouched(table))

    def sanitize(self, table: Table, rng: Generator | None = None) -> Release:
        """Return the release; without ``rng`` its chance is the operating system's."""
        rng = np.random.default_rng() if rng is None else rng
        changed = [a for a in table.attributes if a.kind in self.kinds]
        if not changed:
            wanted = " or ".join(self.kinds)
            raise UserError(
                f"{self.name} changes quasi-identifiers that are {wanted}; the table has none",
                way_out="Choose another sanitizer",
            )
        # By record number, not by place: without one record the others are changed alike.
        numbers = int(table.records.max(initial=-1)) + 1
        draws = self.draw(rng, (numbers, len(changed), 2))[table.records]
        made = {a.name: self.column(a, draws[:, j]) for j, a in enumerate(changed)}
        columns = [made[a.name] if a.name in made else same_column(a) for a in table.attributes]
        return release_of(table, columns, sanitizer=str(self))


def as_text(value: object) -> str:
    """Write a parameter's value as the command line reads it.

    >>> as_text(0.8), as_text("uniform")
    ('0.8', 'uniform')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_number(name: str, value: Any, low: float, high: float, *, above: bool = False) -> None:
    """Refuse a parameter that is no number from ``low`` to ``high`` (``above``: more than low)."""
    right = isinstance(value, int | float) and not isinstance(value, bool)
    if not (right and low <= value <= high and (value > low or not above)):
        least = f"greater than {low:g}" if above else f"at least {low:g}"
        most = "finite" if high == math.inf else f"at most {high:g}"
        raise UserError(f"{name} must be {least} and {most}", f"{value!r}")
    if value == math.inf:
        raise UserError(f"{name} must be finite", f"{value!r}")


def same_column(attribute: Attribute) -> ReleasedColumn:
    """Release an attribute as it is."""
    return coded_column(attribute, attribute.codes)


def coded_column(attribute: Attribute, codes: NDArray[Any]) -> ReleasedColumn:
    """Release an attribute by other values of its own, a code for each row."""
    each = np.arange(len(attribute.values), dtype=np.int32)
    return span_column(attribute, codes.astype(np.int32), each, each, region_of)


def numbers_of(attribute: Attribute) -> Floats:
    """Return each record's number; NaN where it is missing."""
    numbers = attribute.points[attribute.codes]
    return np.where(attribute.codes == attribute.missing_code, np.nan, numbers)


def is_whole(attribute: Attribute) -> bool:
    """Tell whether a column holds whole numbers or days: what is made of it is rounded."""
    if attribute.is_date:
        return True
    points = attribute.points
    return bool((points == np.rint(points)).all())


def number_column(attribute: Attribute, numbers: Floats, *, whole: bool) -> ReleasedColumn:
    """Release a numeric attribute by any numbers, which need not be anybody's; NaN is missing.

    Where ``whole``, they are rounded.

    >>> import pyarrow as pa
    >>> from indiff.data.table import read_table
    >>> table = read_table(pa.table({"age": [28, 36], "ill": ["no", "yes"]}),
    ...                    quasi=["age"], sensitive="ill")
    >>> column = number_column(table.attributes[0], np.array([36.0, 40.4]), whole=True)
    >>> column.texts, column.covering(1).tolist()
    (('36', '40'), [True, False])
    """
    shown, index = np.unique(np.rint(numbers) if whole else numbers, return_inverse=True)
    known = attribute.points[: len(attribute.values) - attribute.has_missing]
    place = np.minimum(np.searchsorted(known, shown), max(len(known) - 1, 0))
    held = known[place] == shown if len(known) else np.zeros(len(shown), np.bool_)
    region = np.flatnonzero(held).astype(np.int32)
    code = place[held].astype(np.int32)
    if len(shown) and np.isnan(shown[-1]):
        region = np.append(region, np.int32(len(shown) - 1))
        code = np.append(code, np.int32(attribute.missing_code))

    def make_region(number: int) -> Region:
        value = plain(shown[number])
        if value is None or isinstance(value, str):
            return Missing()
        return Interval(int(value), int(value)) if whole else Interval(value, value)

    rows = index.ravel().astype(np.int32)
    return ReleasedColumn(attribute, rows, region, code, code, len(shown), make_region)
