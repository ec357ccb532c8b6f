"""Builds a hierarchy from a column's values: intervals, dates, codes, groups."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.hierarchy import ROOT
from indiff.errors import UserError, from_data, option

DatePart = Literal["month", "quarter", "year", "decade"]
PARTS: tuple[DatePart, ...] = get_args(DatePart)
MOST_VALUES = 200_000
LONGEST_CODE = 40
SIDES = ("right", "left")
_FILE = f"Attach a hierarchy file ({option('hierarchies')})"


def distinct_values(column: pa.ChunkedArray) -> pa.Array:
    """Return the values of a column that a hierarchy is built above, or refuse too many."""
    values = column.drop_null().unique()
    if len(values) > MOST_VALUES:
        rule = f"a hierarchy is built from at most {MOST_VALUES:,} values; this column has "
        raise UserError(f"{rule}{len(values):,}", way_out=_FILE)
    return values.take(pc.sort_indices(values))


def interval_lines(
    column: pa.ChunkedArray, widths: Sequence[int | float | Decimal], start: int = 0
) -> list[str]:
    """Return a hierarchy's lines: each number, the intervals that hold it, and ``*``.

    Each width is a multiple of the one before, so that intervals nest. Whole numbers in intervals
    of whole widths are written with both ends in (``30-34``), others from the first end to below
    the second (``1.5 to <2``).

    >>> interval_lines(pa.chunked_array([[31, 47]]), [5, 10])
    ['31;30-34;30-39;*', '47;45-49;40-49;*']
    >>> interval_lines(pa.chunked_array([[1.62, 1.7]]), [0.1, 1])
    ['1.62;1.6 to <1.7;1 to <2;*', '1.7;1.7 to <1.8;1 to <2;*']
    """
    steps = [Decimal(str(width)) for width in widths]
    if not _nest(steps):
        raise UserError(
            "each width must be a multiple of the one before, so that intervals nest",
            ", ".join(map(str, widths)) or "none",
            "Try 5, 10, 20, 40",
        )
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise UserError(
            "intervals are made of numbers; this column holds text or dates",
            way_out=f"Mask its codes, build months and years of its dates, or {_lower(_FILE)}",
        )
    values = distinct_values(column)
    numbers = [Decimal(text) for text in values.cast(pa.string()).to_pylist()]
    if not all(number.is_finite() for number in numbers):
        raise UserError("intervals are made of finite numbers; this column has others.")
    whole = all(number == number.to_integral_value() for number in (*numbers, *steps))
    lines = []
    for text, number in zip(values.cast(pa.string()).to_pylist(), numbers, strict=True):
        levels = [_interval(number, step, start, whole) for step in steps if not whole or step > 1]
        lines.append(";".join([text, *levels, ROOT]))
    return lines


def _nest(widths: Sequence[Decimal]) -> bool:
    """Tell whether widths are finite, above zero, and each a multiple of the one before."""
    if not widths or not all(width.is_finite() and width > 0 for width in widths):
        return False
    try:
        return all(b > a and not b % a for a, b in pairwise(widths))
    except InvalidOperation:  # they are more digits apart than are kept
        return False


def _interval(number: Decimal, width: Decimal, start: int, whole: bool) -> str:
    low = start + ((number - start) / width).to_integral_value("ROUND_FLOOR") * width
    if not whole:
        return f"{_plain(low)} to <{_plain(low + width)}"
    high = low + width - 1
    return f"{_plain(low)}-{_plain(high)}" if low >= 0 else f"{_plain(low)} to {_plain(high)}"


def nested_widths(low: Decimal, high: Decimal, *, whole: bool) -> list[Decimal]:
    """Return the widths of intervals that nest, where nobody names any.

    The narrowest is the least of 1, 2, 5, 10, 20, 50, … (or 0.1, 0.2, 0.5, …) that is at least a
    sixteenth of the range, and 2 or more for whole numbers; each next one is twice as wide, up to
    the range.

    >>> [str(width) for width in nested_widths(Decimal(17), Decimal(90), whole=True)]
    ['5', '10', '20', '40']
    >>> [str(width) for width in nested_widths(Decimal("0.1"), Decimal("1.5"), whole=False)]
    ['0.1', '0.2', '0.4', '0.8']
    """
    span = high - low
    if span <= 0:
        return []
    exponent = (span / 16).adjusted()
    nice = [Decimal(m).scaleb(exponent + e) for e in (0, 1) for m in (1, 2, 5)]
    width = next(width for width in nice if width >= span / 16)
    width = max(width, Decimal(2)) if whole else width
    widths = []
    while width < span:
        widths.append(width)
        width *= 2
    return widths


def _plain(number: Decimal) -> str:
    """Write a number without an exponent and without zeros at its end.

    >>> _plain(Decimal("-0.50")), _plain(Decimal("-0")), _plain(Decimal("1E+2"))
    ('-0.5', '0', '100')
    """
    text = f"{number + 0:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def date_lines(column: pa.ChunkedArray, parts: Sequence[str] = PARTS) -> list[str]:
    """Return a hierarchy's lines: each day, then the parts of the calendar that hold it, and ``*``.

    A part ``day`` is what every line begins with.

    >>> days = pa.chunked_array([[datetime.date(1976, 7, 4)]])
    >>> date_lines(days)
    ['1976-07-04;1976-07;1976-Q3;1976;1970-1979;*']
    >>> date_lines(days, ["year"])
    ['1976-07-04;1976;*']
    """
    wanted = [part for part in PARTS if part in parts]
    if len(wanted) < len(set(parts) - {"day"}) or not wanted:
        raise UserError(
            f"dates are put together by {', '.join(PARTS)}", ", ".join(parts) or "none",
            "Name some of them",
        )  # fmt: skip
    if not pa.types.is_date(column.type):
        raise UserError(
            "months and years are made of dates; this column is read as something else",
            way_out=f"Say how its dates are written: {option('date_format')}",
            field="date_format",
        )
    values: list[datetime.date] = distinct_values(column).to_pylist()
    return [
        ";".join([day.isoformat(), *(_CALENDAR[part](day) for part in wanted), ROOT])
        for day in values
    ]


_CALENDAR: dict[str, Callable[[datetime.date], str]] = {
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10 * 10:04}-{day.year // 10 * 10 + 9:04}",
}


def calendar_starts(first: int, last: int) -> list[list[int]]:
    """Return on which days months, quarters, years and decades begin, from before a day to after.

    Days are counted from 1970-01-01.

    >>> [days[:2] for days in calendar_starts(0, 40)]
    [[0, 31], [0, 90], [0, 365], [0, 3652]]
    """
    origin = datetime.date(1970, 1, 1).toordinal()
    begin = datetime.date.fromordinal(origin + first)
    end = datetime.date.fromordinal(origin + last)
    found = []
    for months in (1, 3, 12, 120):
        year = begin.year // 10 * 10 if months == 120 else begin.year
        count = year * 12 + (0 if months == 120 else (begin.month - 1) // months * months)
        starts = []
        while count // 12 <= end.year + 10 and count // 12 <= datetime.MAXYEAR:
            if count >= 12:
                day = datetime.date(count // 12, count % 12 + 1, 1).toordinal() - origin
                starts.append(day)
                if day > last:
                    break
            count += months
        found.append(starts)
    return found


def mask_lines(column: pa.ChunkedArray, side: str = "right") -> list[str]:
    """Return a hierarchy's lines: each code, then with one more character masked from one side.

    >>> mask_lines(pa.chunked_array([["1234", "1299"]]))
    ['1234;123*;12**;1***;*', '1299;129*;12**;1***;*']
    >>> mask_lines(pa.chunked_array([["1234"]]), "left")
    ['1234;*234;**34;***4;*']
    """
    if side not in SIDES:
        raise UserError(f"codes are masked from the {' or the '.join(SIDES)}", side)
    lines = []
    for value in _texts(column):
        if not value or len(value) > LONGEST_CODE or any(sign in value for sign in ';*"\n\r'):
            raise UserError(
                f"masked codes are made of texts of at most {LONGEST_CODE} characters "
                'without ";", "*" and quotation marks; this column has others',
                way_out=_FILE,
            )
        size = len(value)
        if side == "right":
            levels = [value[:kept] + "*" * (size - kept) for kept in range(size, 0, -1)]
        else:
            levels = ["*" * (size - kept) + value[size - kept :] for kept in range(size, 0, -1)]
        lines.append(";".join([*levels, ROOT]))
    return lines


def prefix_lines(column: pa.ChunkedArray, lengths: Sequence[int] | str) -> list[str]:
    """Return a hierarchy's lines: each code, its first characters, fewer on each level, and ``*``.

    Signs at the end of a prefix are left out (``J45.`` is ``J45``). ``"icd10"`` takes the category
    of three characters and the chapter of the classification.

    >>> prefix_lines(pa.chunked_array([["J45.0", "J45"]]), [3, 1])
    ['J45;J45;J;*', 'J45.0;J45;J;*']
    >>> prefix_lines(pa.chunked_array([["J45.0", "D50"]]), "icd10")
    ['D50;D50;D50-D89;*', 'J45.0;J45;J00-J99;*']
    """
    if lengths == ICD10:
        return [_line([code, *_category_and_chapter(code)]) for code in _texts(column)]
    if isinstance(lengths, str) or not lengths or lengths[-1] < 1 or not _falls(lengths):
        raise UserError(
            f"prefixes are numbers of characters, fewer on each level, or {ICD10}",
            lengths if isinstance(lengths, str) else ", ".join(map(str, lengths)) or "none",
            "Try 3,1",
        )
    shorter = [[code[:length].rstrip(" .-/") or code[:1] for length in lengths]
               for code in _texts(column)]  # fmt: skip
    return [_line([code, *above]) for code, above in zip(_texts(column), shorter, strict=True)]


def _category_and_chapter(code: str) -> tuple[str, str]:
    """Return what holds a code of ICD-10: three characters, and the chapter that begins before."""
    category = code[:3].upper()
    if not (len(category) == 3 and category[0].isalpha() and category[1].isdigit()):
        raise UserError(
            "codes of ICD-10 begin with a letter and a digit, and have three characters or more; "
            "this column has others",
            way_out="Name lengths instead: 3,1",
        )
    return category, next(text for text in reversed(_CHAPTERS) if text[:3] <= category)


ICD10 = "icd10"
_CHAPTERS = (
    "A00-B99", "C00-D48", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95",
    "I00-I99", "J00-J99", "K00-K93", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96",
    "Q00-Q99", "R00-R99", "S00-T98", "U00-U99", "V00-Y98", "Z00-Z99",
)  # fmt: skip


def group_lines(
    column: pa.ChunkedArray, sizes: Sequence[int], order: Sequence[str] | None = None
) -> list[str]:
    """Return a hierarchy's lines: each value, and groups of so many neighbours in an order.

    Each size is a multiple of the one before, so that groups nest. Without ``order`` numbers and
    dates stand by size, texts by the alphabet.

    >>> group_lines(pa.chunked_array([["low", "high", "mid"]]), [2], ["low", "mid", "high"])
    ['low;low to mid;*', 'mid;low to mid;*', 'high;high;*']
    """
    if not sizes or sizes[0] < 2 or any(b <= a or b % a for a, b in pairwise(sizes)):
        raise UserError(
            "the first group has 2 values or more, and each size is a multiple of the one before, "
            "so that groups nest",
            ", ".join(map(str, sizes)) or "none",
            "Try 2, 4, 8",
        )
    values = _ordered(distinct_values(column).cast(pa.string()).to_pylist(), order)
    lines = []
    for place, value in enumerate(values):
        levels = []
        for size in sizes:
            group = values[place // size * size : place // size * size + size]
            levels.append(group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}")
        lines.append(_line([value, *levels]))
    return lines


def priority_lines(
    column: pa.ChunkedArray, kept: Sequence[int], order: Sequence[str] | None = None
) -> list[str]:
    """Return a hierarchy's lines: the first values stay, fewer on each level, the others merge.

    Without ``order`` the values that most records hold come first, then the alphabet.

    >>> priority_lines(pa.chunked_array([list("aaabbcd")]), [2, 1])
    ['a;a;a;*', 'b;b;other than 1;*', 'c;other than 2;other than 1;*',
     'd;other than 2;other than 1;*']
    """
    if not kept or kept[-1] < 1 or not _falls(kept):
        raise UserError(
            "priorities are how many values stay, fewer on each level",
            ", ".join(map(str, kept)) or "none",
            "Try 20,10,5",
        )
    values = _texts(column)
    if order is None:
        held = Counter(column.drop_null().cast(pa.string()).to_pylist())
        values.sort(key=lambda value: -held[value])
    else:
        values = _ordered(values, order)
    return [
        _line([value, *(value if place < most else f"other than {most:,}" for most in kept)])
        for place, value in enumerate(values)
    ]


def _falls(numbers: Sequence[int]) -> bool:
    return all(a > b for a, b in pairwise(numbers))


def _texts(column: pa.ChunkedArray) -> list[str]:
    return sorted(distinct_values(column).cast(pa.string()).to_pylist())


def _ordered(values: Sequence[str], order: Sequence[str] | None) -> list[str]:
    """Return the values in an order, which must name all of them; without one as they are."""
    if order is None:
        return list(values)
    lacking = set(values) - set(order)
    if lacking or len(set(order)) < len(order):
        rule = "an order names every value of its column once"
        first = f"; {from_data(min(lacking))} is missing" if lacking else ""
        raise UserError(f"{rule}{first}", way_out="Complete it, or leave it out", field="order")
    held = set(values)
    return [value for value in order if value in held]


def _line(labels: Sequence[str]) -> str:
    """Write a line of a hierarchy file, from a value up to ``*``."""
    if any(sign in labels[0] for sign in "\n\r") or labels[0] in ("", ROOT):
        raise UserError(
            "a line of a hierarchy begins with a value of one line that is not *; this column has "
            "others",
            way_out="Write them otherwise",
        )
    quoted = [
        '"' + label.replace('"', '""') + '"' if ";" in label or '"' in label else label
        for label in labels
    ]
    return ";".join([*quoted, ROOT])


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
