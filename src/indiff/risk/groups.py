"""k, ℓ, t … : the group models, and the risk of being picked out by group size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from indiff.data.schema import Kind
from indiff.engines.protocol import Engine
from indiff.risk.counts import Grouped, ValueExtremes, group_by, keys, listed, same
from indiff.risk.values import Values


@dataclass(frozen=True)
class SensitiveGroups:
    """The group models of one sensitive attribute."""

    sensitive: str
    l: float  # noqa: E741 - the name that users and papers know
    """1/ℓ-frequency: no value holds more than 1/ℓ of a group."""
    distinct_l: int
    """The fewest distinct values in a group."""
    entropy_l: float
    """2^H of the least diverse group (Machanavajjhala et al. 2007)."""
    recursive: tuple[float, int]
    """(c, ℓ): with ℓ = ``distinct_l``, r₁ < c'·(r_ℓ + … + r_m) holds for every c' > c."""
    alpha: float
    """The largest share of one value in a group: (α, k)-anonymity."""
    t: float
    """EMD to the whole table's distribution (Li, Li and Venkatasubramanian 2007)."""
    beta: float
    """Basic β-likeness: the largest (p − q)/q (Cao and Karras 2012)."""
    beta_enhanced: float
    """Enhanced β-likeness: ``beta`` if no gain exceeds −ln q, else infinite: no β is enough."""
    delta_disclosure: float
    """max |ln(p/q)| (Brickell and Shmatikov 2008); infinite when a group lacks a value."""


@dataclass(frozen=True)
class SizeClass:
    """How many groups and records have a size (a range of sizes above 50,000)."""

    smallest: int
    largest: int
    groups: int
    records: int


@dataclass(frozen=True)
class GroupRisk:
    """The group models of one set of columns.

    Sizes count individuals. ``prosecutor`` assumes the target is known to be in the table;
    ``journalist`` that somebody in the population matches, and equals it here, because the table
    stands for the population: with a larger population the risk is lower. ``marketer`` is the
    expected share of records that are linked correctly, per record and not per group.
    """

    columns: tuple[str, ...]
    k: int
    groups: int
    records: int
    singled_out: int
    """Records alone in their group."""
    prosecutor: float
    journalist: float
    marketer: float
    sizes: tuple[SizeClass, ...]
    sensitive: dict[str, SensitiveGroups]
    notes: tuple[str, ...] = (
        "journalist risk equals prosecutor risk because no population is known: an upper bound",
    )

    def _worst(self, name: str, largest: bool) -> float | None:
        found = [getattr(part, name) for part in self.sensitive.values()]
        if not found:
            return None
        return max(found) if largest else min(found)

    @property
    def l(self) -> float | None:  # noqa: E743 - the name that users and papers know
        """The smallest ``l`` over the sensitive attributes; none without one."""
        return self._worst("l", largest=False)

    @property
    def distinct_l(self) -> int | None:
        """The smallest ``distinct_l`` over the sensitive attributes."""
        found = self._worst("distinct_l", largest=False)
        return None if found is None else int(found)

    @property
    def entropy_l(self) -> float | None:
        """The smallest ``entropy_l`` over the sensitive attributes."""
        return self._worst("entropy_l", largest=False)

    @property
    def recursive(self) -> tuple[float, int] | None:
        """(c, ℓ) of the sensitive attribute with the smallest ℓ, and among those the largest c."""
        found = [part.recursive for part in self.sensitive.values()]
        return min(found, key=lambda pair: (pair[1], -pair[0])) if found else None

    @property
    def alpha(self) -> float | None:
        """The largest ``alpha`` over the sensitive attributes."""
        return self._worst("alpha", largest=True)

    @property
    def t(self) -> float | None:
        """The largest ``t`` over the sensitive attributes."""
        return self._worst("t", largest=True)

    @property
    def beta(self) -> float | None:
        """The largest ``beta`` over the sensitive attributes."""
        return self._worst("beta", largest=True)

    @property
    def beta_enhanced(self) -> float | None:
        """The largest ``beta_enhanced`` over the sensitive attributes."""
        return self._worst("beta_enhanced", largest=True)

    @property
    def delta_disclosure(self) -> float | None:
        """The largest ``delta_disclosure`` over the sensitive attributes."""
        return self._worst("delta_disclosure", largest=True)


def marketer(grouped: Grouped) -> float:
    """Return the mean over records of 1/size: groups of 99 and 1 give 0.02, not 0.505."""
    linked = math.fsum(
        row.records / row.smallest if row.smallest == row.largest else row.linked
        for row in grouped.rows
    )
    return linked / grouped.records


def group_risk(grouped: Grouped, sensitive: dict[str, SensitiveGroups]) -> GroupRisk:
    """Compute k and the size risks (El Emam 2013) from stage two's rows."""
    rows, records = grouped.rows, grouped.records
    k = rows[0].smallest
    return GroupRisk(
        columns=grouped.columns,
        k=k,
        groups=grouped.groups,
        records=records,
        singled_out=sum(row.records for row in rows if row.largest == 1),
        prosecutor=1 / k,
        journalist=1 / k,
        marketer=marketer(grouped),
        sizes=tuple(SizeClass(r.smallest, r.largest, r.groups, r.records) for r in rows),
        sensitive=sensitive,
    )


def sensitive_groups(
    name: str, grouped: Grouped, distinct: int, t: float, recursive: tuple[float, int]
) -> SensitiveGroups:
    """Read the group models of one sensitive attribute off stage two's extremes."""
    found = grouped.extremes
    assert found is not None
    beta = max(0.0, found.most_ratio - 1)
    lacking = found.least_distinct < distinct
    return SensitiveGroups(
        sensitive=name,
        l=1 / found.top_share,
        distinct_l=found.least_distinct,
        entropy_l=2.0 ** min(row.least_h for row in grouped.rows),
        recursive=recursive,
        alpha=found.top_share,
        t=t,
        beta=beta,
        beta_enhanced=beta if found.enhanced_excess <= 1 + 1e-12 else math.inf,
        delta_disclosure=math.inf
        if lacking
        else max(abs(math.log(found.most_ratio)), abs(math.log(found.least_ratio))),
    )


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

    EMD is convex, so a group is at most as far away as the mean of its values' point masses (their
    ``reach``); and it is at least as far away as the means of any 1-Lipschitz function differ, of
    which ``reach`` itself and the rank are two. Groups whose upper bound is below the best lower
    bound cannot hold the maximum: only the others are computed, value by value.
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
