"""Makes the page "what the papers got wrong, and what we found"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential import differential_test
from indiff.papers import charts
from indiff.papers.claims import largest_possible, one_group_from
from indiff.papers.dit_v1.results import TABLES, VALUES
from indiff.papers.itpr.printed import AGE, ITPR_ROWS, METRICS, MIL_ERRATA, REIDENTIFICATION
from indiff.papers.measure import KS, SYMBOL, DataSet
from indiff.papers.pages import Cell, Chart, Grid, Page, place
from indiff.papers.published.unchecked import (
    MOST_EXPOSED,
    OTHERS,
    Comparison,
    compare,
    own_groups,
)
from indiff.papers.run import Run
from indiff.papers.share import shared
from indiff.risk import measure_risk
from indiff.sanitizers.mondrian.mondrian import RegionStyle
from indiff.sanitizers.noise.mechanisms import Laplace

Floats = NDArray[np.float64]
COMPARED = (2, 5, 7, 20, 64, 80)
BIASED = (0.01, 0.1, 1.0)
BIAS_ROWS = 100
SAMPLES = 25_000
TINY = 1e-9  # differences below are rounding
STYLES: tuple[RegionStyle, ...] = ("tight", "cut")


def page(run: Run) -> Page:
    """Put the page together."""
    guarantee, effect, chart, facts = _mondrian(run)
    return Page(
        status="reproduced with erratum",
        tables=(
            guarantee, own_groups(run), effect, _text(run), _sampling(run), _quarter(),
            _weights(), _average(run), _generalized(run),
        ),
        charts=(Chart(chart, "Largest distance by k, checked and unchecked cuts, and printed"),),
        facts=facts,
    )  # fmt: skip


def _mondrian(run: Run) -> tuple[Grid, Grid, charts.Spec, dict[str, object]]:
    broken = []
    effects: list[list[Cell]] = []
    rows: list[charts.Row] = []
    larger = 0
    ratios: list[float] = []
    settings = [(TABLES[number][0], k, style)
                for number in ("1", "3") for k in COMPARED for style in STYLES]  # fmt: skip
    compared = dict(zip(settings, shared(run, _compared, settings), strict=True))
    for number in ("1", "3"):
        data = DataSet(run, TABLES[number][0])
        given = dict(zip((1, *COMPARED), TABLES[number][2], strict=True))
        for k in COMPARED:
            effects.append([data.title, k, f"{given[k][0]:g}"])
            for style in STYLES:
                ours = data.measure("k", k, regions=style)
                found = compared[data.name, k, style]
                if style == "tight":
                    small = found.sizes[found.sizes < k]
                    broken.append((data.title, k, len(found.sizes), len(small), int(small.sum())))
                bound = float(found.distances.max()) / 2
                same_rows = ours.distances[found.rows[found.random]].mean() / 2
                others = found.distances[found.random].mean() / 2
                effects[-1] += [ours.delta / 2, bound, float(same_rows), float(others)]
                larger += bound > ours.delta / 2
                ratios.append(float(others / same_rows))
                panel = f"{data.title}, {style} regions"
                drawn = {"checked, δ": ours.delta / 2, "unchecked, lower bound": bound,
                         "printed": given[k][0]}  # fmt: skip
                rows += [charts.point(k, [y], series, panel) for series, y in drawn.items()]
    chart = charts.curves(rows, x="k", y="½Σ|p − p′|", ordered=COMPARED)
    guarantee = Grid(
        "Mondrian's broken guarantee: groups smaller than k, unchecked cuts",
        ("data set", "k", "groups", "smaller than k", "records in them"), broken,
    )  # fmt: skip
    effect = Grid(
        f"Its effect on k-anonymity, ½Σ|p − p′|: {MOST_EXPOSED} most exposed by ours and {OTHERS} "
        "random records",
        ("data set", "k", "printed (v1)",
         *(f"{what} ({style})" for style in STYLES
           for what in ("δ, checked", "lower bound of δ, unchecked", "mean, checked",
                        "mean, unchecked"))),
        effects,
    )  # fmt: skip
    facts = {"larger": larger, "ratios": ratios, "samples": f"{SAMPLES:,}", "mil": MIL_ERRATA}
    return guarantee, effect, chart, facts


def _compared(run: Run, asked: tuple[str, int, RegionStyle]) -> Comparison:
    """Test the unchecked cuts of one setting beside ours."""
    name, k, style = asked
    data = DataSet(run, name)
    return compare(data.table(), k, style, data.measure("k", k, regions=style).distances)


def _text(run: Run) -> Grid:
    rows = []
    for number in ("3", "4"):
        name, rule, given = TABLES[number]
        data = DataSet(run, name)
        for value, (printed, digits) in [*zip(VALUES[rule], given, strict=True)][1:]:
            found, ours = data.published(rule, value), data.measure(rule, value)
            text, numbers = found.text.delta / 2, found.numbers.delta / 2
            moved = abs(found.text.distances - found.numbers.distances) > TINY
            rows.append((f"{SYMBOL[rule]} = {value}", f"{printed:g}", text,
                         place(printed, [text], digits), numbers, ours.delta / 2,
                         int(moved.sum())))  # fmt: skip
    return Grid(
        "Numbers compared as text, the largest d_pp on Internet Usage (DIT v1, Tables 3 and 4)",
        ("", "printed", "the authors' program", "printed is", "the same, numbers compared",
         "ours", "records with another d_pp"), rows,
    )  # fmt: skip


def _generalized(run: Run) -> Grid:
    rows = []
    for name, said in (("adult", "ℓ > 7"), ("internet-v1", "ℓ > 5")):
        data = DataSet(run, name)
        for seed in data.seeds:
            table = data.table(seed)
            rows.append((data.title, seed if name == "adult" else None, said,
                         int(table.sensitive.counts.max()), len(table), largest_possible(table),
                         one_group_from(data, seed)))  # fmt: skip
    return Grid(
        "Full generalization under ℓ-diversity",
        ("data set", "draw", "said", "records with the most frequent value", "of",
         "the whole table is ℓ-diverse up to", "ours is one group from"), rows,
    )  # fmt: skip


def _sampling(run: Run) -> Grid:
    cells = []
    for data in (DataSet(run, "adult"), DataSet(run, "internet-v2")):
        table = data.table(trees=False)
        rows = np.sort(np.random.default_rng(0).permutation(len(table))[:BIAS_ROWS])
        for epsilon in BIASED:
            found = bias(table, epsilon, rows)
            exact, estimate = float(found.exact.mean()), float(found.estimate.mean())
            cells.append((data.title, f"{epsilon:g}", exact, estimate, float(found.nothing.mean()),
                          round(estimate / exact, 2), float(found.exact.max()),
                          float(found.estimate.max())))  # fmt: skip
    return Grid(
        f"Sampling bias of DIT v2's Eq. 1: {BIAS_ROWS} random records, N = {SAMPLES:,}",
        ("data set", "ε", "mean d, exact", "mean d, Eq. 1", "Eq. 1 of nothing at all",
         "Eq. 1 / exact", "largest, exact", "largest, Eq. 1"), cells,
    )  # fmt: skip


def _average(run: Run) -> Grid:
    cells = []
    for data in (DataSet(run, "adult"), DataSet(run, "internet-v2")):
        noise = data.noisy(0.1)
        found = {k: data.measure("k", k) for k in KS[1:]}
        lower = [str(k) for k in found if found[k].mean < noise.mean]
        higher = [str(k) for k in found if str(k) not in lower]
        cells.append((data.title, noise.mean, noise.delta, ", ".join(lower) or "none",
                      ", ".join(higher) or "none",
                      min(result.delta for result in found.values())))  # fmt: skip
    return Grid(
        "The exact answer at ε = 0.1 against k-anonymity, Σ|p − p′|",
        ("data set", "mean d", "δ", "k with a smaller mean", "k with a larger mean",
         "smallest δ of any k"), cells,
    )  # fmt: skip


def _quarter() -> Grid:
    total = 0.96
    return Grid(
        "¼ or ½: EMD of (0.49, 0.01, 0.5) and (0.01, 0.49, 0.5), ground distance 0 or 1",
        ("formula", "value", "where"),
        (
            ("¼Σ|p − p′|", total / 4, "printed in DIT v1, Section 3.3 and its example"),
            ("½Σ|p − p′|", total / 2, "the earth mover's distance; DIT v1's Tables 1 to 4"),
            ("Σ|p − p′|", total, "DIT v2's definition, per coordinate"),
        ),
    )


def _weights() -> Grid:
    rows = []
    printed = {age: itpr for age, code, disease, itpr in ITPR_ROWS if code is disease is None}
    for case, ages in AGE.items():
        risk = measure_risk(pa.table({"age": list(ages)}), quasi=["age"], details=False)
        found = risk.reidentification
        counts = np.unique(ages, return_counts=True)[1]
        literal = max(1 - len(counts) * np.log2(count) / np.log2(len(ages)) for count in counts)
        rows.append((f"case {case} of Age", float(literal), found.itpr, printed[case],
                     found.mil_unweighted, found.mil,
                     REIDENTIFICATION[case][METRICS.index("MIL")]))  # fmt: skip
    return Grid(
        "ITPR's weights: Eq. 10 and Eq. 8 read literally, and with p(y)",
        ("attribute", "ITPR, literal", "ITPR, weighted", "printed", "MIL, literal",
         "MIL, weighted", "printed"), rows,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Bias:
    """Per record: the exact distance, Eq. 1's estimate, and Eq. 1 of a table against itself."""

    exact: Floats
    estimate: Floats
    nothing: Floats


