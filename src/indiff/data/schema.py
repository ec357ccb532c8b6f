"""What each column is: its role in the release, named or inferred, and its kind of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from indiff.errors import UserError, option, unknown

if TYPE_CHECKING:
    import pyarrow as pa

    from indiff.data.reading.door import Raw


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


def assign_roles(
    raw: Raw,
    quasi: Sequence[str] | None,
    sensitive: Sequence[str],
    identifier: Sequence[str],
    other: Sequence[str],
    behind: Mapping[str, Sequence[str]],
) -> dict[str, Role]:
    """Return every column's role, the named quasi-identifiers first."""
    columns = raw.frame.column_names
    roles: dict[str, Role] = {}
    if isinstance(quasi, str):
        quasi = [quasi]
    for role, names in (
        (Role.IDENTIFIER, identifier),
        (Role.QUASI, quasi or ()),
        (Role.SENSITIVE, sensitive),
        (Role.OTHER, other),
    ):
        for name in names:
            if name not in columns:
                raise raw.explained(unknown("column", name, columns, field=str(role)))
            if name in roles:
                raise UserError(
                    f"a column has one role; {name!r} is listed as {roles[name]} and as {role}",
                    way_out="Remove it from one of the two",
                )
            roles[name] = role
    for name in columns:
        if name not in roles:
            # What a sensitive expression looks at would give it away as a quasi-identifier.
            if any(name in looked_at for looked_at in behind.values()):
                roles[name] = Role.OTHER
            elif name not in raw.questions and names_everyone(raw.frame[name]):
                roles[name] = Role.IDENTIFIER
            else:
                roles[name] = Role.QUASI if quasi is None else Role.OTHER
    if not any(role == Role.QUASI for role in roles.values()):
        raise UserError(
            f"at least one quasi-identifier is needed; name it with {option('quasi')}.",
            field="quasi",
        )
    ordered = [*(quasi or ()), *(name for name in columns if name not in (quasi or ()))]
    return {name: roles[name] for name in ordered}


def names_everyone(column: pa.ChunkedArray) -> bool:
    """Tell whether a text column is different in every record, as names and keys are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return (
        pa.types.is_string(column.type)
        and len(column) > 1
        and column.null_count == 0
        and pc.count_distinct(column).as_py() == len(column)
    )
