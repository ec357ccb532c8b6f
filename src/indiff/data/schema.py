"""What each column is: its role in the release and its kind of values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from indiff.errors import unknown


class Role(StrEnum):
    """What a column is to the release: who (identifier, quasi), what (sensitive), or neither."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"


class Kind(StrEnum):
    """How a column's values relate: by difference, not at all, or by order alone."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"


@dataclass(frozen=True)
class Column:
    """One column of a table.

    >>> Column("age", Role.QUASI, Kind.NUMERIC)
    Column(name='age', role=quasi, kind=numeric)
    """

    name: str
    role: Role
    kind: Kind
    is_date: bool = False

    def __repr__(self) -> str:
        date = ", is_date=True" if self.is_date else ""
        return f"Column(name={self.name!r}, role={self.role}, kind={self.kind}{date})"


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in the order of the input.

    >>> schema = Schema((Column("age", Role.QUASI, Kind.NUMERIC),))
    >>> schema["age"].kind
    <Kind.NUMERIC: 'numeric'>
    >>> schema.names(Role.QUASI)
    ('age',)
    """

    columns: tuple[Column, ...]

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown("column", name, [column.name for column in self.columns])

    def names(self, role: Role) -> tuple[str, ...]:
        """Return the names of the columns with this role."""
        return tuple(column.name for column in self.columns if column.role == role)
