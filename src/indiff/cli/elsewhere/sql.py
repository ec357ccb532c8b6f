"""``indiff sql``: the query that computes a group model where the table lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from indiff.audit.plan.option import REQUIRED, Option
from indiff.audit.plan.recipe import Declared, split_list


def _option(name: str, kind: Any, default: Any, text: str, metavar: str) -> Declared:
    return Declared(name, "", name, kind, default, (), Option(text, metavar))


OPTIONS = [
    _option("measure", str, REQUIRED, "k, uniqueness, alpha, l, distinct_l or t.", "MEASURE"),
    _option("quasi", str, REQUIRED, "Quasi-identifiers: a,b,c.", "A,B,C"),
    _option("sensitive", str, None, "The sensitive column, for alpha, l, distinct_l and t.", "S"),
    _option("table", str, "release", "The table: shop.release, or dbt's {{ ref('r') }}.", "NAME"),
    _option(
        "dialect", str, "duckdb", "bigquery, duckdb, postgres, snowflake, spark or sqlite.", "D"
    ),
    _option(
        "distance", str, "equal", "Of t: equal, or ordered (by numbers or dates).", "DISTANCE"
    ),
    _option(
        "limit", float, None,
        "Return a row only where this is broken, as a test of dbt: at least for k, l and "
        "distinct_l, at most for alpha, t and uniqueness (records).", "X",
    ),
]  # fmt: skip


def command(asked: Mapping[str, Any]) -> None:
    """Print the SQL for a measure: k, uniqueness, alpha, l, distinct_l or t."""
    from indiff.risk.queries import query

    given = {name: asked[name] for name in ("sensitive", "table", "dialect", "distance", "limit")}
    typer.echo(query(asked["measure"], quasi=split_list(asked["quasi"]), **given))
