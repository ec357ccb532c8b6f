"""Computes every metric from the counts: H … ITPR, and k, ℓ, t … of the group models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from indiff.data.schema import Kind
from indiff.engines.protocol import Engine
from indiff.risk.counts import GroupsInEngine, group_by, keys, listed
from indiff.risk.in_memory import GroupsInMemory
from indiff.risk.sizes import Grouped, ValueExtremes
from indiff.risk.values import Values


@dataclass(frozen=True)
class AtMaximum:
    """What drives ITPR and ELD to 1: groups in which X has one value only."""

    groups: int
    records: int
    sizes: tuple[tuple[int, int], ...]
    """Pairs (group size, records in such groups), at most 20, smallest sizes first."""

    def __str__(self) -> str:
        shown = ", ".join(f"{records:,} in groups of {size:,}" for size, records in self.sizes[:5])
        return f"{self.records:,} records in {self.groups:,} groups ({shown})"


@dataclass(frozen=True)
class InformationRisk:
    """The information-theoretic metrics of the ITPR paper for one X and one set of columns Y.

    All logarithms are base 2. Where X is constant the ratios are undefined; nothing can be
    learned, and ``dr``, ``itpr`` and the normalised entropy's complement are 0 (errata 5).
    """

    x: str
    columns: tuple[str, ...]
    records: int
    groups: int
    h: float
    """H(X) (Eq. 1)."""
    h_conditional: float
    """H(X|Y) (Eq. 2)."""
    h_normalised: float
    """H(X|Y) / H(X) (Eq. 3); 1 for a constant X."""
    h_joint: float
    """H(X, Y) (Eq. 4)."""
    h_columns: float
    """H(Y)."""
    dr: float
    """Discrimination rate (Eq. 5), in [0, 1]: an average, so it hides a single exposed record."""
    mi: float
    """Mutual information in bits (Eq. 6)."""
    cp: float
    """Conditional privacy lost, 1 − 2^−MI (Eq. 7)."""
    mil: float
    """Maximum information leakage as the paper's tables have it, weighted by p(y) (Eq. 8)."""
    mil_unweighted: float
    """Maximum information leakage as its source has it (du Pin Calmon and Fawaz 2012)."""
    eld: float
    """Entropy ℓ-diversity as a risk: 2^−H(X|q) of the least diverse group, in (0, 1]."""
    itpr: float
    """The paper's metric (Definitions 4.1 and 4.2), in [DR, 1]."""
    itpr_combined: float | None
    """``itpr`` when it is Definition 4.2's: with two columns or more."""
    epsilon: int
    """ε: the largest group's size minus the smallest's (Eq. 11)."""
    lambda_: int | None
    """λ: the largest difference of two values' counts in a group (Eq. 12); sensitive X only."""
    theta: float
    """ϑ: max H(X) − H(X|q) (Eq. 13)."""
    at_maximum: AtMaximum
    notes: tuple[str, ...] = ()


def information_risk(x: str, grouped: Grouped, h: float, spread: int | None) -> InformationRisk:
    """Compute every metric from stage two's rows (ITPR paper, Sections 3.2, 3.3, 4 and 5).

    ITPR is ``max over y of 1 − |Ω_Y| · p(y) · H(X|y) / H(X)``: the printed Eq. 10 lacks the weight
    p(y) that its own tables use (errata 1). A low value does not prove that nobody is exposed to
    an attacker who knows more columns than these.
    """
    rows, records = grouped.rows, grouped.records
    conditional = max(0.0, min(h, (grouped.nlogn - grouped.clogc) / records))
    if all(row.homogeneous_groups == row.groups for row in rows):
        conditional = 0.0
    least_weighted = min(row.least_weighted_h for row in rows) / records
    least = min(h, *(row.least_h for row in rows))  # never above H(X), but for rounding
    constant = h == 0.0
    if grouped.groups == 1:
        conditional = least_weighted = least = h
    mi = h - conditional
    dr = 0.0 if constant else mi / h
    itpr = 0.0 if constant else 1.0 - grouped.groups * least_weighted / h
    itpr = min(1.0, max(itpr, dr))
    notes = (f"{x} is constant: nothing can be learned about it, and ELD is 1 by formula",)
    return InformationRisk(
        x=x,
        columns=grouped.columns,
        records=records,
        groups=grouped.groups,
        h=h,
        h_conditional=conditional,
        h_normalised=1.0 if constant else conditional / h,
        h_joint=grouped.h_groups + conditional,
        h_columns=grouped.h_groups,
        dr=dr,
        mi=mi,
        cp=-math.expm1(-mi * math.log(2)),
        mil=h - least_weighted,
        mil_unweighted=h - least,
        eld=2.0**-least,
        itpr=itpr,
        itpr_combined=itpr if len(grouped.columns) > 1 else None,
        epsilon=max(row.largest_records for row in rows) - min(row.least_records for row in rows),
        lambda_=spread,
        theta=h - least,
        at_maximum=_at_maximum(grouped),
        notes=notes if constant else (),
    )


def _at_maximum(grouped: Grouped) -> AtMaximum:
    """Count the groups in which X has one value: ITPR is 1 as soon as there is one of several."""
    alone = [row for row in grouped.rows if row.homogeneous_groups]
    return AtMaximum(
        groups=sum(row.homogeneous_groups for row in alone),
        records=sum(row.homogeneous_records for row in alone),
        sizes=tuple((row.smallest, row.homogeneous_records) for row in alone[:20]),
    )


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


class _Worst:
    """The worst of a group model over the sensitive attributes; None without one."""

    def __init__(self, choose: Callable[[list[Any]], Any]) -> None:
        self.choose = choose

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, risk: Any, owner: type) -> Any:
        if risk is None:
            return self
        found = [getattr(part, self.name) for part in risk.sensitive.values()]
        return self.choose(found) if found else None


@dataclass(frozen=True)
class GroupRisk:
    """The group models of one set of columns.

    Sizes count individuals. ``prosecutor`` assumes the target is known to be in the table;
    ``journalist`` that somebody in the population matches, and equals it here, because the table
    stands for the population: with a larger population the risk is lower. ``marketer`` is the
    expected share of records that are linked correctly, per record and not per group. ``l`` and
    the other models of :class:`SensitiveGroups` are the worst over the sensitive attributes.
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

    l = _Worst(min)  # noqa: E741 - the name that users and papers know
    distinct_l = _Worst(min)
    entropy_l = _Worst(min)
    recursive = _Worst(lambda found: min(found, key=lambda pair: (pair[1], -pair[0])))
    alpha = _Worst(max)
    t = _Worst(max)
    beta = _Worst(max)
    beta_enhanced = _Worst(max)
    delta_disclosure = _Worst(max)


DERIVED = [name for name, model in vars(GroupRisk).items() if isinstance(model, _Worst)]


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
    groups: GroupsInEngine | GroupsInMemory,
    values: Values,
    extremes: ValueExtremes,
) -> float:
    """Return t (Li, Li and Venkatasubramanian 2007) over groups.

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
    if values.nodes is None and values.sensitive.kind == Kind.CATEGORICAL:
        return max(settled, groups.equally_far(least - _SLACK))
    candidates = groups.candidates(least - _SLACK)
    place = _ordered if values.nodes is None else _tree
    t = place(candidates, values, groups.columns)
    ((found,),) = engine.query(f"SELECT MAX(t) FROM ({t}) q")
    engine.forget(candidates)
    return max(settled, found or 0.0)


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
