"""Lists the columns of a release of which nothing was measured, identifiers among them."""

from __future__ import annotations

from indiff.data.schema import Role
from indiff.data.table import Table
from indiff.release.release import Release
from indiff.text import name as short_name

_MOST = 10  # columns that a note lists


def identifiers(release: Release | None, table: Table, key: str | None) -> list[str]:
    """Say which columns of a release name people: no number makes up for that.

    The ``key`` by which rows are matched must be there to be tested; a note says the rest.

    >>> import pyarrow as pa
    >>> from indiff import read_release, read_table
    >>> table = read_table(pa.table({"who": ["a", "b"], "age": [28, 36], "ill": ["no", "yes"]}),
    ...                    identifier="who", quasi=["age"], sensitive="ill")
    >>> release = read_release(pa.table({"who": ["a", "b"], "age": ["*"] * 2,
    ...                                  "ill": ["no", "yes"]}), table)
    >>> identifiers(release, table, key=None)
    ["the release has the identifier 'who', which names people"]
    """
    return [
        f"the release has the identifier {short_name(name)!r}, which names people"
        for name in _identifiers(release, table)
        if name != key
    ]


def others(release: Release | None, table: Table, key: str | None) -> list[str]:
    """Say which other columns the release has, of which nothing was measured."""
    notes: list[str] = []
    if release is None:
        return notes
    if key in release.unread:
        notes.append(
            f"the release has the column {short_name(str(key))!r} to match its rows: publish it "
            "without"
        )
    unknown = [
        short_name(name)
        for name in release.unread
        if name != key and name not in _identifiers(release, table)
    ]
    if unknown:
        more = f" and {len(unknown) - _MOST} more" if len(unknown) > _MOST else ""
        notes.append(
            f"nothing was measured of other columns that the release has: "
            f"{', '.join(map(repr, unknown[:_MOST]))}{more}"
        )
    return notes


def _identifiers(release: Release | None, table: Table) -> list[str]:
    named = table.schema.names(Role.IDENTIFIER)
    return [] if release is None else [name for name in release.unread if name in named]
