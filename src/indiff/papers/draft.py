"""Recomputes the draft: average-case and worst-case differentiation under three measures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from indiff.differential import differential_test
from indiff.distances.functions import emd, kl, max_divergence, tv
from indiff.inference import NaiveBayes
from indiff.papers import charts
from indiff.papers.measure import NAMES, SYMBOL, mondrian, raw_beliefs
from indiff.papers.pages import Cell, Chart, Grid, Page, status
from indiff.papers.published.program import Rule
from indiff.papers.run import Run, once

MEASURES = {"emd": emd, "kl": kl, "max-divergence": max_divergence}
SETTINGS: tuple[tuple[Rule, int], ...] = (
    ("k", 1), ("k", 2), ("k", 5), ("k", 16), ("k", 64), ("l", 2), ("l", 3), ("l", 5),
)  # fmt: skip
DRAWING = "reproduced (a drawing without numbers; computed on the same data)"
SETS = ("adult", "internet-v2")


@once
def distances(run: Run, name: str, rule: Rule, value: int) -> dict[str, NDArray[np.float64]]:
    """Return every record's distance under each measure."""
    table = run.table(name)
    if value == 1:
        beliefs, without = raw_beliefs(table)
        return {key: measure(beliefs, without) for key, measure in MEASURES.items()}
    found = differential_test(
        table, mondrian(rule, value), model="naive-bayes", distance=list(MEASURES)
    )
    return {key: found[key].distances for key in MEASURES}


def label(rule: Rule, value: int) -> str:
    """Name a setting.

    >>> label("k", 1), label("l", 3)
    ('raw', 'ℓ = 3')
    """
    return "raw" if value == 1 else f"{SYMBOL[rule]} = {value}"


def definition_1(run: Run) -> Page:
    """Definition 1 (Section 4.2): the mean and the largest distance of each setting."""
    cells: list[list[Cell]] = []
    rows: list[charts.Row] = []
    for name, rule, value in [(name, *setting) for name in SETS for setting in SETTINGS]:
        found = distances(run, name, rule, value)
        cells.append([NAMES[name], label(rule, value)])
        for key in MEASURES:
            cases = {
                "average case": float(found[key].mean()),
                "worst case": float(found[key].max()),
            }
            cells[-1] += cases.values()
            rows += [charts.point(label(rule, value), [y], key, f"{NAMES[name]}, {case}")
                     for case, y in cases.items() if np.isfinite(y)]  # fmt: skip
        cells[-1].append(int(sum(np.isinf(found[key]).sum() for key in MEASURES)))
    chart = charts.curves(
        rows, x="", y="differentiation", log_y=True, width=320,
        ordered=[label(rule, value) for rule, value in SETTINGS],
    )  # fmt: skip
    header = ("data set", "sanitizer", *(f"{case}, {key}" for key in MEASURES
                                         for case in ("average", "worst")), "infinite")  # fmt: skip
    return Page(
        status="reproduced (the definition; the draft prints no numbers)",
        tables=(Grid("Differentiation of naive Bayes", header, cells),),
        charts=(Chart(chart, "Average-case and worst-case differentiation by measure"),),
    )


def figure_1(run: Run) -> Page:
    """Figure 1 (Section 4.2): prior and posterior; how much an adversary learns at all."""
    cells = []
    for name in SETS:
        table = run.table(name)
        prior = table.sensitive.counts / len(table)
        for rule, value in SETTINGS[1:]:
            release = mondrian(rule, value).sanitize(table)
            beliefs = NaiveBayes().beliefs(release, table)
            learned = float(tv(np.tile(prior, (len(table), 1)), beliefs).mean())
            own = float(distances(run, name, rule, value)["emd"].mean())
            cells.append((NAMES[name], label(rule, value), learned, own, own / learned))
    more = all(learned > own for _, _, learned, own, _ in cells)
    return Page(
        status=status(more, "a record teaches more than the whole release", DRAWING),
        tables=(Grid("Learned from the release at all, and from one's own record (½Σ|p − p′|)",
                     ("data set", "sanitizer", "prior to posterior, mean",
                      "own record, mean (average case)", "share"), cells),),
    )  # fmt: skip


def figure_2(run: Run) -> Page:
    """Figure 2 (Section 4.2): the two posteriors differ by at most δ."""
    cells = []
    for name in SETS:
        for rule, value in SETTINGS[1:]:
            own = distances(run, name, rule, value)["emd"]
            delta = float(own.max())
            near = float(100 * (own > delta / 2).mean())
            cells.append((NAMES[name], label(rule, value), delta, near))
    return Page(
        status=DRAWING,
        tables=(Grid("δ under the earth mover's distance, and who comes near it",
                     ("data set", "sanitizer", "δ", "% of records above δ / 2"), cells),),
    )  # fmt: skip
