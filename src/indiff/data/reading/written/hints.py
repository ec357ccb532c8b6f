"""What a column of text may mean beside what it says: gaps, serial dates, a header further down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from indiff.errors import Message, UserError, option

# What people and programs write where nothing is known; compared without regard to case.
GAPS = (
    "?", "-", "--", "---", "–", "—", ".", "..", "/", "n/a", "#n/a", "na", "<na>", "n.a.", "nan",
    "null", "none", "nil", "missing", "unknown", "not available", "k.a.", "k. a.", "unbekannt",
    "nd", "n.d.",
)  # fmt: skip
DATE_WORDS = (
    "date", "birth", "born", "dob", "day", "datum", "geburt", "naissance", "fecha", "nascimento",
)  # fmt: skip
_SEPARATORS = (",", ";", "\t", "|")
_LOOKED_AT = 60


def gap_counts(text: pa.ChunkedArray) -> dict[str, int]:
    """Return how often each text that often means "missing" is a value.

    >>> gap_counts(pa.chunked_array([["?", "a", "NA", "?"]]))
    {'?': 2, 'NA': 1}
    """
    short = text.filter(pc.less_equal(pc.binary_length(text), 16)).drop_null()
    bare = pc.utf8_trim_whitespace(short)
    found = bare.filter(pc.is_in(pc.utf8_lower(bare), value_set=pa.array(GAPS)))
    counted = pc.value_counts(found).to_pylist()
    return {one["values"]: one["counts"] for one in sorted(counted, key=lambda x: -x["counts"])}


def gap_note(found: Mapping[str, Mapping[str, int]], tokens: Sequence[str]) -> list[str]:
    """Return the note that proposes missing tokens, from the counts of each column."""
    places: dict[str, list[str]] = {}
    for column, counts in found.items():
        for token, count in counts.items():
            places.setdefault(token, []).append(f"{count:,} in {column!r}")
    if not places:
        return []
    told = "; ".join(f"{token!r} ({', '.join(where)})" for token, where in places.items())
    # A token of the user's own may be a value of the table, and notes stand in reports.
    usual = [token for token in tokens if not token.strip() or token.lower() in GAPS]
    also = ", beside the texts given" if len(usual) < len(tokens) else ""
    every = option("missing_tokens", list(dict.fromkeys([*usual, *places])))
    return [
        Message(
            f"cells that often mean a missing value are read as values: {told}; where they are "
            f"missing values, give {every}{also}"
        )
    ]


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


def header_of_text(start: bytes) -> int | None:
    r"""Return the line that seems to name the columns, where it is not the first.

    >>> header_of_text(b"Ward 7\n\nage;ill\n31;no\n45;yes\n")
    3
    """
    lines = start[: 1 << 16].decode("utf-8", "replace").splitlines()[:_LOOKED_AT]
    best: tuple[int, int] | None = None
    for separator in _SEPARATORS:
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

    >>> header_of_rows([["Ward 7", ""], ["", ""], ["age", "ill"], [31, "no"]])
    3
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
