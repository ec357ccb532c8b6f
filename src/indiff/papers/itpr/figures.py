"""Recomputes the ITPR paper's Figures 1 to 5, metrics along made-up tables, and Table 7."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from indiff.papers import charts
from indiff.papers.claims import SHAPE
from indiff.papers.itpr import curves
from indiff.papers.itpr.curves import METRICS, Point
from indiff.papers.itpr.printed import BENEFITS, as_printed
from indiff.papers.pages import Cell, Chart, Grid, Page, same
from indiff.papers.run import Run

ROUNDING = 1e-9
LEAST_MOVED = 0.1
Claim = tuple[str, str, bool]  # what the text says, what ours shows, whether they agree


def rises(points: Sequence[Point], *metrics: str) -> bool:
    """Tell whether metrics grow along the points, rounding aside, and never fall."""
    for metric in metrics:
        values = [point.value(metric) for point in points]
        steps = [b - a for a, b in pairwise(values)]
        if min(steps) <= -ROUNDING or values[-1] - values[0] <= ROUNDING:
            return False
    return True


def falls(points: Sequence[Point], *metrics: str) -> bool:
    """Tell whether metrics shrink along the points, rounding aside, and never grow."""
    return rises(points[::-1], *metrics)


def ends(points: Sequence[Point], metric: str) -> str:
    """Write where a metric starts and where it ends."""
    first, last = (_clean(point.value(metric)) for point in (points[0], points[-1]))
    return f"{first:.4g} to {last:.4g}"


def figure_1(run: Run) -> Page:
    """Figure 1 (Section 5.1): re-identification, two values of Y."""
    points = curves.two_values(run)
    equal, alone = points[0], points[-1]
    return _page(
        points, "ε",
        status="reproduced (the described shape and the values that the text names)",
        shows=", two values",
        claims=[
            ("ITPR is 1 at ε = 9998", f"{alone.value('ITPR'):g}", alone.value("ITPR") == 1),
            ("ITPR is 7·10⁻² at ε = 0", f"{equal.value('ITPR'):.4g}",
             as_printed(equal.value("ITPR"), "0.07") == "0.07"),
            ("ITPR falls smoothly in between", ends(points[::-1], "ITPR"),
             rises(points, "ITPR")),
            ("DR stays below 0.1", f"at most {max(p.value('DR') for p in points):.4g}",
             all(p.value("DR") < 0.1 for p in points)),
            ("MI and CP grow as the two become equal", f"MI {ends(points[::-1], 'MI')}",
             falls(points, "MI", "CP")),
            ("ELD grows extremely slowly with ε",
             f"{points[-2].value('ELD'):.4g} at ε = {points[-2].x:g}",
             rises(points, "ELD") and points[-2].value("ELD") < 0.01),
            ("MIL grows with ε, between 7 and 13", ends(points, "MIL"),
             rises(points, "MIL") and 7 <= equal.value("MIL") < 8
             and 13 <= alone.value("MIL") < 14),
        ],
    )  # fmt: skip


def figure_2(run: Run) -> Page:
    """Figure 2 (Section 5.1): re-identification, ten values of Y."""
    points = curves.ten_values(run)
    return _page(
        points, "ε",
        status=SHAPE,
        shows=", ten values",
        claims=[
            ("as in Figure 1, ITPR grows with ε", ends(points, "ITPR"), rises(points, "ITPR")),
            ("MIL and ELD grow with ε", f"MIL {ends(points, 'MIL')}",
             rises(points, "MIL", "ELD")),
            ("ELD does so extremely slowly",
             f"{points[-2].value('ELD'):.4g} at ε = {points[-2].x:g}",
             points[-2].value("ELD") < 0.05),
            ("DR, MI and CP fall", f"DR {ends(points, 'DR')}",
             falls(points, "DR", "MI", "CP")),
        ],
    )  # fmt: skip


def figure_3(run: Run) -> Page:
    """Figure 3 (Section 5.2): inference by λ, the spread of the diseases' counts in an age."""
    points = curves.common_disease(run, curves.GRADED)
    single = curves.common_disease(run, curves.ONE_AGE)
    bounded = [point.value(metric) for point in points for metric in ("ITPR", "ELD")]
    return _page(
        points, "λ",
        status="reproduced (the described shape, on a table chosen for it; the text prints no "
        "values)",
        claims=[
            ("ITPR, DR, MI, ELD and CP grow with λ", f"ITPR {ends(points, 'ITPR')}",
             rises(points, *METRICS[:-1])),
            ("ITPR and ELD range between 0 and 1",
             f"{_clean(min(bounded)):.4g} to {max(bounded):.4g}",
             min(bounded) >= -ROUNDING and max(bounded) <= 1),
            ("MIL falls as λ grows", ends(points, "MIL"), falls(points, "MIL")),
        ],
        more=(_curve("The same, one age alone with a common disease", "λ", single),),
        facts={"mil": ends(single, "MIL")},
    )  # fmt: skip


