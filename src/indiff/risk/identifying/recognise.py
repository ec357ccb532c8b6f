"""Recognises what the values of a column are: addresses, numbers, dates of birth, free text.

It tells counts alone, never a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.risk.identifying.kinds import BIRTHS, KINDS, words_of
from indiff.risk.identifying.national_numbers import evenly, numbers_in

FEW = 30  # distinct values that a person could still list
LONG = 25  # characters of a value that is more than a name or a code, on average
BIRTH_YEARS = 20  # from the 5th to the 95th of 100 dates: no more than that are other dates
How = Literal["name", "value", "check digits", "spread"]


@dataclass(frozen=True)
class Evidence:
    """One thing that speaks for a kind of identifier: how it was told, and of how many cells."""

    kind: str
    title: str
    how: How
    cells: int
    """Cells that are such; where only a name speaks, 0."""
    told: int
    """Cells that were looked at and say something."""
    sampled: bool = False
    """Whether the check digits of some different values were computed, evenly spread over all."""

    @property
    def share(self) -> float:
        """The share of the cells that are such."""
        return self.cells / self.told if self.told else 0.0

    def __str__(self) -> str:
        if self.how == "name":
            return f"{self.title}, by its name"
        some = " that were checked" if self.sampled else ""
        return f"{self.cells:,} of {self.told:,} cells{some}: {self.title}"


@dataclass(frozen=True, eq=False)
class Column:
    """One column: its distinct values without the missing one, and how many cells have each."""

    name: str
    values: pa.Array
    counts: NDArray[np.int64]
    missing: int

    @classmethod
    def of(cls, name: str, cells: pa.ChunkedArray) -> Column:
        """Count the values of a column."""
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        counted = pc.value_counts(cells.drop_null())
        values = counted.field("values")
        return cls(name, values, counted.field("counts").to_numpy(), cells.null_count)

    @property
    def told(self) -> int:
        """How many cells have a value."""
        return int(self.counts.sum())

    @cached_property
    def texts(self) -> pa.Array:
        """The distinct values as text; none of numbers with fractions, which name nobody."""
        if pa.types.is_floating(self.values.type) or pa.types.is_boolean(self.values.type):
            return pa.array([], pa.string())
        return self.values.cast(pa.string())

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """What speaks for a kind of identifier, the most cells first; what its name says, last."""
        if pa.types.is_date(self.values.type):
            found = self._births()
        else:
            found = [*self._numbers(), *self._shapes()]
        found.sort(key=lambda one: -one.share)
        seen = {one.kind for one in found}
        for kind, known in KINDS.items():
            if known.is_named(self.name) and kind not in seen:
                found.append(Evidence(kind, known.title, "name", 0, self.told))
        if any(word in BIRTHS for word in words_of(self.name)) and "dates" not in seen:
            found.append(Evidence("dates", "dates of birth", "name", 0, self.told))
        return tuple(found)

    @property
    def is_free_text(self) -> bool:
        """Whether the values are long, many and mostly different, as remarks are."""
        if not pa.types.is_string(self.values.type) or len(self.values) <= FEW:
            return False
        mean = float(pc.mean(pc.utf8_length(self.values)).as_py())
        return is_free_text(len(self.values), self.told, mean)

    def _shapes(self) -> list[Evidence]:
        found = []
        for kind, known in KINDS.items():
            hits = np.flatnonzero(known.shaped(self.texts))
            if kind == "accounts":
                found += self._ibans(hits)
            elif len(hits):
                cells = int(self.counts[hits].sum())
                found.append(Evidence(kind, known.title, "value", cells, self.told))
        return found

    def _ibans(self, hits: NDArray[np.int64]) -> list[Evidence]:
        """Count the texts of which a part that looks like an IBAN has right check digits."""
        from stdnum import iban

        looked_at = evenly(hits)
        find = re.compile(KINDS["accounts"].shape or "", re.IGNORECASE).finditer
        texts = self.texts.take(pa.array(looked_at)).to_pylist()
        valid = [any(iban.is_valid(one.group()) for one in find(text)) for text in texts]
        if not any(valid):
            return []
        counts, sampled = self.counts[looked_at], len(looked_at) < len(hits)
        told = int(counts.sum()) if sampled else self.told
        cells = int(counts[np.array(valid)].sum())
        return [Evidence("accounts", "IBANs", "check digits", cells, told, sampled)]

    def _numbers(self) -> list[Evidence]:
        found = []
        for one in numbers_in(self.texts):
            counts = self.counts[one.looked_at]
            found.append(
                Evidence(
                    one.number.kind, one.number.title, "check digits",
                    int(counts[one.valid].sum()), int(counts.sum()),
                    sampled=len(one.looked_at) < len(self.texts),
                )
            )  # fmt: skip
        return found

    def _births(self) -> list[Evidence]:
        """Dates that are spread over decades are taken for dates of birth; others are dates."""
        days = np.repeat(self.values.cast(pa.date32()).cast(pa.int32()).to_numpy(), self.counts)
        if not len(days):
            return []
        low, high = np.percentile(days, [5, 95])
        spread = len(self.values) > FEW and high - low >= BIRTH_YEARS * 365.25
        title = "dates as spread as births are" if spread else KINDS["dates"].title
        how: How = "spread" if spread else "value"
        return [Evidence("dates", title, how, self.told, self.told)]


def is_free_text(distinct: int, told: int, mean_length: float) -> bool:
    """Tell whether a column has many different long values, as remarks have.

    >>> is_free_text(distinct=900, told=1000, mean_length=60.0)
    True
    """
    return distinct > FEW and 2 * distinct > told and mean_length >= LONG
