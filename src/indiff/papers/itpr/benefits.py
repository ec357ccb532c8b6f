"""Judges which metric measures which risk (ITPR paper, Table 7) on Figures 1, 3 and 4."""

from __future__ import annotations

from collections.abc import Sequence

from indiff.papers.items import Grid, Page
from indiff.papers.itpr import curves
from indiff.papers.itpr.curves import Point
from indiff.papers.itpr.figures import rises
from indiff.papers.itpr.printed import BENEFITS
from indiff.papers.run import Run
from indiff.papers.spans import same

LEAST_MOVED = 0.1


def hard_to_read(points: Sequence[Point], metric: str) -> bool:
    """Tell whether a metric leaves [0, 1] or has hardly moved halfway along the axis."""
    values = [point.value(metric) for point in points]
    return max(values) > 1 or values[len(values) // 2] - values[0] < LEAST_MOVED


def mark(lines: Sequence[Sequence[Point]], metric: str) -> str:
    """Return ✓, (✓) or ✗: it must grow along every curve; the first shows if it is readable."""
    if not all(rises(points, metric) for points in lines):
        return "✗"
    return "(✓)" if hard_to_read(lines[0], metric) else "✓"


def table_7(run: Run) -> Page:
    """Table 7 (Section 6): the marks, recomputed from the curves."""
    two, common = curves.two_values(run), curves.common_disease(run, curves.GRADED)
    lines = []
    for metric, printed in BENEFITS.items():
        ours = mark([two], metric), mark([common, curves.rare_disease(run)], metric)
        lines.append((metric, ours[0], printed[0], ours[1], printed[1], same(ours, printed)))
    header = ("metric", "re-identification", "printed", "inference", "printed", "")
    other = curves.common_disease(run, curves.ONE_AGE)
    unlike = [metric for metric in ("MIL", "ELD") if rises(other, metric)]
    wrong = [line[0] for line in lines if line[-1] != "same"]
    return Page(
        status=f"differs because of {', '.join(wrong)}"
        if wrong
        else "reproduced (by a rule of ours, on the tables chosen for Figures 3 and 4)",
        printed="Table 7, Section 5.4: ✓ correct, (✓) correct but hard to interpret, ✗ not.",
        tables=[Grid("Marks", header, lines)],
        notes=(
            "The paper states no rule. Ours follows its arguments: correct is what grows with ε "
            "(Figure 1), and with λ and ϑ (Figures 3 and 4); hard to interpret is what leaves "
            f"[0, 1] or has moved by less than {LEAST_MOVED:g} halfway along Figure 1 or 3.",
            "By the eight records of Table 3 alone the marks of inference would be others: DR, MI "
            "and CP order the cases of Disease wrongly, and ELD orders them rightly.",
            "The two ✗ of inference rest on the tables of Figures 3 and 4: where one age alone "
            f"becomes less diverse, {' and '.join(unlike)} grow with λ and with Eq. 13's ϑ.",
            "A ✓ does not make a metric complete: ITPR is 1 as soon as one group is alone, and "
            "says nothing of how many are.",
        ),
    )