def figure_4(run: Run) -> Page:
    """Figure 4 (Section 5.2): inference by ϑ, how far an age is from the whole table."""
    points, single = curves.rare_disease(run), curves.common_disease(run, curves.ONE_AGE)
    start, there = points[0], min(points, key=lambda point: abs(point.x - 0.4))
    slow = [
        (f"{metric} goes from {before} to {after} between ϑ = 0 and 0.4",
         f"{ours[0]:.4g} to {ours[1]:.4g}",
         (as_printed(ours[0], "0.00"), as_printed(ours[1], "0.00")) == (before, after))
        for metric, before, after, ours in (
            ("MIL", "0.07", "0.09", (start.mil_there, there.mil_there)),
            ("MI", "0.0", "0.02", (abs(start.value("MI")), there.value("MI"))),
            ("CP", "0.0", "0.01", (abs(start.value("CP")), there.value("CP"))),
        )
    ]  # fmt: skip
    elds = [point.value("ELD") for point in points]
    cells = [(f"{point.share:.1%}", point.x, _clean(point.found.theta), point.mil_there)
             for point in points]  # fmt: skip
    return _page(
        points, "ϑ",
        status="differs because the paper does not print the table; on one fitted to the text, "
        "ITPR, ELD, MI and CP are as described, but ϑ and MIL are not those of Eqs. 13 and 8",
        claims=[
            ("ELD is constant", f"{min(elds):.4g} to {max(elds):.4g}",
             max(elds) - min(elds) < ROUNDING),
            ("ITPR grows with ϑ", ends(points, "ITPR"), rises(points, "ITPR")),
            *slow,
            ("ϑ = 0.4 can be a group in which 12% have the disease", f"{there.share:.1%}",
             as_printed(there.share, "0.12") == "0.12"),
        ],
        more=(
            Grid("The age with more of the disease",
                 ("have it", "H(X, q) − H(X)", "Eq. 13", "H(X) − p(q)·H(X|q)"), cells),
            _curve("Eq. 13 as printed: one age becomes less diverse", "ϑ",
                   [Point(_clean(point.found.theta), point.found) for point in single]),
        ),
        facts={"mil": f"{there.value('MIL'):.4g}"},
    )  # fmt: skip


def figure_5(run: Run) -> Page:
    """Figure 5 (Section 5.2): ITPR by ε and ϑ together."""
    found = curves.surface(run)
    epsilons, thetas = curves.EPSILONS_OF_SURFACE, curves.THETAS_OF_SURFACE
    values = {place: _clean(risk.itpr) for place, risk in found.items()}
    rows: list[tuple[Cell, ...]] = [
        (f"{theta:g}", *(values[e, theta] for e in epsilons)) for theta in thetas
    ]
    by_epsilon = all(rises([Point(e, found[e, t]) for e in epsilons], "ITPR") for t in thetas)
    by_theta = all(rises([Point(t, found[e, t]) for t in thetas], "ITPR") for e in epsilons)
    corners = f"{min(values.values()):.4g} to {max(values.values()):.4g}"
    claims = [
        ("ITPR grows with ε at every ϑ", corners, by_epsilon),
        ("ITPR grows with ϑ at every ε", corners, by_theta),
    ]
    return Page(
        status=_status(claims, SHAPE),
        tables=(_claims(claims), Grid("ITPR", ("ϑ", *(f"ε = {e:,}" for e in epsilons)), rows)),
        charts=[Chart(charts.heat_map(values, "ε", "ϑ"), "ITPR by ε and ϑ")],
    )  # fmt: skip


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
        tables=[Grid("Marks", header, lines)],
        facts={"least_moved": LEAST_MOVED, "unlike": unlike},
    )


def _page(
    points: Sequence[Point],
    axis: str,
    *,
    status: str,
    claims: Sequence[Claim],
    shows: str = "",
    more: tuple[Grid, ...] = (),
    **facts: Any,
) -> Page:
    drawn = {metric: [(point.x, point.value(metric)) for point in points] for metric in METRICS}
    listed = f"{', '.join(METRICS[:-1])} and {METRICS[-1]}"
    return Page(
        status=_status(claims, status),
        tables=(_claims(claims), _curve("The curves", axis, points), *more),
        charts=[Chart(charts.panels(drawn, axis, "MIL"), f"{listed} by {axis}{shows}")],
        **facts,
    )


def _status(claims: Sequence[Claim], good: str) -> str:
    missed = [text for text, _, holds in claims if not holds]
    return f"differs because not found: {'; '.join(missed)}" if missed else good


def _claims(claims: Sequence[Claim]) -> Grid:
    rows = [(text, ours, "yes" if holds else "no") for text, ours, holds in claims]
    return Grid("What the text says of it", ("claim", "ours", "holds"), rows)


def _curve(title: str, axis: str, points: Sequence[Point]) -> Grid:
    rows: list[tuple[Cell, ...]] = [
        (f"{point.x:,.0f}" if point.x >= 100 else f"{point.x:.4g}",
         *(_clean(point.value(metric)) for metric in METRICS))
        for point in points
    ]  # fmt: skip
    return Grid(title, (axis, *METRICS), rows)


def _clean(value: float) -> float:
    """Drop what rounding leaves of a zero, so that pages are the same on every machine."""
    return round(value, 6) + 0.0
