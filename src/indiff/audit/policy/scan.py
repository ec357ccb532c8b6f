"""Scans the columns of a release for identifiers, by names and contents; it tells counts alone."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from indiff.audit.findings.release import Subject
from indiff.release.regions import Anything, Interval, Region, ValueSet
from indiff.release.release import Release
from indiff.release.unmeasured import NEARLY, Unmeasured
from indiff.risk.identifying.kinds import AGES, BIRTHS, KINDS, POSTAL, words_of
from indiff.risk.identifying.national_numbers import NUMBERS, numbers_in
from indiff.risk.identifying.recognise import is_free_text

Status = Literal["passed", "failed", "incomplete"]
OLDEST = 89  # the highest age that may be told; beyond it everybody is 90 or older
SHOWN = 3  # characters of a postal code that may be told, where enough people live there
_SAYS_NOTHING = ("", "*")
_BY_CHECK_DIGITS = {number.kind for number in NUMBERS}
_WHOLE_YEARS = re.compile(r"\d{4}-01-01\D+\d{4}-12-31")


@dataclass(frozen=True)
class _Column:
    """One released column: its distinct texts that say something, and how many rows have each."""

    name: str
    texts: list[str]
    counts: list[int]
    regions: list[Region | None]
    is_binary: bool = False

    @property
    def told(self) -> int:
        """How many rows say something."""
        return sum(self.counts)

    @property
    def is_unique(self) -> bool:
        """Whether nearly every row says something else."""
        return self.told > 1 and len(self.texts) >= NEARLY * self.told

    @property
    def is_free_text(self) -> bool:
        """Whether the texts are long and mostly different, as remarks are."""
        mean = sum(map(len, self.texts)) / max(1, len(self.texts))
        return is_free_text(len(self.texts), self.told, mean)

    @cached_property
    def numbers(self) -> dict[str, set[int]]:
        """The places of texts whose check digits are right, where the column has such numbers."""
        found: dict[str, set[int]] = {}
        for one in numbers_in(pa.array(self.texts, pa.string())):
            found.setdefault(one.number.kind, set()).update(one.looked_at[one.valid].tolist())
        return found

    def cells(self, hits: Iterable[bool], numbers: Collection[int] = ()) -> int:
        """How many rows have one of the texts that were hit, or one of these numbers."""
        return sum(
            count
            for place, (count, hit) in enumerate(zip(self.counts, hits, strict=True))
            if hit or place in numbers
        )


@dataclass(frozen=True)
class Scan:
    """Looks for one kind of identifier after the other in all released columns.

    ``unmeasured`` are the columns of which it is already known whether they name people. What is
    found is a failure; what a program cannot tell leaves the point open.
    """

    subjects: Sequence[Subject]
    unmeasured: Sequence[Unmeasured] = ()

    def __call__(self, kind: str) -> tuple[Status, str]:
        """Return whether the kind is gone, and the evidence: counts, never a value."""
        if any(one.release is None for one in self.subjects):
            return "incomplete", "there is no release to look at"
        columns, looked_for = self._columns, KINDS[kind]
        named = [one for one in columns if looked_for.is_named(one.name)]
        shaped = _finer_than_years if kind == "dates" else looked_for.shaped
        cells = sum(one.cells(shaped(one.texts), one.numbers.get(kind, ())) for one in columns)
        failed, open_ones, more = self._closely(kind, named)
        if kind != "places":  # of which some may be shown
            failed += len(named)
        told = []
        if looked_for.words:
            told.append(f"{len(named):,} of {len(columns):,} released columns by name")
        rows = sum(one.told for one in columns)
        by_content = f"{cells:,} of {rows:,} cells by content"
        tells = looked_for.shape or kind in _BY_CHECK_DIGITS
        told += [by_content if tells else "contents cannot be told", *more]
        if left := self._left_out(kind):
            told.append(f"{left:,} of the table's columns with such a name left out")
        status: Status = "passed"
        if failed or cells:
            status = "failed"
        elif open_ones:
            status = "incomplete"
        return status, ", ".join(told)

    def _closely(self, kind: str, named: Sequence[_Column]) -> tuple[int, int, list[str]]:
        """Look at what is peculiar to a kind: what fails, what stays open, and what to tell."""
        match kind:
            case "names":
                free = sum(one.is_free_text for one in self._columns)
                return 0, free, [f"{free:,} columns of free text"] if free else []
            case "places":
                return _places(named)
            case "dates":
                return _ages(self._columns)
            case "photographs":
                binary = sum(one.is_binary for one in self._columns)
                return binary, 0, [f"{binary:,} columns of binary data"] if binary else []
            case "unique-codes":
                people = {one.name for one in self.unmeasured if one.names_people}
                people |= {one.name for one in self._columns if one.is_unique}
                return len(people), 0, [f"{len(people):,} columns different in nearly every row"]
        return 0, 0, []

    @cached_property
    def _columns(self) -> list[_Column]:
        """Every released column once, those of several releases under one name apart."""
        found: dict[tuple[str, int], _Column] = {}
        for place, subject in enumerate(self.subjects):
            for column in () if subject.release is None else _columns_of(subject.release):
                if column.texts or column.is_binary:
                    found[column.name, place] = column
        return list(found.values())

    def _left_out(self, kind: str) -> int:
        """How many columns of the table have such a name and are not released."""
        released = {one.name for one in self._columns}
        table = self.subjects[0].table
        return sum(
            KINDS[kind].is_named(name) for name in table.column_names if name not in released
        )


def _columns_of(release: Release) -> list[_Column]:
    found = []
    for column in release.columns:
        counts = np.bincount(column.index, minlength=column.count).tolist()
        name = column.attribute.name
        found.append(_told(name, list(column.texts), counts, list(column.regions)))
    counts = np.bincount(release.classes, minlength=len(release.sensitive_values)).tolist()
    values = release.sensitive_values
    if any(isinstance(value, tuple) for value in values):
        names = release.sensitive_columns or tuple(release.sensitive_name.split(", "))
        for place, name in enumerate(names):
            found.append(_told(name, [_text(value[place]) for value in values], counts))
    else:
        found.append(_told(release.sensitive_name, list(map(_text, values)), counts))
    if (carried := release.carried) is not None:
        found += [_carried(name, carried[name]) for name in carried.column_names]
    return found


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _told(
    name: str, texts: list[str], counts: list[int], regions: Sequence[Region | None] = ()
) -> _Column:
    """Keep what some row shows and what says something; texts that are alike are one."""
    merged: dict[str, int] = {}
    region_of: dict[str, Region | None] = {}
    for place, text in enumerate(texts):
        if counts[place] and text.strip() not in _SAYS_NOTHING:
            merged[text] = merged.get(text, 0) + counts[place]
            region_of[text] = regions[place] if regions else None
    return _Column(name, list(merged), list(merged.values()), list(region_of.values()))


def _carried(name: str, cells: pa.ChunkedArray) -> _Column:
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_binary(cells.type) or pa.types.is_large_binary(cells.type):
        return _Column(name, [], [], [], is_binary=cells.null_count < len(cells))
    counted = pc.value_counts(cells)
    texts = [_text(value) for value in counted.field("values").to_pylist()]
    return _told(name, texts, counted.field("counts").to_pylist())


def _finer_than_years(texts: list[str]) -> NDArray[np.bool_]:
    """Tell which texts hold a day or a month; an interval of whole years does not."""
    return KINDS["dates"].shaped([_WHOLE_YEARS.sub("", text) for text in texts])


def _ages(columns: Sequence[_Column]) -> tuple[int, int, list[str]]:
    """Count rows that tell an age over 89; years of birth may tell one, which stays open."""
    old, births = 0, 0
    for column in columns:
        words = words_of(column.name)
        if any(word in AGES for word in words):
            pairs = zip(column.texts, column.regions, strict=True)
            old += column.cells([_is_old(text, region) for text, region in pairs])
        births += any(word in BIRTHS for word in words)
    told = [f"{old:,} cells with ages over {OLDEST}"]
    if births:
        told.append(f"{births:,} columns of births, whose years may tell such ages")
    return old, births, told


def _is_old(text: str, region: Region | None) -> bool:
    """Tell whether a cell shows more about an age over 89 than that it is 90 or more."""
    low, high = _ends(text, region)
    return OLDEST < high < math.inf or low > OLDEST + 1


def _ends(text: str, region: Region | None) -> tuple[float, float]:
    match region:
        case Interval(low, high):
            return low, high
        case Anything():
            return -math.inf, math.inf
        case ValueSet(values):
            numbers = [float(one) for one in values if isinstance(one, int | float)]
            if numbers:
                return min(numbers), max(numbers)
    numbers = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)]
    if not numbers:
        return -math.inf, math.inf
    open_above = re.search(r"\+|>|≥|older|more|over|inf|∞", text) is not None
    return min(numbers), math.inf if open_above else max(numbers)


def _places(named: Sequence[_Column]) -> tuple[int, int, list[str]]:
    """Count columns of places that tell too much; a postal code may show three characters."""
    failed = open_ones = 0
    for column in named:
        postal = any(word in POSTAL for word in words_of(column.name))
        if postal and all(_shown(text) <= SHOWN for text in column.texts):
            open_ones += 1
        else:
            failed += 1
    told = "columns of three-digit areas, each of which must hold more than 20,000 people"
    return failed, open_ones, [f"{open_ones:,} {told}"] if open_ones else []


def _shown(text: str) -> int:
    return max((len(part) for part in re.findall(r"\w+", text)), default=0)
