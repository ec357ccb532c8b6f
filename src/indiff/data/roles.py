"""Gives each column its role: as named, or as its values and the other roles suggest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.door import Raw
from indiff.data.reading.written.hints import with_header
from indiff.data.schema import Role
from indiff.errors import UserError, option, unknown


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
                missing = unknown("column", name, columns, field=str(role))
                raise with_header(missing, raw.header_row)
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
    return (
        pa.types.is_string(column.type)
        and len(column) > 1
        and column.null_count == 0
        and pc.count_distinct(column).as_py() == len(column)
    )
