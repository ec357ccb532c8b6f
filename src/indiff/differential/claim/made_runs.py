"""Finds the runs that a folder of releases holds: without whom, and how many of them."""

from __future__ import annotations

import numpy as np

from indiff.data.table import Table
from indiff.differential.people import People
from indiff.errors import UserError, check_whole
from indiff.sanitizers.oracles.folder import Releases

TRUSTED = "the releases were made elsewhere: that each is a run of its own is taken on trust"


def people_with_runs(
    folder: Releases, table: Table, people: People, *, least: int, most: int | None = None
) -> tuple[People, int, int]:
    """Return those of the people who have enough runs, and how many runs there are.

    The numbers are of runs of the whole table, and of the fewest without one of these people. At
    most so many people are taken, the first ones.
    """
    present = len(folder.runs())
    absent = np.array([len(folder.runs(table.records[people.of(one)].tolist()))
                       for one in range(len(people))], np.int64)  # fmt: skip
    if most is not None:
        check_whole("targets", most, 1)
    kept = np.flatnonzero(absent >= least)[:most]
    if present < least or not len(kept):
        raise UserError(
            f"what chance does is told by at least {least} runs with and without a record, each a "
            "file of its own in folders 'release' and 'without-0', 'without-1' …",
            f"{present:,} runs with everybody and at most {int(absent.max(initial=0)):,} without a "
            "record",
            "Make more of them: one file read twice is no second run",
            field="sanitizer",
        )
    return people.choose(kept), present, int(absent[kept].min())
