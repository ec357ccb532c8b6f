"""k, ℓ, t … : the group models, and the risk of being picked out by group size."""

from __future__ import annotations

import math
from dataclasses import dataclass

from indiff.risk.counts import Grouped


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
