"""Reads how many records to test, or which of them, as people write it: 200, 0-49 or 3,10-12."""

from __future__ import annotations

import re

from indiff.errors import UserError, option

MOST_RECORDS = 10**12  # where the table was not read yet: the test refuses records beyond its last
MOST_TARGETS = 10**8  # more than any table that is tested: a list of them would fill the memory


def read_targets(text: str | None, records: int = MOST_RECORDS) -> list[int] | int | None:
    """Read how many records (a plain number), or which: a range with its end, or a list of both.

    >>> read_targets("7"), read_targets("7-7"), read_targets("0-3"), read_targets("3,10-12")
    (7, [7], [0, 1, 2, 3], [3, 10, 11, 12])
    """
    if text is None:
        return None
    name = option("targets")
    if re.fullmatch(r"\s*[0-9]{1,12}\s*", text):
        if int(text) < 1:
            raise UserError(
                f"{name} is a number of records of at least 1, or record numbers such as "
                "0-49 or 7-7",
                f"{text!r}",
            )
        return int(text)
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,12})\s*(?:-\s*([0-9]{1,12})\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        rule = way_out = ""
        if first > last:
            rule = (
                f"{name} is how many (200), or a list of record numbers and ranges such "
                "as 7-7, 0-49 or 3,10-12"
            )
        elif last - first >= MOST_TARGETS:
            rule = f"{name} names at most {MOST_TARGETS:,} records in a range"
            way_out = "Give their number instead, as in 200"
        elif last >= records:
            rule = f"{name} must name records from 0 to {records - 1:,}, the last of the input"
        if rule:
            raise UserError(rule, f"{text!r}", way_out)
        found.extend(range(first, last + 1))
    return found


def check_targets(targets: int | list[int]) -> None:
    """Raise where no record is named."""
    if isinstance(targets, int) and targets < 1:
        raise UserError("targets is a number of at least 1, or record numbers", targets)
    if isinstance(targets, list) and not targets:
        raise UserError("targets names no record; leave it out to test all of them.")
