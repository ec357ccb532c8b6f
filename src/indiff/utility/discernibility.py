"""Discernibility: how many records each record cannot be told from."""

from __future__ import annotations

from indiff.data.table import Table
from indiff.release.release import Release
from indiff.utility.classes import classes_of


def discernibility(table: Table, release: Release) -> int:
    """Return Σ |E|² over groups E, plus n for each suppressed record: absent, or ``*`` throughout.

    The discernibility metric of Bayardo and Agrawal (2005, Section 2.3). It goes from n (every
    record alone) to n². It does not see how wide the regions of a group are: the same groups
    cost the same whether they span a year or a century.

    >>> import pyarrow as pa
    >>> from indiff import Mondrian, read_table
    >>> table = read_table(pa.table({"age": [28, 36, 47, 53, 72], "ill": list("nynnn")}),
    ...                    quasi=["age"], sensitive="ill")
    >>> discernibility(table, Mondrian(k=2).sanitize(table))  # 2² + 3²
    13
    """
    found = classes_of(table, release)
    return int((found.sizes**2).sum()) + (found.starred + found.lacking) * len(table)
