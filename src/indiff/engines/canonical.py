"""Values as text, and texts as numbers, alike in DuckDB's and Spark's dialects.

What two engines print of the same value may differ (floats and times do), so a hash of the
records needs one spelling of its own.
"""

from __future__ import annotations

from typing import Literal

CanonicalKind = Literal["text", "float", "bytes", "uuid", "time", "plain"]
Dialect = Literal["duckdb", "spark"]

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
"""When Spark's times without a zone start."""

_FINE, _COARSE = 2.0**42, 2.0**82


def as_text(kind: CanonicalKind, column: str, dialect: Dialect) -> str:
    """Return SQL for a value as text; null stays null, except that a null text is ``:``.

    Texts carry their length, so that joined texts are told apart. Floats are kept to 2⁻²⁰ (from
    2⁴² on to 2²⁰, and beyond 2⁸² to their sign), since scaling by a power of two is exact.
    """
    if kind == "text" and dialect == "duckdb":
        return f"CONCAT(LENGTH({column}), ':', {column})"  # which takes a null for nothing
    if kind == "text":
        return f"COALESCE(CAST(LENGTH({column}) AS STRING) || ':' || {column}, ':')"
    if kind == "float":
        x = f"CAST({column} AS DOUBLE)"
        return (
            f"CASE WHEN ABS({x}) < {_FINE!r} "
            f"THEN CAST(CAST(FLOOR({x} * 1048576) AS BIGINT) AS STRING) "
            f"WHEN ABS({x}) < {_COARSE!r} "
            f"THEN 'e' || CAST(CAST(FLOOR({x} / 1048576) AS BIGINT) AS STRING) "
            f"WHEN {x} > 0 THEN 'far' WHEN {x} < 0 THEN '-far' END"
        )
    if kind == "bytes":
        return f"HEX({column})"
    if kind == "uuid":  # Spark and Arrow have its bytes
        return f"UPPER(REPLACE(CAST({column} AS STRING), '-', ''))"
    if kind == "time" and dialect == "duckdb":
        return f"CAST(EPOCH_US(CAST({column} AS TIMESTAMP)) AS STRING)"
    if kind == "time":
        return f"CAST(TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {column}) AS STRING)"
    return f"CAST({column} AS STRING)"


def hash_part(text: str, part: int, dialect: Dialect) -> str:
    """Return SQL for 48 bits of a text's MD5: a fingerprint, not a secret.

    The digest's bytes count from the lowest, as DuckDB has them in one number, which is quicker
    than digits.
    """
    if dialect == "duckdb":
        return f"CAST((MD5_NUMBER({text}) >> {48 * part}) & {2**48 - 1}::UHUGEINT AS BIGINT)"
    lowest_last = range(6 * part + 5, 6 * part - 1, -1)
    pairs = (f"SUBSTR(MD5({text}), {1 + 2 * byte}, 2)" for byte in lowest_last)
    return f"CAST(CONV(CONCAT({', '.join(pairs)}), 16, 10) AS BIGINT)"
