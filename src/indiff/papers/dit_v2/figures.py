"""DIT v2, Figures 1 to 6: δ and distributions of d under k-anonymity, ℓ-diversity and noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from indiff.papers import charts
from indiff.papers.claims import (
    Claim,
    as_grid,
    diversity_below,
    falls,
    grows_with_epsilon,
    largest_rises,
    noise_against,
    one_rise,
    status_of,
)
from indiff.papers.full_generalization import one_group_note
from indiff.papers.items import Cell, Chart, Grid, Page
from indiff.papers.measure import (
    EPSILONS,
    KS,
    LS,
    NAMES,
    Measured,
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
    "numeric cut against k, ours checks both, so the curves need not agree point by point; nor "
    "does ours compare numbers as text, as the authors' program does. The errata page shows how "
    "much each changes."
)
SELECTION = "Adult: another random selection of 10,000 records; bars show the range over {} draws."
HALVES = (
    "Distances are Σ|p − p′| as Section 3.2 defines them. What Section 4.5.1 prints (0.21 for "
    "ℓ = 3) agrees with DIT v1's Table 2 (0.213), which is ½Σ|p − p′|: twice as much here."
)
OTHERS = "the cuts and the records are others"
SHARES = (0.5, 0.9, 0.99, 1.0)


def figure_1(run: Run) -> Page:
    """Figure 1 (Section 4.5.1): δ against k and ℓ on Adult."""
    named = [one_rise(run, "adult", "k", 8, 16), one_rise(run, "adult", "l", 2, 3)]
    return _deltas(run, "adult", "Figure 1, Section 4.5.1", named)


def figure_3(run: Run) -> Page:
    """Figure 3 (Section 4.5.1): δ against k and ℓ on Internet Usage."""
    return _deltas(run, "internet-v2", "Figure 3, Section 4.5.1", [])


def _deltas(run: Run, name: str, where: str, named: list[Claim]) -> Page:
    claims = [
        diversity_below(run, name, KS),
        diversity_below(run, name, KS, "mean d"),
        falls(run, name, "k", KS),
        falls(run, name, "l", LS),
        largest_rises(run, name, "k", KS),
        largest_rises(run, name, "l", LS),
        *named,
    ]
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
        status=status_of(claims, OTHERS),
        printed=f"{where}: the curve of δ against k and ℓ, 1 … 64, for {NAMES[name]}. {SHAPE_ONLY}",
        tables=(
            Grid(f"δ on {NAMES[name]} (middle of the draws)", header, tuple(cells)),
            as_grid(claims),
        ),
        charts=(Chart(chart, f"δ against k and ℓ on {NAMES[name]}"),),
        notes=(*_selection(run, name), CHECKED_CUTS, HALVES, one_group_note(run, name),
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
    grids = []
    for rule, label, values in (("k", "k-anonymity", KS), ("l", "ℓ-diversity", LS)):
        results = {v: measure(run, name, rule, v) for v in values}  # type: ignore[arg-type]
        columns |= {(label, f"{v:2d}"): r.distances for v, r in results.items()}
        cells = tuple((v, *_quantiles(r), r.mean) for v, r in results.items())
        symbol = "k" if rule == "k" else "ℓ"
        grids.append(Grid(f"{label}: quantiles of d", (symbol, *_heads(), "mean d"), cells))
    claims = [
        falls(run, name, "k", KS, "median d"),
        falls(run, name, "l", LS, "median d"),
        falls(run, name, "k", KS),
        falls(run, name, "l", LS),
    ]
    chart = charts.cumulative(columns, x="d", series="k or ℓ")
    return Page(
        status=status_of(claims, OTHERS),
        printed=f"{where}: the cumulative distribution of d for {NAMES[name]}. {SHAPE_ONLY}",
        tables=(*grids, as_grid(claims)),
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
    claims = [
        grows_with_epsilon(run, name),
        noise_against(run, name, "k", KS[1:], "δ"),
        noise_against(run, name, "l", (2, 3, 4), "δ"),
    ]
    average = [noise_against(run, name, "k", KS[1:], "mean"),
               noise_against(run, name, "l", LS[1:], "mean")]  # fmt: skip
    cells = tuple((labels[e], spread(deltas[e])[0], span(deltas[e]), spread(means[e])[0])
                  for e in EPSILONS)  # fmt: skip
    curve = charts.curves(
        rows, x="ε", y="d", series="", ordered=[labels[e] for e in EPSILONS], width=380
    )
    columns = {("", labels[e]): noisy(run, name, e).distances for e in EPSILONS}
    return Page(
        status=status_of(claims, OTHERS),
        printed=f"{where}: δ and the distribution of d against ε on {NAMES[name]}, each d estimated"
        f" from N = 25,000 samples by Eq. 1. {SHAPE_ONLY}",
        tables=(
            Grid("δ, exact, by one integral for each record", ("ε", "δ", "range", "mean d"), cells),
            as_grid([*claims, *average]),
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
            "Numbers are cut into five quantiles as Section 4.5.2 says. The authors' program uses "
            "fixed intervals instead (Table 3's page).",
            'The paper says "may provide weaker protection on average", so a cell in which '
            "ε = 0.1 protects more on average is no counterexample and does not count against the "
            "status.",
        ),
    )  # fmt: skip


def _quantiles(result: Measured) -> tuple[float, ...]:
    return tuple(
        float(np.quantile(result.distances, share, method="inverted_cdf")) for share in SHARES
    )


def _heads() -> tuple[str, ...]:
    return tuple("largest" if share == 1 else f"{share:.0%}" for share in SHARES)


def _selection(run: Run, name: str, *, single: bool = False) -> tuple[str, ...]:
    if name != "adult":
        return ()
    if single:
        return ("Adult: another random selection of 10,000 records; shown is one draw (seed 0).",)
    return (SELECTION.format(run.seeds),)
