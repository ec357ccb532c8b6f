"""What Spark is given to read: frames of types that it knows, text files as DuckDB reads them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from indiff.engines.duckdb.engine import literal
from indiff.errors import UserError


def with_spark_types(table: pa.Table) -> pa.Table:
    """Return a table with plain dictionaries, signed integers and times in microseconds."""
    signed = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint32(): pa.int64(),
        pa.uint64(): pa.decimal128(20, 0),
    }

    def plain(kind: pa.DataType) -> pa.DataType:
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_timestamp(kind):  # with a zone, or Spark assumes the session's
            return pa.timestamp("us", "UTC")
        return signed.get(kind, kind)

    try:
        return table.cast(pa.schema([(field.name, plain(field.type)) for field in table.schema]))
    except pa.ArrowInvalid as error:
        raise UserError(
            f"Spark keeps times to the microsecond ({error})",
            way_out="Round them, or use engine='duckdb'",
        ) from None


def csv_options(path: str) -> dict[str, Any]:
    """Read text as DuckDB does, with the separator and quote that its sniffer finds."""
    options = {"header": True, "multiLine": True, "escape": '"', "mode": "FAILFAST"}
    if "://" in path:
        return {**options, "sep": "\t" if ".tsv" in path.lower() else ","}
    import duckdb

    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        try:
            found = connection.execute(
                f"SELECT Delimiter, Quote FROM sniff_csv({literal(path)}, all_varchar = true)"
            ).fetchone()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise UserError(f"{path!r} cannot be read ({reason}); check or repair it.") from None
    separator, quote = found or (",", '"')
    return {**options, "sep": separator, "quote": quote if quote not in ("", "(empty)") else '"'}
