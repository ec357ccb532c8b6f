"""Writes the group models as SQL for other people's databases, from one source by sqlglot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from indiff.errors import UserError, unknown

DIALECTS = ("bigquery", "duckdb", "postgres", "snowflake", "spark", "sqlite")
DISTANCES = ("equal", "ordered")
# What can be asked, the column that a limit is on, and on which side of it.
MEASURES = {
    "k": ("k", "at least"),
    "uniqueness": ("singled_out", "at most"),
    "l": ("l", "at least"),
    "distinct_l": ("distinct_l", "at least"),
    "alpha": ("alpha", "at most"),
    "t": ("t", "at most"),
}
_WITHOUT_SENSITIVE = ("k", "uniqueness")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = (
    "all and any as asc between by case cast check column create cross default desc distinct else "
    "end except exists for from full group having in inner intersect into is join left like limit "
    "natural not null of on or order outer primary references right select set some table then to "
    "union unique user using when where window with "
)
# Reserved in some. Quotes do no harm where small letters stay small; Snowflake stores capitals.
_RESERVED_BUT_FOR_SNOWFLAKE = (
    " array both collate constraint cube current current_date current_time do exclude false fetch "
    "following grant groups hash if ignore interval lateral leading new no nulls offset only over "
    "partition preceding qualify range returning rollup rows struct symmetric trailing treat true "
    "unbounded values within "
)
_STANDS_FOR_TABLE = "indiff_stands_for_the_table"

# Empty text and NULL are one missing value, as in `indiff risk`, and NULLs group together.
_PEOPLE = "WITH people AS (SELECT {cleaned} FROM {table})"
_SIZES = _PEOPLE + ", sizes AS (SELECT COUNT(*) AS n FROM people GROUP BY {groups})"
_PAIRS = (
    _PEOPLE + ", pairs AS (SELECT {groups}, s, COUNT(*) AS c FROM people GROUP BY {groups}, s)"
    ", shares AS (SELECT {groups}, c, SUM(c) OVER (PARTITION BY {groups}) AS n,"
    " COUNT(*) OVER (PARTITION BY {groups}) AS d, SUM(c) OVER (PARTITION BY s) AS total,"
    " SUM(c) OVER () AS everybody FROM pairs)"
)
_RANKED = (
    _PEOPLE + ", coded AS (SELECT DENSE_RANK() OVER (ORDER BY {ranked}) AS g,"
    " DENSE_RANK() OVER (ORDER BY CASE WHEN s IS NULL THEN 1 ELSE 0 END, s) AS v FROM people)"
    ", pairs AS (SELECT g, v, COUNT(*) AS c FROM coded GROUP BY g, v)"
    ", sizes AS (SELECT g, SUM(c) AS n FROM pairs GROUP BY g)"
    ", totals AS (SELECT v, SUM(c) AS total FROM pairs GROUP BY v)"
    ", grid AS (SELECT sizes.g, totals.v, sizes.n, totals.total, COALESCE(pairs.c, 0) AS c"
    " FROM sizes CROSS JOIN totals"
    " LEFT JOIN pairs ON pairs.g = sizes.g AND pairs.v = totals.v)"
    ", everybody AS (SELECT SUM(total) AS records, COUNT(*) AS m FROM totals)"
    ", steps AS (SELECT g, ABS(SUM(CAST(c AS DOUBLE) / n - CAST(total AS DOUBLE) / records)"
    " OVER (PARTITION BY g ORDER BY v ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS step, m"
    " FROM grid CROSS JOIN everybody)"
    ", groups_t AS (SELECT SUM(step) / CASE WHEN MAX(m) > 1 THEN MAX(m) - 1 ELSE 1 END AS t"
    " FROM steps GROUP BY g)"
)
_SOURCES = {
    "k": _SIZES + " SELECT MIN(n) AS k FROM sizes",
    "uniqueness": _SIZES + " SELECT SUM(CASE WHEN n = 1 THEN 1 ELSE 0 END) AS singled_out,"
    " SUM(n) AS records FROM sizes",
    "l": _PAIRS + " SELECT MIN(CAST(n AS DOUBLE) / c) AS l FROM shares",
    "distinct_l": _PAIRS + " SELECT MIN(d) AS distinct_l FROM shares",
    "alpha": _PAIRS + " SELECT MAX(CAST(c AS DOUBLE) / n) AS alpha FROM shares",
    "t": _PAIRS
    + ", groups_t AS (SELECT SUM(CASE WHEN CAST(c AS DOUBLE) / n > CAST(total AS DOUBLE)"
    " / everybody THEN CAST(c AS DOUBLE) / n - CAST(total AS DOUBLE) / everybody ELSE 0 END) AS t"
    " FROM shares GROUP BY {groups}) SELECT MAX(t) AS t FROM groups_t",
    "ordered t": _RANKED + " SELECT MAX(t) AS t FROM groups_t",
}


def query(
    measure: str,
    *,
    quasi: Sequence[str],
    sensitive: str | None = None,
    table: str = "release",
    dialect: str = "duckdb",
    distance: str = "equal",
    limit: float | None = None,
) -> str:
    """Return the SQL that computes one measure of a table, where the table lies.

    Measures: ``k`` (the smallest group), ``uniqueness`` (records alone in their group, and all
    records), and of a sensitive column ``alpha`` (the largest share of one value in a group), ``l``
    (1/alpha), ``distinct_l`` (the fewest values in a group) and ``t`` (with the ``distance`` equal,
    or ordered by the values, the missing one last). With a ``limit`` the query returns a row only
    where the measure breaks it, as a dbt test does; a table without a record breaks every limit.
    The number is what :func:`indiff.measure_risk` finds, and proves no more: it looks at one
    release by itself.

    >>> print(query("k", quasi=["age", "home town"], table="shop.release", dialect="bigquery"))
    WITH people AS (
      SELECT
        CASE WHEN CAST(age AS STRING) = '' THEN NULL ELSE age END AS q1,
        CASE WHEN CAST(`home town` AS STRING) = '' THEN NULL ELSE `home town` END AS q2
      FROM shop.release
    ), sizes AS (
      SELECT
        COUNT(*) AS n
      FROM people
      GROUP BY
        q1,
        q2
    )
    SELECT
      MIN(n) AS k
    FROM sizes
    """
    _check(measure, quasi, sensitive, dialect, distance)
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise UserError(
            "SQL of other databases is written by sqlglot, which is not installed",
            way_out="Install it: pip install 'indiff[sql]'",
        ) from None
    names = [f"q{at}" for at in range(1, len(quasi) + 1)]
    columns = dict(zip(names, quasi, strict=True))
    if measure not in _WITHOUT_SENSITIVE:
        columns["s"] = str(sensitive)
    stands = {f"indiff_column_{name}": column for name, column in columns.items()}
    cleaned = [
        f"CASE WHEN CAST({stand} AS TEXT) = '' THEN NULL ELSE {stand} END AS {name}"
        for stand, name in zip(stands, columns, strict=True)
    ]
    source = _SOURCES["ordered t" if (measure, distance) == ("t", "ordered") else measure]
    text = source.format(
        cleaned=", ".join(cleaned), table=_STANDS_FOR_TABLE, groups=", ".join(names),
        ranked=", ".join(names),
    )  # fmt: skip
    if limit is not None:
        column, rule = MEASURES[measure]
        side = "<" if rule == "at least" else ">"
        inner, outer = text.rsplit(" SELECT ", 1)
        text = (
            f"{inner}, measured AS (SELECT {outer}) SELECT * FROM measured"
            f" WHERE {column} {side} {limit!r} OR {column} IS NULL"
        )
    tree = sqlglot.parse_one(text, read="duckdb")
    for one in tree.find_all(exp.Column):
        if one.name in stands:
            one.set("this", _identifier(exp, stands[one.name], dialect))
    written: str = tree.sql(dialect=dialect, pretty=True)
    return written.replace(_STANDS_FOR_TABLE, _table(table, dialect))


def _check(
    measure: str, quasi: Sequence[str], sensitive: str | None, dialect: str, distance: str
) -> None:
    if measure not in MEASURES:
        raise unknown("measure", measure, MEASURES)
    if dialect not in DIALECTS:
        raise unknown("dialect", dialect, DIALECTS, field="dialect")
    if distance not in DISTANCES:
        raise unknown("distance", distance, DISTANCES, field="distance")
    if not quasi:
        raise UserError("groups need a quasi-identifier: add --quasi A,B.", field="quasi")
    if measure not in _WITHOUT_SENSITIVE and sensitive is None:
        rule = f"{measure} is about a sensitive column: add --sensitive COLUMN."
        raise UserError(rule, field="sensitive")


def _identifier(exp: Any, name: str, dialect: str) -> Any:
    """Return a name, in the dialect's quotes unless the database reads it without."""
    reserved = " " + _RESERVED + ("" if dialect == "snowflake" else _RESERVED_BUT_FOR_SNOWFLAKE)
    plain = _PLAIN_NAME.fullmatch(name) is not None and f" {name.lower()} " not in reserved
    return exp.to_identifier(name, quoted=not plain)


def _table(name: str, dialect: str) -> str:
    """Return a table's name in the dialect; what dbt fills in stays as it is."""
    from sqlglot import exp

    if "{{" in name:
        return name
    parts = [_identifier(exp, part, dialect) for part in name.split(".")]
    return ".".join(part.sql(dialect=dialect) for part in parts)
