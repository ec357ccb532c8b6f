"""t-closeness: the largest EMD between a group's distribution and the whole table's.

EMD is convex, so a group is at most as far away as the mean of its values' point masses (their
``reach``); and it is at least as far away as the means of any 1-Lipschitz function differ, of
which ``reach`` itself and the rank are two. Groups whose upper bound is below the best lower
bound cannot hold the maximum: only the others are computed, value by value.
"""

from __future__ import annotations

from collections.abc import Sequence

from indiff.data.schema import Kind
from indiff.engines.protocol import Engine
from indiff.risk.counts import ValueExtremes, group_by, keys, listed, same
from indiff.risk.values import Values

_SLACK = 1e-12  # rounding must not drop the group that holds the maximum


def closeness(
    engine: Engine,
    pairs: str,
    terms: str,
    values: Values,
    columns: Sequence[int],
    extremes: ValueExtremes,
) -> float:
    """Return t (Li, Li and Venkatasubramanian 2007) over the groups of pairs and their terms.

    Equal distance for categorical values, ranks over m − 1 for numeric and ordinal ones (missing
    ranks last), height of the lowest common ancestor for a hierarchy. A small t does not bound
    what the whole table's distribution itself gives away.
    """
    settled = extremes.homogeneous_reach
    least = max(settled, extremes.reach_bound)
    if extremes.mixed_reach < least - _SLACK or values.distinct == 1:
        return settled
    candidates = engine.keep(f"""
        SELECT {keys(columns, "p.")}{", " if columns else ""}p.x, p.c, g.n
        FROM {pairs} p JOIN (
          SELECT {listed(columns)}n FROM {terms}
          WHERE d > 1 AND reach / n >= {least - _SLACK!r}) g
        ON {same(columns, "p", "g") or "TRUE"}""")
    if values.nodes is not None:
        t = _tree(candidates, values, columns)
    elif values.sensitive.kind == Kind.CATEGORICAL:
        t = _equal(candidates, values, columns)
    else:
        t = _ordered(candidates, values, columns)
    ((found,),) = engine.query(f"SELECT MAX(t) FROM ({t}) q")
    engine.forget(candidates)
    return max(settled, found or 0.0)


def _equal(candidates: str, values: Values, columns: Sequence[int]) -> str:
    """Half the absolute differences: only values that a group has too much of count."""
    return f"""
        SELECT SUM(GREATEST(c / n - total / CAST({values.records} AS DOUBLE), 0.0)) AS t
        FROM (SELECT {listed(columns)}x, c, CAST(n AS DOUBLE) AS n FROM {candidates}) k
        JOIN {values.table} v ON k.x = v.code {group_by(columns)}"""


def _tree(candidates: str, values: Values, columns: Sequence[int]) -> str:
    """Sum over nodes; one without records in the group adds weight · share, which base has."""
    return f"""
        SELECT {values.tree_base!r} + SUM(weight * (ABS(c / n - share) - share)) AS t
        FROM (SELECT {listed(columns)}node, MAX(weight) AS weight, MAX(share) AS share,
                CAST(SUM(c) AS DOUBLE) AS c, MAX(n) AS n
              FROM {candidates} k JOIN {values.nodes} h ON k.x = h.leaf
              GROUP BY {listed(columns)}node) q {group_by(columns)}"""


def _ordered(candidates: str, values: Values, columns: Sequence[int]) -> str:
    """Integrate |P − F| over ranks: P is constant from one of the group's values to the next.

    Between two of the group's values F crosses P at most once. The running maximum over values
    and candidates in one order of F finds the rank of the crossing and the area of F before it.
    """
    return f"""
        SELECT (MAX(first_area) + SUM(p * (meet - rank) - (meet_area - area)
            + (next_area - meet_area) - p * (next - meet))) / {values.distinct - 1} AS t
        FROM (SELECT {listed(columns)}p, rank, next, area, next_area,
                LEAST(GREATEST(crossing, rank), next) AS meet,
                LEAST(GREATEST(crossing_area, area), next_area) AS meet_area,
                CASE WHEN is_first = 1 THEN area ELSE 0.0 END AS first_area
              FROM (SELECT *,
                      COALESCE(MAX(mark) OVER (ORDER BY p, kind ROWS UNBOUNDED PRECEDING), 0)
                        AS crossing,
                      COALESCE(MAX(mark_area) OVER (ORDER BY p, kind ROWS UNBOUNDED PRECEDING), 0.0)
                        AS crossing_area
                    FROM ({_steps(candidates, values, columns)}
                          UNION ALL {_marks(values, columns)}) u) w
              WHERE kind = 1) q {group_by(columns)}"""


def _steps(candidates: str, values: Values, columns: Sequence[int]) -> str:
    """Return SQL for the steps of each group's cumulative distribution, with where each ends."""
    order = f"({f'PARTITION BY {keys(columns)} ' if columns else ''}ORDER BY code)"
    return f"""SELECT {listed(columns)}1 AS kind,
          SUM(c) OVER {order} / CAST(n AS DOUBLE) AS p, code AS rank, area,
          COALESCE(LEAD(code) OVER {order}, {values.distinct - 1}) AS next,
          COALESCE(LEAD(area) OVER {order}, (SELECT MAX(area) FROM {values.table})) AS next_area,
          ROW_NUMBER() OVER {order} AS is_first,
          CAST(NULL AS BIGINT) AS mark, CAST(NULL AS DOUBLE) AS mark_area
        FROM {candidates} k JOIN {values.table} v ON k.x = v.code"""


def _marks(values: Values, columns: Sequence[int]) -> str:
    """Return SQL for the steps of the whole table's cumulative distribution."""
    nothing = "".join(f"NULL AS c{i}, " for i in columns)
    return f"""SELECT {nothing}0 AS kind, cumulative AS p, CAST(NULL AS BIGINT) AS rank,
          CAST(NULL AS DOUBLE) AS area, CAST(NULL AS BIGINT) AS next,
          CAST(NULL AS DOUBLE) AS next_area, CAST(NULL AS BIGINT) AS is_first,
          code + 1 AS mark, area + cumulative AS mark_area
        FROM {values.table}"""
