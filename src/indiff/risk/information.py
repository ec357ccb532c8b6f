"""H … ITPR: what the published columns tell about who a record is, or what its value is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from indiff.risk.counts import Grouped


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
