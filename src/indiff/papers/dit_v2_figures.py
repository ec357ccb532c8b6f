"""DIT v2, Figures 1 to 6: δ and distributions of d under k-anonymity, ℓ-diversity and noise."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.papers import charts
from indiff.papers.items import Cell, Chart, Grid, Page
from indiff.papers.measure import (
    EPSILONS,
    KS,
    LS,
    NAMES,
    Measured,
    Rule,
    measure,
    noisy,
    seeds_of,
    span,
    spread,
)
from indiff.papers.run import Run

SHAPE_ONLY = (
    "The paper gives no values of the curves in its text, so only what it says about their shape "
    "can be compared."
)
CHECKED_CUTS = (
    "k-anonymity: the public Mondrian behind the paper does not check the right-hand side of a "
    "numeric cut against k, ours checks both, so the curves need not agree point by point; the "
    "errata page shows how much it changes."
)
SELECTION = "Adult: another random selection of 10,000 records; bars show the range over {} draws."
HALVES = (
    "Distances are Σ|p − p′| as Section 3.2 defines them. What Section 4.5.1 prints (0.21 for "
    "ℓ = 3) agrees with DIT v1's Table 2 (0.213), which is ½Σ|p − p′|: twice as much here."
)
SHARES = (0.5, 0.9, 0.99, 1.0)


def figure_1(run: Run) -> Page:
    """Figure 1 (Section 4.5.1): δ against k and ℓ on Adult."""
    claims = [
        ("δ is smaller for ℓ-diversity than for k-anonymity at equal values (above 2)",
         _share_below(run, "adult")),
        ("δ falls as the parameter grows, but not monotonically",
         _not_monotone(run, "adult")),
        ("δ increases from k = 8 to k = 16", _rises(run, "adult", "k", 8, 16)),
        ("δ increases from ℓ = 2 to ℓ = 3", _rises(run, "adult", "l", 2, 3)),
    ]  # fmt: skip
    return _deltas(run, "adult", "Figure 1, Section 4.5.1", claims)


def figure_3(run: Run) -> Page:
    """Figure 3 (Section 4.5.1): δ against k and ℓ on Internet Usage."""
    claims = [
        ("worst case and average case often differ: δ is not monotone, the mean falls",
         _not_monotone(run, "internet-v2")),
        ("δ is smaller for ℓ-diversity than for k-anonymity at equal values (above 2)",
         _share_below(run, "internet-v2")),
    ]  # fmt: skip
    return _deltas(run, "internet-v2", "Figure 3, Section 4.5.1", claims)


def _deltas(run: Run, name: str, where: str, claims: list[tuple[str, str]]) -> Page:
    rows: list[dict[str, Any]] = []
    cells: list[tuple[Cell, ...]] = []
    for value in KS:
        line: list[Cell] = [value]
        for rule, label in (("k", "k-anonymity"), ("l", "ℓ-diversity")):
            results = [measure(run, name, rule, value, s) for s in seeds_of(run, name)]  # type: ignore[arg-type]
            deltas = [result.delta for result in results]
            middle, low, high = spread(deltas)
            row = {"x": str(value), "y": charts.tidy(middle), "series": label}
            if low < high:
                row |= {"low": charts.tidy(low), "high": charts.tidy(high)}
            rows.append(row)
            whole = rule == "l" and all(result.whole for result in results)
            note = " (one group)" if whole else ""
            mean = float(np.median([result.mean for result in results]))
            line += [f"{middle:.4g}{note}", span(deltas), mean]
        cells.append(tuple(line))
    header = ("k or ℓ", "δ, k-anonymity", "range", "mean d", "δ, ℓ-diversity", "range", "mean d")
    chart = charts.curves(
        rows, x="k or ℓ", y="δ", series="", ordered=[str(value) for value in KS], width=460
    )
    return Page(
        status=_status(claims),
        printed=f"{where}: the curve of δ against k and ℓ, 1 … 64, for {NAMES[name]}. {SHAPE_ONLY}",
        tables=(
            Grid(f"δ on {NAMES[name]} (middle of the draws)", header, tuple(cells)),
            _claims(claims),
        ),
        charts=(Chart(chart, f"δ against k and ℓ on {NAMES[name]}"),),
        notes=(*_selection(run, name), CHECKED_CUTS, HALVES,
               "k = 1 and ℓ = 1 are the raw table."),
    )  # fmt: skip


def figure_2(run: Run) -> Page:
    """Figure 2 (Section 4.5.1): the distribution of d on Adult."""
    return _distributions(run, "adult", "Figure 2, Section 4.5.1")


def figure_4(run: Run) -> Page:
    """Figure 4 (Section 4.5.1): the distribution of d on Internet Usage."""
    return _distributions(run, "internet-v2", "Figure 4, Section 4.5.1")


def _distributions(run: Run, name: str, where: str) -> Page:
    columns: dict[tuple[str, str], NDArray[np.float64]] = {}
    grids, falls = [], []
    for rule, label, values in (("k", "k-anonymity", KS), ("l", "ℓ-diversity", LS[:8])):
        results = {v: measure(run, name, rule, v) for v in values}  # type: ignore[arg-type]
        columns |= {(label, f"{v:2d}"): r.distances for v, r in results.items()}
        cells = tuple((v, *_quantiles(r), r.mean) for v, r in results.items())
        symbol = "k" if rule == "k" else "ℓ"
        grids.append(Grid(f"{label}: quantiles of d", (symbol, *_heads(), "mean d"), cells))
        median = [results[v].distances for v in values[1:]]
        falls.append(float(np.median(median[-1])) < float(np.median(median[0])))
    claims = [("the majority of d is smaller for larger k or ℓ", "yes" if all(falls) else "no")]
    chart = charts.cumulative(columns, x="d", series="k or ℓ")
    return Page(
        status=_status(claims),
        printed=f"{where}: the cumulative distribution of d for {NAMES[name]}. {SHAPE_ONLY}",
        tables=(*grids, _claims(claims)),
        charts=(Chart(chart, f"Cumulative distribution of d on {NAMES[name]}"),),
        notes=(*_selection(run, name, single=True), CHECKED_CUTS, HALVES),
    )


def figure_5(run: Run) -> Page:
    """Figure 5 (Section 4.5.2): δ and the distribution of d under noise on Adult."""
    return _noise(run, "adult", "Figure 5, Section 4.5.2")


def figure_6(run: Run) -> Page:
    """Figure 6 (Section 4.5.2): δ and the distribution of d under noise on Internet Usage."""
    return _noise(run, "internet-v2", "Figure 6, Section 4.5.2")


def _noise(run: Run, name: str, where: str) -> Page:
    seeds = seeds_of(run, name)
    deltas = {e: [noisy(run, name, e, s).delta for s in seeds] for e in EPSILONS}
    means = {e: [noisy(run, name, e, s).mean for s in seeds] for e in EPSILONS}
    labels = {e: "∞" if np.isinf(e) else f"{e:g}" for e in EPSILONS}
    rows = [
        {"x": labels[e], "y": charts.tidy(y), "series": what}
        for what, values in (("δ (largest d)", deltas), ("mean d", means))
        for e in EPSILONS
        for y in (spread(values[e])[0],)
    ]
    middles = [spread(deltas[e])[0] for e in EPSILONS]
    best_k = min(measure(run, name, "k", v).mean for v in KS[1:])
    strongest = noisy(run, name, 0.1)
    below_k = all(strongest.delta < measure(run, name, "k", v).delta for v in KS[1:])
    below_l = all(strongest.delta < measure(run, name, "l", v).delta for v in (2, 3, 4))
    claims = [
        ("smaller ε protects more: δ grows with ε", _yes(middles == sorted(middles))),
        ("the worst case at ε = 0.1 is below that of every k", _yes(below_k)),
        ("the worst case at ε = 0.1 is below that of ℓ < 5", _yes(below_l)),
        ("on average ε = 0.1 protects less than k-anonymity",
         _yes(strongest.mean > best_k) + f" (mean d {strongest.mean:.4g}, exact; "
         f"k-anonymity {best_k:.4g} … {measure(run, name, 'k', 2).mean:.4g})"),
    ]  # fmt: skip
    cells = tuple((labels[e], spread(deltas[e])[0], span(deltas[e]), spread(means[e])[0])
                  for e in EPSILONS)  # fmt: skip
    curve = charts.curves(
        rows, x="ε", y="d", series="", ordered=[labels[e] for e in EPSILONS], width=380
    )
    columns = {("", labels[e]): noisy(run, name, e).distances for e in EPSILONS}
    return Page(
        status=_status(claims[:3]),
        printed=f"{where}: δ and the distribution of d against ε on {NAMES[name]}, each d estimated"
        f" from N = 25,000 samples by Eq. 1. {SHAPE_ONLY}",
        tables=(
            Grid("δ, exact, by one integral for each record", ("ε", "δ", "range", "mean d"), cells),
            _claims(claims),
        ),
        charts=(
            Chart(curve, f"δ and mean d against ε on {NAMES[name]}", "a"),
            Chart(charts.cumulative(columns, x="d", series="ε"),
                  f"Cumulative distribution of d by ε on {NAMES[name]}", "b"),
        ),
        notes=(
            *_selection(run, name),
            "Ours is the exact distance between the two laws. Eq. 1 of the paper compares two "
            "samples and is biased upward, the more the smaller the true distance: the errata page "
            "shows by how much.",
            "Numbers are cut into five quantiles as in Section 4.5.2; the paper does not say where "
            "ties go, and its number of distinct records is not reached (Table 3's page).",
        ),
    )  # fmt: skip


def _quantiles(result: Measured) -> tuple[float, ...]:
    return tuple(
        float(np.quantile(result.distances, share, method="inverted_cdf")) for share in SHARES
    )


def _heads() -> tuple[str, ...]:
    return tuple("largest" if share == 1 else f"{share:.0%}" for share in SHARES)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _rises(run: Run, name: str, rule: Rule, low: int, high: int) -> str:
    seeds = seeds_of(run, name)
    count = sum(measure(run, name, rule, high, s).delta > measure(run, name, rule, low, s).delta
                for s in seeds)  # fmt: skip
    return f"in {count} of {len(seeds)} draws"


def _share_below(run: Run, name: str) -> str:
    seeds = seeds_of(run, name)
    pairs = [(measure(run, name, "l", v, s).delta, measure(run, name, "k", v, s).delta)
             for s in seeds for v in KS if v > 2]  # fmt: skip
    count = sum(below < above for below, above in pairs)
    return f"{_yes(count == len(pairs))}, in {count} of {len(pairs)} comparisons"


def _not_monotone(run: Run, name: str) -> str:
    bumps = 0
    for seed in seeds_of(run, name):
        deltas = [measure(run, name, "k", v, seed).delta for v in KS]
        bumps += any(after > before for before, after in pairwise(deltas))
    means = [measure(run, name, "k", v).mean for v in (2, 8, 64)]
    falling = means == sorted(means, reverse=True)
    return _yes(bumps > 0 and falling) + (
        f": δ rises at some k in {bumps} of {len(seeds_of(run, name))} draws, mean d falls from "
        f"{means[0]:.4g} (k = 2) to {means[-1]:.4g} (k = 64)"
    )


def _claims(claims: list[tuple[str, str]]) -> Grid:
    return Grid("What the paper says of the shape", ("claim", "holds for ours"), tuple(claims))


def _status(claims: list[tuple[str, str]]) -> str:
    failed = [claim for claim, answer in claims if answer.startswith(("no", "in 0 "))]
    if not failed:
        return "reproduced (the described shape; the text prints no values)"
    return f'differs because the cuts and records are others; not found: "{failed[0]}"'


def _selection(run: Run, name: str, *, single: bool = False) -> tuple[str, ...]:
    if name != "adult":
        return ()
    if single:
        return ("Adult: another random selection of 10,000 records; shown is one draw (seed 0).",)
    return (SELECTION.format(run.seeds),)
