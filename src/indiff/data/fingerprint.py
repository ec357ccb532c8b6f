"""Tells by one short text whether two results are of the same records, whichever engine read them.

It is keyed: to whoever has not the key it confirms no guess at a record. The definition: each value
has one spelling, whatever type holds it (the text ``1.50`` and the number 1.5 are spelled alike,
``01`` and ``1`` are not); a record is the spellings of its columns, each role's in the order of
their names; records enter as a sum of hashes, so that their order does not matter. Floats are told
apart down to about 10⁻⁶.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

import pyarrow as pa

from indiff.data.key import keyed
from indiff.databases import opened

Spelling = Literal["whole", "float", "short float", "bytes", "uuid", "date", "time", "text"]
Dialect = Literal["duckdb", "spark"]

EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
"""When Spark's times without a zone start."""

_WHOLE = "^(0|-?[1-9][0-9]*)$"
_FRACTION = "^-?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+)?$"
_EXACT, _FINE, _COARSE, _LARGEST = 2.0**53, 2.0**42, 2.0**82, 1.7976931348623157e308
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
FEW_TEXTS = 50_000
"""A column with at most so many texts has each of them spelled, or enumerated, once."""
_PROBE = 1_000_000
_IN_DUCKDB: dict[str, Spelling] = {
    "DOUBLE": "float", "FLOAT": "short float", "BLOB": "bytes", "UUID": "uuid",
    "DATE": "date",
}  # fmt: skip


def duckdb_spelling(kind: str) -> Spelling:
    """Return how the values of a DuckDB type are spelled."""
    if kind.endswith(_WHOLE_TYPES):
        return "whole"
    return "time" if kind.startswith("TIMESTAMP") else _IN_DUCKDB.get(kind, "text")


def spelled(spelling: Spelling, column: str, dialect: Dialect) -> str:
    """Return SQL for the one spelling of a column's values; null stays null."""
    text = f"CAST({column} AS STRING)"
    if spelling == "time":
        micros = (
            f"EPOCH_US(CAST({column} AS TIMESTAMP))"
            if dialect == "duckdb"
            else f"TIMESTAMPDIFF(MICROSECOND, {EPOCH}, {column})"
        )
        day = _words(f"CAST(CAST({column} AS DATE) AS STRING)")
        return f"CASE WHEN {micros} % 86400000000 = 0 THEN {day} ELSE CAST({micros} AS STRING) END"
    others = {
        "whole": text,
        "float": _float(column),
        "short float": _float(f"CAST({text} AS DOUBLE)"),  # by its digits: 32 bits' 0.1 is 0.1
        "date": _words(text),  # never a number's text
        "bytes": f"'x' || HEX({column})",
        "uuid": f"'x' || UPPER(REPLACE({text}, '-', ''))",  # Spark and Arrow have its bytes
    }
    return others.get(spelling) or _text(text, dialect)


def _words(text: str) -> str:
    """Return SQL for a text with its length, so that texts in a row are told apart."""
    return f"CAST(LENGTH({text}) AS STRING) || ':' || {text}"


def _text(text: str, dialect: Dialect) -> str:
    """Return SQL for a text, or for the number that it is the text of, blanks around it aside."""
    bare = f"TRIM(BOTH ' \t' FROM {text})"
    x = f"TRY_CAST({bare} AS DOUBLE)"
    return (
        f"CASE WHEN {_matches(bare, _WHOLE, dialect)} THEN {bare} "
        f"WHEN {_matches(bare, _FRACTION, dialect)} AND ABS({x}) <= {_LARGEST!r} THEN {_float(x)} "
        f"ELSE {_words(text)} END"
    )


def _matches(text: str, pattern: str, dialect: Dialect) -> str:
    if dialect == "duckdb":
        return f"REGEXP_MATCHES({text}, '{pattern}')"
    return f"{text} RLIKE '{pattern}'"


def _float(x: str) -> str:
    """Return SQL for a float: whole, or kept to 2⁻²⁰ (from 2⁴² on to 2²⁰, from 2⁸² its sign).

    Scaling by a power of two is exact.
    """
    return (
        f"CASE WHEN ABS({x}) < {_EXACT!r} AND {x} = FLOOR({x}) "
        f"THEN CAST(CAST({x} AS BIGINT) AS STRING) WHEN ABS({x}) < {_FINE!r} "
        f"THEN 'f' || CAST(CAST(FLOOR({x} * 1048576) AS BIGINT) AS STRING) "
        f"WHEN ABS({x}) < {_COARSE!r} "
        f"THEN 'e' || CAST(CAST(FLOOR({x} / 1048576) AS BIGINT) AS STRING) "
        f"WHEN {x} > 0 THEN 'far' WHEN {x} < 0 THEN '-far' END"
    )


