"""Reads small files that a user writes beside a table, and names sensitive values as they do."""

from __future__ import annotations

import csv
import io
import math
import tomllib
from pathlib import Path
from typing import Any

from indiff.errors import UserError, from_data, reason_of

DEEPEST = 50  # levels of a TOML file


def label_of(value: Any) -> str:
    """Return how a file names a sensitive value; the missing one has the empty name.

    >>> label_of(3.0), label_of(None), label_of(("a", 1))
    ('3', '', 'a, 1')
    """
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(label_of(part) for part in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def read_text(path: Path, what: str) -> str:
    """Return what a small text file says."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(
            f"the {what} {str(path)!r} cannot be read ({error.strerror}); "
            "check the path and its permissions."
        ) from None
    except UnicodeDecodeError:
        raise UserError(f"the {what} {str(path)!r} is not UTF-8 text; save it as UTF-8.") from None


def read_toml(
    path: Path, what: str, way_out: str, *, shown: str, field: str | None = None
) -> dict[str, Any]:
    """Return what a TOML file says; ``shown`` names it where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        rule = f"{what} must be readable; {shown!r} is not ({error.strerror})"
        raise UserError(rule, way_out=way_out, field=field) from None
    except UnicodeDecodeError:
        rule = f"{what} is UTF-8 text; {shown!r} is not"
        raise UserError(rule, way_out="Save it as UTF-8", field=field) from None
    return parse_toml(text, path.name, field=field)


def parse_toml(text: str, name: str, *, field: str | None = None) -> dict[str, Any]:
    """Return what a TOML text says; one that is nested deeply is none of ours."""
    keys = (line.partition("=")[0].strip() for line in text.splitlines())
    deep = any(key.count(".") > DEEPEST and not key.startswith((".", "#")) for key in keys)
    found: dict[str, Any] = {}
    try:
        found = {} if deep else tomllib.loads(text)
    except RecursionError:
        deep = True
    except ValueError as error:  # a number of thousands of digits is one, too
        rule = f"{name} is no TOML: {reason_of(error)}"
        raise UserError(rule, way_out="Correct that line", field=field) from None
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [value for one in inner for value in one if isinstance(value, dict | list)]
    if deep or level:
        raise UserError(f"{name} is nested too deeply", way_out="Write it flatter", field=field)
    return found


def read_cells(path: Path, what: str) -> list[tuple[int, list[str]]]:
    """Read a CSV file as numbered lines of cells, each line as wide as the first."""
    text = read_text(path, f"file of {what}")
    first = text.split("\n", 1)[0]
    likely, other = (";", ",") if ";" in first and "," not in first else (",", ";")
    lines = _split(path, text, likely)
    if not _is_table(lines) and _is_table(second := _split(path, text, other)):
        lines = second  # values may hold the one or the other
    for number, cells in lines:
        if len(cells) != len(lines[0][1]):
            raise UserError(
                f"{path.name}, line {number}: {len(lines[0][1])} cells are needed, as "
                "in the first row",
                len(cells),
            )
    return lines


def number_of(path: Path, line: int, cell: str, what: str, low: float, high: float) -> float:
    """Return the number in a cell of a line, which must lie from one to another."""
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not (low <= number <= high and math.isfinite(number)):
        span = f"from {low} to {high}" if math.isfinite(high) else "of at least 0"
        raise UserError(f"{path.name}, line {line}: {what} is a number {span}", from_data(cell))
    return number


def _split(path: Path, text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return [(reader.line_num, [cell.strip() for cell in line]) for line in reader if line]
    except csv.Error as error:
        raise UserError(
            f"{path.name}, line {reader.line_num}: this is not CSV ({error}); check its quotes."
        ) from None


def _is_table(lines: list[tuple[int, list[str]]]) -> bool:
    """Tell whether all lines have the same number of cells, and more than one."""
    widths = {len(cells) for _, cells in lines}
    return len(widths) == 1 and min(widths) > 1
