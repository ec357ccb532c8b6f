"""Table: the original records, with a schema, as integer codes; and read_table, which makes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from indiff.data.coding import (
    code_attribute,
    code_joint,
    code_sensitive,
    decide_kind,
    plain_kind,
)
from indiff.data.expressions import with_expressions
from indiff.data.fingerprint import fingerprint_of
from indiff.data.hierarchy import Hierarchy
from indiff.data.joining.joined import Joined
from indiff.data.reading.door import Raw, read_raw
from indiff.data.schema import Column, Kind, Role, Schema, assign_roles
from indiff.errors import UserError, option, unknown

MissingPolicy = Literal["error", "drop", "split"]
_Told = Mapping[str, tuple[str | None, Sequence[str] | None, Hierarchy | None]]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One quasi-identifier: its distinct values in order, and each record's place among them.

    ``values[codes[r]]`` is the value of row ``r``. Numeric values ascend (dates as days since
    1970-01-01), categorical ones are sorted, ordinal ones stand in their declared order, and
    those of a hierarchy in its depth-first order. The missing value, where it is one of its own,
    comes last. The values are fixed by the full table: a table without one record keeps them.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    codes: NDArray[np.int32]
    is_date: bool = False
    hierarchy: Hierarchy | None = None
    has_missing: bool = False

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """Each value's position on the line on which widths are measured: itself, or its rank."""
        if self.kind != Kind.NUMERIC:
            return np.arange(len(self.values), dtype=np.float64)
        points = self.values.astype(np.float64)
        # A group that lacks the value has no width, and NaN would have no order.
        return np.where(np.isnan(points), 0.0, points)

    @property
    def missing_code(self) -> int:
        """The code of the missing value, or −1 where there is none."""
        return len(self.values) - 1 if self.has_missing else -1


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive attribute: its values, fixed by the full table, and each record's code.

    ``columns`` are those of the table that it is: itself, or those of a joint attribute. Where
    numbers were ``binned``, its values are the bins.
    """

    name: str
    kind: Kind
    values: tuple[Any, ...]
    codes: NDArray[np.int32]
    hierarchy: Hierarchy | None = None
    columns: tuple[str, ...] = ()
    binned: bool = False

    def __post_init__(self) -> None:
        if not self.columns:
            object.__setattr__(self, "columns", (self.name,))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many records hold each value."""
        return np.bincount(self.codes, minlength=len(self.values))


@dataclass(frozen=True, eq=False)
class Table:
    """The original records D with their schema; made by :func:`read_table`.

    ``joined`` says from which tables its rows come, where there are several.
    """

    schema: Schema
    attributes: tuple[Attribute, ...]
    sensitives: tuple[Sensitive, ...]
    records: NDArray[np.int64]
    source: pa.Table = field(repr=False)
    backend: str = "pyarrow"
    dropped: int = 0
    missing: MissingPolicy = "error"
    notes: tuple[str, ...] = ()
    encoding: str | None = None
    joined: Joined | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"Table({len(self):,} records, {self.describe()})"

    @property
    def sensitive(self) -> Sensitive:
        """The one sensitive attribute; with several, :meth:`focus` chooses one."""
        if len(self.sensitives) != 1:
            names = ", ".join(s.name for s in self.sensitives) or "none"
            raise UserError(
                f"exactly one sensitive attribute is needed here; the table has: {names}",
                way_out=f"Name one with {option('sensitive')}, or several with "
                f"{option('joint', True)}",
                field="sensitive",
            )
        return self.sensitives[0]

    @property
    def column_names(self) -> tuple[str, ...]:
        """Every column of the input."""
        return tuple(column.name for column in self.schema)

    def attribute(self, name: str) -> Attribute:
        """Return the quasi-identifier with this name."""
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise unknown("quasi-identifier", name, [a.name for a in self.attributes])

    def take(self, rows: Iterable[int] | NDArray[Any]) -> Table:
        """Return the table of these rows; values, roles and record numbers stay as they are."""
        chosen = np.asarray(rows, dtype=np.intp)
        return replace(
            self,
            attributes=tuple(replace(a, codes=a.codes[chosen]) for a in self.attributes),
            sensitives=tuple(replace(s, codes=s.codes[chosen]) for s in self.sensitives),
            records=self.records[chosen],
        )

    def without(self, row: int) -> Table:
        """Return D⁻ⁱ: the table without one row (DIT v2, Definition 1)."""
        return self.take(np.delete(np.arange(len(self), dtype=np.intp), row))

    def focus(self, name: str) -> Table:
        """Return the table with this sensitive attribute alone."""
        chosen = [s for s in self.sensitives if s.name == name]
        if not chosen:
            raise unknown("sensitive attribute", name, [s.name for s in self.sensitives])
        return self if len(self.sensitives) == 1 else replace(self, sensitives=(chosen[0],))

    def frame(self) -> pa.Table:
        """Return the original columns of these records as a PyArrow table."""
        return self.source.take(pa.array(self.records))

    @cached_property
    def fingerprint(self) -> str:
        """A keyed digest of the columns in use and their values, in any order, as of a risk."""
        sensitive = [name for one in self.sensitives for name in one.columns]
        quasi = [attribute.name for attribute in self.attributes]
        return fingerprint_of(self.frame(), quasi, sensitive)

    def describe(self) -> str:
        """Name every column with its role and kind in one line."""
        shown = []
        for role in Role:
            kinds = [
                f"{column.name} ({'date' if column.is_date else column.kind})"
                for column in self.schema
                if column.role == role
            ]
            if kinds:
                shown.append(f"{role}: {', '.join(kinds)}")
        return "; ".join(shown)