def sums(spellings: Sequence[str], table: str, dialect: Dialect, count: str = "n") -> str:
    """Return SQL for the number of a table's records and the sum of their hashes, in two parts."""
    if dialect == "spark":  # whose CONCAT is null where one of them is; DuckDB's leaves it out
        spellings = [f"COALESCE({text}, '')" for text in spellings]
    texts = ", ';', ".join(spellings)
    parts = ", ".join(
        f"SUM(CAST(n AS DECIMAL(19, 0)) * CAST({_hash_part(part, dialect)} AS DECIMAL(15, 0)))"
        for part in (0, 1)
    )
    return f"SELECT SUM(n), {parts} FROM (SELECT {count} AS n, CONCAT({texts}) AS r FROM {table}) q"


def _hash_part(part: int, dialect: Dialect) -> str:
    """Return SQL for 48 bits of a record's MD5: a fingerprint, not a secret.

    The digest's bytes count from the lowest, as DuckDB has them in one number, which is quicker
    than digits.
    """
    if dialect == "duckdb":
        return f"CAST((MD5_NUMBER(r) >> {48 * part}) & {2**48 - 1}::UHUGEINT AS BIGINT)"
    lowest_last = range(6 * part + 5, 6 * part - 1, -1)
    pairs = (f"SUBSTR(MD5(r), {1 + 2 * byte}, 2)" for byte in lowest_last)
    return f"CAST(CONV(CONCAT({', '.join(pairs)}), 16, 10) AS BIGINT)"


def digest(
    quasi: Sequence[str], sensitive: Sequence[str], individual: str | None, found: Sequence[Any]
) -> str:
    """Return a keyed digest of the columns' names and roles and of the sums over their records."""
    numbers = [[str(int(number)) for number in row] for row in found]
    whole = json.dumps([sorted(quasi), sorted(sensitive), individual, numbers])
    return keyed(whole)


def fingerprint_of(frame: pa.Table, quasi: Sequence[str], sensitive: Sequence[str]) -> str:
    """Return the fingerprint of the records of an Arrow table.

    >>> numbers = pa.table({"age": [30, 41], "ill": ["no", "yes"]})
    >>> texts = pa.table({"age": ["41", "30"], "ill": ["yes", "no"]})
    >>> fingerprint_of(numbers, ["age"], ["ill"]) == fingerprint_of(texts, ["age"], ["ill"])
    True
    """
    names = [*sorted(quasi), *sorted(sensitive)]
    rows = frame.select(names).rename_columns([f"c{place}" for place in range(len(names))])
    with opened() as connection:
        types = connection.from_arrow(rows).types
        texts = {
            name: spelled(duckdb_spelling(str(kind)), name, "duckdb")
            for name, kind in zip(rows.column_names, types, strict=True)
        }
        found = record_sums(rows, texts, connection, "1")
    return digest(quasi, sensitive, None, found)


def record_sums(
    rows: pa.Table, spellings: dict[str, str], connection: Any, count: str
) -> list[Any]:
    """Return the number of records and the sums of their hashes, by the spellings of columns.

    ``count`` says how many records a row stands for.
    """
    rows, done = _spell_texts(rows, [*spellings], connection)
    texts = [name if name in done else text for name, text in spellings.items()]
    connection.register("records_to_hash", rows)
    found = connection.execute(sums(texts, "records_to_hash", "duckdb", count)).fetchall()
    connection.unregister("records_to_hash")
    return list(found)


def _spell_texts(
    rows: pa.Table, names: Sequence[str], connection: Any
) -> tuple[pa.Table, list[str]]:
    """Spell the texts of the columns that have few, each of them once; name these columns."""
    listed = {}
    for name in names:
        column = rows[name]
        if pa.types.is_string(column.type) and 0 < len(column[:_PROBE].unique()) <= FEW_TEXTS:
            column = column.dictionary_encode()
        coded = pa.types.is_dictionary(column.type)
        if coded and pa.types.is_string(column.type.value_type):
            encoded = column.unify_dictionaries()
            if len(encoded.chunk(0).dictionary) <= FEW_TEXTS:
                listed[name] = encoded
    if not listed:
        return rows, []
    texts = pa.table({"x": pa.chunked_array([x.chunk(0).dictionary for x in listed.values()])})
    connection.register("texts", texts)
    once = f"SELECT {spelled('text', 'x', 'duckdb')} AS x FROM texts"  # a relation would plan twice
    connection.execute(f"CREATE TEMP TABLE words AS {once}")
    words, start = connection.table("words").to_arrow_table()["x"].combine_chunks(), 0
    connection.execute("DROP TABLE words")
    connection.unregister("texts")
    for name, encoded in listed.items():
        own = words[start : start + len(encoded.chunk(0).dictionary)]
        start += len(own)
        chunks = [pa.DictionaryArray.from_arrays(one.indices, own) for one in encoded.chunks]
        rows = rows.set_column(rows.column_names.index(name), name, pa.chunked_array(chunks))
    return rows, [*listed]
