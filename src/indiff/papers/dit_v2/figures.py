"""Draws DIT v2's Figures 1 to 6: δ and distributions of d by k, ℓ and ε."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from indiff.papers import charts
from indiff.papers import claims as paper
from indiff.papers.measure import EPSILONS, KS, LABEL, SYMBOL, DataSet
from indiff.papers.pages import Cell, Chart, Grid, Page, span, spread
from indiff.papers.published.program import Rule
from indiff.papers.run import Run

SHARES = {"50%": 0.5, "90%": 0.9, "99%": 0.99, "largest": 1.0}


def _deltas(run: Run, name: str, named: tuple[tuple[Rule, int, int], ...]) -> Page:
    """Show δ against k and ℓ (Section 4.5.1); ``named`` are the rises that the text names."""
    data = DataSet(run, name)
    claims = [
        paper.diversity_below(data, KS),
        paper.diversity_below(data, KS, "mean d"),
        *(paper.falls(data, rule, KS) for rule in LABEL),
        *(paper.largest_rises(data, rule, KS) for rule in LABEL),
        *(paper.one_rise(data, *step) for step in named),
    ]
    rows: list[charts.Row] = []
    cells: list[list[Cell]] = []
    for value in KS:
        cells.append([value])
        for rule, label in LABEL.items():
            results = data.draws(rule, value)
            deltas = [result.delta for result in results]
            rows.append(charts.point(value, deltas, label))
            whole = rule == "l" and all(result.whole for result in results)
            middle = f"{spread(deltas)[0]:.4g}{' (one group)' if whole else ''}"
            cells[-1] += [middle, span(deltas), spread([result.mean for result in results])[0]]
    header = ("k or ℓ", "δ, k-anonymity", "range", "mean d", "δ, ℓ-diversity", "range", "mean d")
    chart = charts.curves(rows, x="k or ℓ", y="δ", ordered=KS, width=460)
    return Page(
        status=paper.status_of(claims),
        tables=(
            Grid(f"δ on {data.title} (middle of the draws)", header, cells),
            paper.as_grid(claims),
        ),
        charts=[Chart(chart, f"δ against k and ℓ on {data.title}")],
        facts={"data": data, "one_group": paper.one_group_note(data)},
    )


def _distributions(run: Run, name: str) -> Page:
    """Show the distribution of d (Section 4.5.1)."""
    data = DataSet(run, name)
    columns: dict[tuple[str, str], NDArray[np.float64]] = {}
    grids, shares = [], list(SHARES.values())
    for rule, label in LABEL.items():
        results = {value: data.measure(rule, value) for value in KS}
        columns |= {(label, f"{v:2d}"): found.distances for v, found in results.items()}
        cells = [
            (v, *np.quantile(found.distances, shares, method="inverted_cdf").tolist(), found.mean)
            for v, found in results.items()
        ]
        header = (SYMBOL[rule], *SHARES, "mean d")
        grids.append(Grid(f"{label}: quantiles of d", header, cells))
    whats: tuple[paper.Statistic, ...] = ("median d", "mean d")
    claims = [paper.falls(data, rule, KS, what) for what in whats for rule in LABEL]
    chart = charts.cumulative(columns, x="d", series="k or ℓ")
    return Page(
        status=paper.status_of(claims),
        tables=(*grids, paper.as_grid(claims)),
        charts=[Chart(chart, f"Cumulative distribution of d on {data.title}")],
        facts={"data": data},
    )


def _noise(run: Run, name: str) -> Page:
    """Show δ and the distribution of d under noise (Section 4.5.2)."""
    data = DataSet(run, name)
    labels = {e: "∞" if np.isinf(e) else f"{e:g}" for e in EPSILONS}
    found = {e: [data.noisy(e, seed) for seed in data.seeds] for e in EPSILONS}
    deltas = {e: [result.delta for result in found[e]] for e in EPSILONS}
    means = {e: spread([result.mean for result in found[e]])[0] for e in EPSILONS}
    cells = [(labels[e], spread(deltas[e])[0], span(deltas[e]), means[e]) for e in EPSILONS]
    rows = [charts.point(label, [delta], "δ (largest d)") for label, delta, _, _ in cells]
    rows += [charts.point(label, [mean], "mean d") for label, _, _, mean in cells]
    claims = [
        paper.grows_with_epsilon(data),
        paper.noise_against(data, "k", KS[1:], "δ"),
        paper.noise_against(data, "l", (2, 3, 4), "δ"),
    ]
    average = [paper.noise_against(data, rule, KS[1:], "mean d") for rule in LABEL]
    curve = charts.curves(rows, x="ε", y="d", ordered=[*labels.values()], width=380)
    columns = {("", labels[e]): found[e][0].distances for e in EPSILONS}
    return Page(
        status=paper.status_of(claims),
        tables=(
            Grid("δ, exact, by one integral for each record", ("ε", "δ", "range", "mean d"), cells),
            paper.as_grid([*claims, *average]),
        ),
        charts=(
            Chart(curve, f"δ and mean d against ε on {data.title}", "a"),
            Chart(charts.cumulative(columns, x="d", series="ε"),
                  f"Cumulative distribution of d by ε on {data.title}", "b"),
        ),
        facts={"data": data},
    )  # fmt: skip


figure_1 = partial(_deltas, name="adult", named=(("k", 8, 16), ("l", 2, 3)))
figure_2 = partial(_distributions, name="adult")
figure_3 = partial(_deltas, name="internet-v2", named=())
figure_4 = partial(_distributions, name="internet-v2")
figure_5 = partial(_noise, name="adult")
figure_6 = partial(_noise, name="internet-v2")