def bias(table: Table, epsilon: float, rows: NDArray[np.intp], *, seed: int = 0,
         samples: int = SAMPLES) -> Bias:  # fmt: skip
    """Estimate the distances of some rows by Eq. 1 (DIT v2, Section 3.2), beside the exact ones.

    Two samples of one law are not equal, so the estimate of 0 is above 0, and it adds up over
    the sensitive values. This shows the paper's estimator at work; the product does not use it.
    """
    noise = Laplace(epsilon)
    grid = noise.grid(table)
    cell, counts = grid.occupied(table)
    classes = grid.classes(table)
    exact = differential_test(table, noise, model="frequency").distances[rows]
    estimate, nothing = np.empty(len(rows)), np.empty(len(rows))
    for at, row in enumerate(rows):
        rng = np.random.default_rng([seed, int(row)])
        held = counts[cell[row]].astype(np.float64)
        less = held.copy()
        less[classes[row]] -= 1
        with_record, again, without = (
            _beliefs(each, noise.scale, samples, rng) for each in (held, held, less)
        )
        estimate[at] = equation_1(with_record, without)
        nothing[at] = equation_1(with_record, again)
    return Bias(exact, estimate, nothing)


def equation_1(one: Floats, other: Floats) -> float:
    """Sum over coordinates the mean difference of order statistics (DIT v2, Eq. 1).

    >>> equation_1(np.array([[0.25], [0.75]]), np.array([[0.75], [0.25]]))
    0.0
    """
    return float(np.abs(np.sort(one, axis=0) - np.sort(other, axis=0)).mean(axis=0).sum())


def _beliefs(counts: Floats, scale: float, samples: int, rng: Generator) -> Floats:
    noisy = 1 + np.maximum(0, counts + rng.laplace(0, scale, (samples, len(counts))))
    beliefs: Floats = noisy / noisy.sum(axis=1, keepdims=True)
    return beliefs
