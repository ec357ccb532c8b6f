"""Small tables and releases whose utility can be counted by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from indiff import Hierarchy, Release, Table, read_release, read_table

JOBS = Hierarchy.from_lines(
    ["Dancer;Artist;*", "Writer;Artist;*", "Nurse;Medical;*", "Doctor;Medical;*", "Lawyer;*"]
)


def people() -> Table:
    """Five records: ages from 20 to 70 (a domain 50 wide), five jobs in a tree, an illness."""
    return read_table(
        pa.table(
            {
                "age": [20, 30, 40, 60, 70],
                "job": ["Dancer", "Writer", "Nurse", "Doctor", "Lawyer"],
                "ill": ["no", "yes", "no", "no", "yes"],
            }
        ),
        quasi=["age", "job"],
        sensitive="ill",
        hierarchies={"job": JOBS},
    )


def released(table: Table, ages: list[str], jobs: list[str], ill: str = "nynny") -> Release:
    """Read a release of :func:`people` from its cells."""
    said = {"n": "no", "y": "yes"}
    columns: dict[str, Any] = {"age": ages, "job": jobs, "ill": [said[letter] for letter in ill]}
    return read_release(pa.table(columns), table)
