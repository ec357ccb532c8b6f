"""Expressions over columns: ``"income > 50000"`` as a sensitive attribute of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from indiff.data.reading.columns import Column, plain_column
from indiff.data.reading.door import Raw
from indiff.errors import UserError, reason_of, said, unknown


def with_expressions(
    raw: Raw, wanted: Sequence[str], tokens: Sequence[str]
) -> tuple[Raw, dict[str, tuple[str, ...]]]:
    """Add a column for every sensitive attribute that is an expression; say what it looks at."""
    if len(set(wanted)) < len(wanted):
        raise UserError("a sensitive attribute may be named once", ", ".join(wanted))
    frame, notes = raw.frame, list(raw.notes)
    behind: dict[str, tuple[str, ...]] = {}
    for name in wanted:
        if name not in raw.frame.column_names:
            try:
                column, behind[name] = evaluate(raw.frame, name, tokens)
            except UserError as error:
                raise raw.explained(error) from None
            frame = frame.append_column(name, column.values)
            notes += column.notes
    return replace(raw, frame=frame, notes=tuple(notes)), behind


def evaluate(
    frame: pa.Table, expression: str, tokens: Sequence[str] = ("",)
) -> tuple[Column, tuple[str, ...]]:
    """Return the value of an expression for every record, and the columns that it looks at.

    The expression is SQL as DuckDB reads it; a column whose name is not one word is written in
    double quotes. Nothing outside the table can be reached. What it gives is read like any
    column: null, NaN and the missing tokens are one missing value.
    """
    if expression.isidentifier() or not any(sign in expression for sign in "<>=+-*/%(|&' "):
        raise unknown("column", expression, frame.column_names)
    _refuse_ambiguous_names(frame, expression)
    column = _run(frame, expression)
    if len(column) != frame.num_rows:
        raise UserError(
            f"the sensitive expression {expression!r} must give one value per record; it gave "
            f"{len(column):,} for {frame.num_rows:,}."
        )
    nothing, text = frame.slice(0, 0), expression.casefold().replace('""', '"')
    used = tuple(
        name
        for name in frame.column_names
        if name.casefold() in text and not _works(nothing, expression, name)
    )
    return _plain(column, expression, tokens), used


def _refuse_ambiguous_names(frame: pa.Table, expression: str) -> None:
    """Refuse names that DuckDB, to which case means nothing, would mistake for each other."""
    folded = Counter(name.casefold() for name in frame.column_names)
    for name in frame.column_names:
        if folded[name.casefold()] > 1 and name.casefold() in expression.casefold():
            twins = [other for other in frame.column_names if other.casefold() == name.casefold()]
            raise UserError(
                f"an expression cannot tell {' and '.join(map(repr, twins))} apart, which "
                "differ only in case",
                f"{expression!r}",
                "Rename one of the columns",
            )


def _run(frame: pa.Table, expression: str) -> pa.ChunkedArray:
    import duckdb

    with duckdb.connect(config={"enable_external_access": "false"}) as connection:
        connection.execute("SET lock_configuration = true")
        connection.register("records", frame)
        try:
            result = connection.sql(f"SELECT ({expression}) AS value FROM records")
            if len(result.columns) > 1:  # the star stands for all of them
                raise duckdb.Error("it gives several columns")
            return result.to_arrow_table()["value"]
        except duckdb.Error as error:
            raise UserError(
                f"the sensitive attribute {expression!r} is neither a column nor an "
                f"expression over columns ({said(reason_of(error))})",
                way_out=f"Columns: {', '.join(frame.column_names)}",
            ) from None


def _works(nothing: pa.Table, expression: str, without: str) -> bool:
    """Tell whether an expression has a meaning in a table that lacks one column."""
    if nothing.num_columns == 1:
        return False
    try:
        _run(nothing.drop_columns([without]), expression)
    except UserError:
        return False
    return True


def _plain(column: pa.ChunkedArray, expression: str, tokens: Sequence[str]) -> Column:
    kind, types = column.type, pa.types
    if types.is_boolean(kind):
        return Column(pc.cast(column, pa.string()))
    plain = (  # decimals are what SQL makes of 1.5 * age, and of a sum
        types.is_integer, types.is_floating, types.is_decimal, types.is_date, types.is_string,
        types.is_null,
    )  # fmt: skip
    if not any(is_plain(kind) for is_plain in plain):
        raise UserError(
            f"the sensitive expression {expression!r} must give a number, a text, a "
            f"date or a truth value; it gave {kind}",
            way_out=f"Cast it, for example with ({expression})::text",
        )
    return plain_column(expression, column, tokens)