def read_table(
    source: Any,
    *,
    quasi: Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    joint: bool = False,
    identifier: Sequence[str] | str = (),
    other: Sequence[str] | str = (),
    kinds: Mapping[str, str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None = None,
    bins: int | Sequence[float] | Mapping[str, int | Sequence[float]] | None = None,
    missing: MissingPolicy = "error",
    missing_tokens: Sequence[str] = ("",),
    encoding: str | None = None,
    sheet: str | int | None = None,
    header_row: int | None = None,
    decimal: str | None = None,
    date_format: str | Mapping[str, str] | None = None,
    separator: str | None = None,
) -> Table:
    """Read a table: a path (CSV, TSV, Parquet, Excel) or a pandas, Polars or PyArrow frame.

    Or several as one view (:func:`indiff.join_tables`), whose keys are identifiers.

    Roles and kinds that are not given are inferred and shown back by :meth:`Table.describe`:
    text that is different in every record is an identifier, and without ``quasi=`` every column
    is a quasi-identifier that is neither one, nor sensitive, nor named in ``other=``.
    ``sensitive`` is a column, a list of columns (tested one by one, or as their joint value with
    ``joint=True``) or an expression over columns such as ``"income > 50000"``, whose columns are
    quasi-identifiers only where ``quasi=`` says so.

    Numbers and dates as people write them (``1.234,5``, ``29/07/1953``) are recognised where every
    value of a text column allows one reading only; where two are left, ``decimal=","`` and
    ``date_format="%d/%m/%Y"`` (for all columns, or by column) tell which. ``header_row`` is the
    row that names the columns, from 1, where titles stand above it.

    >>> import pyarrow as pa
    >>> table = read_table(
    ...     pa.table({"age": [28, 36, 47], "ill": ["no", "yes", "no"]}),
    ...     quasi=["age"], sensitive="ill")
    >>> print(table.describe())
    quasi: age (numeric); sensitive: ill (categorical)
    >>> len(table), table.sensitive.values
    (3, ('no', 'yes'))
    """
    if missing not in ("error", "drop", "split"):
        rule = "missing must be 'error', 'drop' or 'split'"
        raise UserError(rule, f"{missing!r}", field="missing")
    joined = source if isinstance(source, Joined) else None
    raw = joined.raw if joined else read_raw(
        source, encoding=encoding, missing_tokens=missing_tokens, sheet=sheet, decimal=decimal,
        header_row=header_row, date_format=date_format, separator=separator,
    )  # fmt: skip
    keys = dict.fromkeys([*(joined.on if joined else ()), *_as_list(identifier)])
    wanted = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    behind: Mapping[str, tuple[str, ...]] = {}
    if sorted(wanted) != sorted(set(wanted).intersection(raw.frame.column_names)):
        raw, behind = with_expressions(raw, wanted, missing_tokens)
    roles = assign_roles(raw, quasi, wanted, list(keys), _as_list(other), behind)
    told = _told(raw, roles, kinds, orders, hierarchies)
    edges = dict(bins) if isinstance(bins, Mapping) else dict.fromkeys(wanted, bins)
    for name in edges:
        if name not in wanted:
            raise unknown("sensitive attribute to bin", name, wanted, field="bins")

    used = [name for name, role in roles.items() if role == Role.QUASI]
    records = _kept_records(raw.frame, used, told, missing)
    dropped = raw.frame.num_rows - len(records)
    frame = raw.frame.take(pa.array(records)) if dropped else raw.frame
    attributes = tuple(
        Attribute(name, **code_attribute(name, frame[name], *told[name])) for name in used
    )
    sensitives = tuple(
        Sensitive(name, **code_sensitive(name, frame[name], *told[name], edges.get(name)))
        for name in wanted
    )
    kind_of = {a.name: (a.kind, a.is_date) for a in attributes}
    kind_of.update({s.name: (s.kind, False) for s in sensitives})
    schema = Schema(
        tuple(
            Column(name, role, *kind_of.get(name, plain_kind(raw.frame[name].type)))
            for name, role in roles.items()
        )
    )
    fitted = [*(one.hierarchy for one in attributes), *(one.hierarchy for one in sensitives)]
    if joint and len(sensitives) > 1:
        sensitives = (
            Sensitive(", ".join(wanted), **code_joint(sensitives), columns=tuple(wanted)),
        )
    notes = [*raw.notes, *(note for tree in fitted if tree is not None for note in tree.notes)]
    for expression, looked_at in behind.items():
        notes += [
            f"{name!r} is a quasi-identifier and {expression!r} follows from it"
            for name in looked_at
            if roles[name] == Role.QUASI
        ]
    for name in wanted:
        if blank := frame[name].null_count:
            notes.append(
                f"{blank:,} of {len(frame):,} records have no {name!r}; that it is missing counts "
                "as one more value, which can be learned, too"
            )
    if dropped:
        notes.append(f"{dropped:,} records with a missing quasi-identifier were dropped")
    return Table(
        schema=schema,
        attributes=attributes,
        sensitives=sensitives,
        records=records,
        source=raw.frame,
        backend=raw.backend,
        dropped=dropped,
        missing=missing,
        notes=tuple(notes),
        encoding=encoding,
        joined=joined,
    )


def _told(
    raw: Raw,
    roles: Mapping[str, Role],
    kinds: Mapping[str, str] | None,
    orders: Mapping[str, Sequence[str]] | None,
    hierarchies: Mapping[str, str | Path | Hierarchy] | None,
) -> _Told:
    """Return the kind, the order and the hierarchy that each column is said to have."""
    given = {"kinds": kinds or {}, "orders": orders or {}, "hierarchies": hierarchies or {}}
    for field_name, columns in given.items():
        for name in columns:
            if name not in roles:
                raise unknown("column", name, roles, field=field_name)
    for name, question in raw.questions.items():
        used = roles.get(name) in (Role.QUASI, Role.SENSITIVE)
        if used and not any(name in columns for columns in given.values()):
            raise question
    trees = {
        name: tree if isinstance(tree, Hierarchy) else Hierarchy.read(tree)
        for name, tree in (hierarchies or {}).items()
    }
    ordered = {**raw.orders, **(orders or {})}
    return {name: ((kinds or {}).get(name), ordered.get(name), trees.get(name)) for name in roles}


def blanks_refused(gaps: Mapping[str, int]) -> UserError:
    """Return the refusal of columns that need a value in every record and lack it in some."""
    shown = ", ".join(f"{name} ({count:,})" for name, count in gaps.items())
    return UserError(
        f"a numeric or ordinal quasi-identifier must have a value in every record; missing in "
        f"{shown}",
        way_out=f"Choose {option('missing', 'drop')} to leave those records out, or "
        f"{option('missing', 'split')} to release them as a part of their own",
        field="missing",
    )


def _kept_records(
    frame: pa.Table, names: Sequence[str], told: _Told, missing: MissingPolicy
) -> NDArray[np.int64]:
    """Return the records that stay, where some lack a numeric or ordinal quasi-identifier."""
    gaps = {}
    for name in names:
        kind = decide_kind(name, frame[name], *told[name])
        if kind != Kind.CATEGORICAL and frame[name].null_count:
            gaps[name] = np.asarray(frame[name].is_null().to_numpy())
    records = np.arange(frame.num_rows, dtype=np.int64)
    if not gaps or missing == "split":
        return records
    if missing == "error":
        raise blanks_refused({name: int(rows.sum()) for name, rows in gaps.items()})
    records = records[~np.logical_or.reduce(list(gaps.values()))]
    if not len(records):
        raise UserError(
            f"{option('missing', 'drop')} leaves no record; choose {option('missing', 'split')} "
            "instead.",
            field="missing",
        )
    return records


def _as_list(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
