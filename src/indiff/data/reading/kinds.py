"""What is known of a column before it is typed: its name, its gaps, and how its text looks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from indiff.errors import Message, UserError, option, unknown
from indiff.text import is_text

SEPARATORS = (",", ";", "\t", "|")
BLANKS = " \t"
IN_NUMBERS = "[0-9.,'’ \u00a0\u2009\u202feE+-]"
IN_DATES = "^[0-9./-]+(?:[T ]00:00[0:.Z]*)?$"
CELL_LIMIT = 1_000_000
_LOOKED_AT = 60  # rows in which the header is sought
_FIRST = 1000
DATE_WORDS = (
    "date", "birth", "born", "dob", "day", "datum", "geburt", "naissance", "fecha", "nascimento",
)  # fmt: skip


def checked_names(names: Sequence[object], where: str) -> tuple[list[str], list[str]]:
    """Return the names without the blanks around them, and a note on each that had some."""
    if not names:
        raise UserError(f"a table needs at least one column; {where} has none: add a column.")
    clean: list[str] = []
    notes: list[str] = []
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise UserError(
                f"column names must be text; column {position} of {where} is called {name!r}: "
                "write its name as text."
            )
        stripped = name.strip()
        if not stripped:
            raise UserError(
                f"every column needs a name; column {position} of {where} has none: name it, or "
                "leave out the column of row numbers that some programs add."
            )
        if not is_text(stripped):
            raise UserError(
                f"column names must be valid Unicode; column {position} of {where} is called "
                f"{name!r}: rename it."
            )
        if stripped in clean:
            raise UserError(
                f"column names must differ; {where} has two columns called {stripped!r} "
                f"(columns {clean.index(stripped) + 1} and {position}): rename one of them."
            )
        if stripped != name:
            notes.append(
                f"column {name!r} is called {stripped!r}: blanks around a name are removed"
            )
        clean.append(stripped)
    return clean, notes


def require_columns(wanted: Sequence[str], known: Sequence[str]) -> None:
    """Raise for the first wanted column that is not known."""
    for name in wanted:
        if name not in known:
            raise unknown("column", name, map(str, known))
        if list(known).count(name) > 1:
            raise UserError(f"a column's name must be unique; {name!r} occurs more than once.")


def nested(name: str, kind: object) -> UserError:
    """Return the error for a column whose values are not single values."""
    return UserError(
        f"a column must hold single values; {name!r} is nested ({kind})",
        way_out="Unnest it, or turn it into text first",
    )


def header_of_text(start: bytes) -> int | None:
    """Return the line that seems to name the columns, where it is not the first."""
    lines = start[: 1 << 16].decode("utf-8", "replace").splitlines()[:_LOOKED_AT]
    best: tuple[int, int] | None = None
    for separator in SEPARATORS:
        rows = [re.sub(r'"[^"]*"', "q", line).split(separator) for line in lines]
        found = header_of_rows(rows)
        if found is not None and (best is None or len(rows[found - 1]) > best[0]):
            below = [row for row in rows[found:] if row != [""]]
            if len(below) > 1 and all(len(row) == len(rows[found - 1]) for row in below[:-1]):
                best = len(rows[found - 1]), found
    return best[1] if best else None


def header_of_rows(rows: Iterable[Sequence[object]]) -> int | None:
    """Return the row that seems to name the columns, from 1, where it is not the first.

    It is the first row in which no cell is blank among as many as the widest row has, if all of
    them are texts and records follow.
    """
    looked = [list(row) for _, row in zip(range(_LOOKED_AT), rows, strict=False)]
    filled = [sum(str(cell).strip() != "" for cell in row) for row in looked]
    width = max(filled, default=0)
    if width < 2 or width not in filled:
        return None
    place = filled.index(width)
    texts = all(isinstance(c, str) and not re.search(r"^\W*[0-9]", c) for c in looked[place] if c)
    return place + 1 if place > 0 and texts and place + 1 < len(looked) else None


def with_header(error: UserError, place: int | None) -> UserError:
    """Return an error with the row that seems to be the header, where there is one."""
    if place is None:
        return error
    hint = f"If row {place} names the columns, give {option('header_row', place)}"
    way_out = f"{error.way_out.rstrip('.')}. {hint}" if error.way_out else hint
    return UserError(error.rule, error.got, way_out, field="header_row")


def arrow_reader(data: bytes) -> pa.BufferReader:
    """Return a reader of a copy that Arrow owns.

    Arrow's worker threads may drop their last hold on a Python object while the interpreter shuts
    down, which aborts the process after its work is done. Memory of its own is free of that.
    """
    copy = pa.allocate_buffer(len(data))
    np.frombuffer(copy, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return pa.BufferReader(copy)


def missing_pattern(tokens: Sequence[str]) -> str:
    """Return the regular expression of a missing value: a token, with blanks around it or none."""
    return rf"^[ \t]*(?:{'|'.join(map(re.escape, tokens))})[ \t]*$"


def without_missing(text: pa.ChunkedArray, tokens: Sequence[str]) -> pa.ChunkedArray:
    """Return the column with null for every value that is a token, blanks around it aside."""
    if not tokens:
        return text
    missing = pc.match_substring_regex(text, missing_pattern(tokens))
    if not pc.any(missing).as_py():
        return text
    return pc.if_else(missing, pa.scalar(None, pa.string()), text)


def all_match(text: Any, pattern: str) -> bool:
    """Tell whether every value that is not missing matches a pattern; the first few often tell."""
    parts = (text[:_FIRST], text[_FIRST:])
    return all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py() is not False for part in parts
    )


def any_match(text: Any, pattern: str) -> bool:
    """Tell whether any value matches a pattern."""
    return pc.any(pc.match_substring_regex(text, pattern)).as_py() is True


class Typed(NamedTuple):
    """A column, what was decided, what must be asked, and what it shows of its file.

    That is the decimal sign, and whether its first record seems to be the header.
    """

    values: pa.ChunkedArray
    notes: list[str]
    question: UserError | None = None
    decimal: str | None = None
    begins_with_header: bool = False
    is_rewritten: bool = False
    """Whether the values are not the text as a program would read it."""


def as_text(name: str, text: pa.ChunkedArray, header_row: int) -> Typed:
    """Keep a column as text; say it where most values look like dates or numbers, but not all."""
    values = len(text) - text.null_count
    written = text.unique()  # most columns of text have few different values
    for what, looks, way_out in (
        ("dates", _looks_like_a_date, f"; where they are, give {option('date_format')}"),
        ("numbers", _looks_like_a_number, ""),
    ):
        if not pc.any(looks(written)).as_py():
            continue
        which = looks(text)
        count = pc.sum(which).as_py()
        if 2 * count < values:
            continue
        kept = f"column {name!r} is kept as text:"
        if count == values:
            told = f"{kept} its values look like {what} that are not all written alike{way_out}"
            return Typed(text, [Message(told)])
        strange = pc.index(pc.invert(which), True).as_py()
        is_header = strange == 0 and count == values - 1 > 1
        if is_header:
            below = option("header_row", header_row + 1)
            way_out += f"; where record 0 is the header, give {below}"
        told = (
            f"{kept} {count:,} of its {values:,} values are {what}, others not (first in record "
            f"{strange}){way_out}"
        )
        return Typed(text, [Message(told)], begins_with_header=is_header)
    return Typed(text, [])


def _looks_like_a_date(text: Any) -> Any:
    """Tell for each value whether it has the shape of a date, a valid one or not."""
    month = "(?:jan|feb|m[aä]r|apr|ma[yi]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-zä]*"
    shapes = (
        "[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?:[T ][0-9:.+Z-]*)?",
        f"[0-9]{{1,2}}[. -]+{month}[. ,-]+[0-9]{{2,4}}",
        f"{month}[. ]+[0-9]{{1,2}}(?:st|nd|rd|th)?,? +[0-9]{{4}}",
    )
    return pc.match_substring_regex(text, f"(?i)^(?:{'|'.join(shapes)})$")


def _looks_like_a_number(text: Any) -> Any:
    return pc.match_substring_regex(text, f"^[-+−]?[.,]?[0-9]{IN_NUMBERS}*$")


def date_number_note(name: str, numbers: pa.ChunkedArray) -> list[str]:
    """Return the note on whole numbers that may be dates: Excel's serial ones, or 19760704."""
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()
    if not any(word in words for word in DATE_WORDS):
        return []
    ends = pc.min_max(numbers).as_py()
    if ends["min"] >= 10_000 and ends["max"] <= 73_050:
        what, told = "the days that Excel counts from 1900", "excel"
    elif ends["min"] >= 18_000_101 and ends["max"] <= 21_001_231:
        what, told = "year, month and day in one", "%Y%m%d"
    else:
        return []
    return [
        Message(
            f"column {name!r} is read as whole numbers; where they are dates ({what}), give "
            f"{option('date_format', {name: told})}"
        )
    ]


def question(name: str, field: str, rule: str, way_out: str) -> UserError:
    """Return the question of a column that can be read in two ways; it may stay text."""
    keep = f"{option('kinds', {name: 'categorical'})} to keep the text"
    return UserError(rule, way_out=f"{way_out} {keep}", field=field)


def first_of(which: pa.ChunkedArray) -> str:
    """Name the first such record by its number: notes are shown and stored, values are not."""
    return f"first in record {pc.index(which, True).as_py()}"
