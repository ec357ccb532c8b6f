"""How far off the estimates of risk in the population are: samples of populations that are known.

    python -m benchmarks.population_estimates [SAMPLES]

Three populations of a million people, samples of 1, 5 and 20 % without replacement, seeded. Prints
the Markdown tables of docs/risk.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from indiff.risk.population.individual import franconi_sql
from indiff.risk.population.loglinear import fit
from indiff.risk.population.measure import estimate_uniques
from indiff.risk.population.models import Histogram

PEOPLE = 1_000_000
FRACTIONS = (0.01, 0.05, 0.2)
SHAPE = (60, 2, 100, 20)
FITTED = 20
"""So many samples are weighed and fitted by log-linear models, which takes longer."""

Sizes = NDArray[np.int64]


def populations() -> dict[str, Sizes]:
    """Return the sizes of all groups of each population."""
    rng = np.random.default_rng(20)
    ranks = np.arange(1, 400_001) ** -1.1
    even = rng.dirichlet(np.full(300_000, 0.4))
    ages = np.concatenate([np.full(30, 1.0), np.linspace(1, 0.05, 30)])
    columns = [ages, np.array([0.51, 0.49]), np.arange(1, 101) ** -1.0, 0.75 ** np.arange(20)]
    cells = np.ones(1)
    for column in columns:
        cells = (cells[:, None] * (column / column.sum())).ravel()
    shares = {"a few large groups": ranks / ranks.sum(), "gamma": even, "four columns": cells}
    return {name: rng.multinomial(PEOPLE, share) for name, share in shares.items()}


def expected_links(sizes: Sizes, sampling: float) -> float:
    """Return the sum of Benedetti and Franconi's risk over a sample's records."""
    values, groups = np.unique(sizes[sizes > 0], return_counts=True)
    rows = ", ".join(f"({f}, {g})" for f, g in zip(values, groups, strict=True))
    risk = franconi_sql("f", repr(sampling))
    return float(
        duckdb.sql(f"SELECT SUM(f * g * {risk}) FROM (VALUES {rows}) t(f, g)").fetchall()[0][0]
    )


def measured(sizes: Sizes, fraction: float, samples: int, shaped: bool) -> list[dict[str, float]]:
    """Return estimate over truth for every estimator and sample."""
    rng, found = np.random.default_rng(round(1000 * fraction)), []
    true, drawn = int((sizes == 1).sum()), round(fraction * PEOPLE)
    for number in range(samples):
        sample = rng.multivariate_hypergeometric(sizes, drawn, method="marginals")
        counts = np.bincount(sample)
        pairs = [(size, int(groups)) for size, groups in enumerate(counts) if size and groups]
        uniques = estimate_uniques(Histogram.of(pairs), PEOPLE)
        row = {
            name: one.uniques / true if one.uniques is not None else np.nan
            for name, one in uniques.models.items()
        }
        row["rule"] = uniques.uniques / true
        row["low"], row["high"] = uniques.interval[0] / true, uniques.interval[1] / true
        held = sample > 0
        if number < FITTED:
            true_links = (sample[held] / sizes[held]).sum()
            row["links"] = expected_links(sample, fraction) / true_links
        if shaped and number < FITTED:
            codes = list(np.unravel_index(np.flatnonzero(held), SHAPE))
            fitted = fit(codes, SHAPE, sample[held].astype(np.float64), fraction)
            lone = sizes[sample == 1]
            row["tau1"] = fitted.best.tau1 / (lone == 1).sum()
            row["tau2"] = fitted.best.tau2 / (1 / lone).sum()
            row["fits"] = float(fitted.fits)
        found.append(row)
    return found


def cell(rows: Sequence[dict[str, float]], name: str) -> str:
    """Write bias ± spread in percent of the truth, and how often there was a solution."""
    values = np.array([row[name] for row in rows if name in row], np.float64)
    solved = values[~np.isnan(values)]
    if not len(solved):
        return "no solution"
    text = f"{100 * (solved.mean() - 1):+.0f} ± {100 * solved.std():.0f}"
    missed = 100 * (1 - len(solved) / len(values))
    return f"{text} (none in {missed:.0f} %)" if missed else text


def main(samples: int) -> None:
    """Print one table of everything."""
    print(
        "| population, sample | true uniques | Pitman | Zayatz | slide negative binomial | "
        "the rule's choice | truth within, below the models | expected links |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    fitted: list[str] = []
    for name, sizes in populations().items():
        for fraction in FRACTIONS:
            rows: Any = measured(sizes, fraction, samples, name == "four columns")
            inside = 100 * np.mean([row["low"] <= 1 <= row["high"] for row in rows])
            below = 100 * np.mean([row["low"] > 1 for row in rows])
            cells = [cell(rows, one) for one in ("pitman", "zayatz", "snb", "rule")]
            cells += [f"{inside:.0f} %, {below:.0f} %", cell(rows, "links")]
            true = f"{(sizes == 1).sum():,}"
            print(f"| {name}, {100 * fraction:g} % | {true} | {' | '.join(cells)} |", flush=True)
            if name == "four columns":
                fits = 100 * np.mean([row["fits"] for row in rows if "fits" in row])
                parts = [cell(rows, "tau1"), cell(rows, "tau2"), f"{fits:.0f} %"]
                fitted.append(f"| {100 * fraction:g} % | {' | '.join(parts)} |")
    print("\n| sample of the four columns | τ₁ | τ₂ | fits |\n|---|---:|---:|---:|")
    print("\n".join(fitted))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
