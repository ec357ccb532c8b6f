"""Refuses a test whose beliefs do not fit into the memory that is free, before it begins."""

from __future__ import annotations

from indiff.data.joining.memory import free_memory
from indiff.errors import UserError, option

BELIEFS = 4  # arrays of beliefs at a time
LITTLE = 10**8  # bytes that are there: finding out how many are free takes longer than a test


def check_memory(records: int, values: int) -> None:
    """Refuse beliefs about so many records that do not fit into the memory that is free.

    A belief is a number for every record and every sensitive value, with and without the record;
    comparing them takes as much again.
    """
    needed = BELIEFS * 8 * records * values
    free = None if needed <= LITTLE else free_memory()
    if free is not None and needed > free:
        raise UserError(
            f"the beliefs about {records:,} records over {values:,} sensitive values need about "
            f"{needed / 1e9:,.1f} GB of memory; {free / 1e9:,.1f} GB are free",
            way_out=f"Test fewer records with {option('targets', 200)}, or put the values into "
            f"fewer classes with {option('bins', 4)} or an expression",
            field="targets",
        )
