"""Recomputes DIT v1's Tables 1 to 4 and Figures 3 to 7: the test with the distance ½Σ|p − p′|."""

from __future__ import annotations

from functools import partial

import numpy as np

from indiff.papers import charts
from indiff.papers import claims as paper
from indiff.papers.measure import KS as AXIS
from indiff.papers.measure import LABEL, SYMBOL, DataSet, Measured
from indiff.papers.pages import Cell, Chart, Grid, Page, place, span, spread, status
from indiff.papers.published.program import Rule
from indiff.papers.run import Run

KS, LS = (1, 2, 5, 7, 20, 64, 80), (1, 2, 3, 4, 5, 6, 7)
VALUES: dict[Rule, tuple[int, ...]] = {"k": KS, "l": LS}
SETTINGS = [(rule, value) for rule, values in VALUES.items() for value in values]
ORDERED = sorted({*KS, *LS})
# Tables 1 to 4, Section 3.4.2: the largest d_pp, and one unit of the last printed digit.
TABLES: dict[str, tuple[str, Rule, tuple[tuple[float, float], ...]]] = {
    "1": ("adult", "k", ((0.32, 0.01), (0.197, 0.001), (0.137, 0.001), (0.126, 0.001),
                         (0.178, 0.001), (0.234, 0.001), (0.235, 0.001))),
    "2": ("adult", "l", ((0.32, 0.01), (0.21, 0.01), (0.213, 0.001), (0.04, 0.01),
                         (0.028, 0.001), (0.0018, 0.0001), (9.8e-05, 1e-06))),
    "3": ("internet-v1", "k", ((0.2, 0.1), (0.257, 0.001), (0.305, 0.001), (0.398, 0.001),
                               (0.512, 0.001), (0.459, 0.001), (0.424, 0.001))),
    "4": ("internet-v1", "l", ((0.2, 0.1), (0.15, 0.01), (0.43, 0.01), (0.17, 0.01),
                               (9.6e-05, 1e-06), (9.6e-05, 1e-06), (9.6e-05, 1e-06))),
}  # fmt: skip
# Section 3.4.2: the share of records with d_pp above 10^−2.5 at k = 5 and at ℓ = 5.
ABOVE = {("adult", "k"): 54, ("adult", "l"): 3, ("internet-v1", "k"): 35, ("internet-v1", "l"): 0}
THRESHOLD = 10**-2.5


def _table(run: Run, number: str) -> Page:
    """Show the largest d_pp by the parameter (Section 3.4.2)."""
    name, rule, printed = TABLES[number]
    data, values, symbol = DataSet(run, name), VALUES[rule], SYMBOL[rule]
    program = data.program_seeds
    rows: list[tuple[Cell, ...]] = []
    outside = []
    data.all_published([(rule, value, seed) for value in values for seed in program])
    for value, (given, digits) in zip(values, printed, strict=True):
        theirs = [data.published(rule, value, seed) for seed in program]
        tight = data.draws(rule, value)
        others = (
            [found.numbers for found in theirs],
            tight,
            data.draws(rule, value, regions="cut"),
            data.draws(rule, value, trees=False),
        )
        as_text = [found.text.delta / 2 for found in theirs]
        where = place(given, as_text, digits)
        if where.startswith(("above", "below")):
            outside.append(f"{symbol} = {value}")
        spans = [span([result.delta / 2 for result in results]) for results in others]
        rows.append((value, f"{given:g}", span(as_text), where, *spans, _one_group(tight)))
    header = (symbol, "printed", "the authors' program", "printed is",
              "the program, numbers compared", "ours, tight regions", "ours, cut regions",
              "ours, ordered sets", "ours is one group")  # fmt: skip
    claims = [
        paper.falls(data, rule, values),
        paper.largest_rises(data, rule, KS) if rule == "k"
        else paper.diversity_below(data, AXIS, unit=0.5),  # d_pp is half of our distance
    ]  # fmt: skip
    return Page(
        status=status(
            not outside, "its 10,000 records are not published, and no draw of ours reaches the "
            f"printed value at {', '.join(outside)}", "reproduced with erratum",
        ),
        tables=(Grid(f"Largest d_pp on {data.title}", header, rows), paper.as_grid(claims)),
        facts={"data": data, "symbol": symbol,
               "one_group": paper.one_group_note(data) if rule == "l" else ""},
    )  # fmt: skip


def _one_group(results: list[Measured]) -> str:
    whole = sum(result.whole for result in results)
    if 0 < whole < len(results):
        return f"in {whole} of {len(results)}"
    return "yes" if whole else "no"


def _changed(run: Run, name: str) -> Page:
    """Show how many predictions change (Section 3.4.1)."""
    data = DataSet(run, name)
    found = {
        (rule, value): [result.changed for result in data.draws(rule, value)]
        for rule, value in SETTINGS
    }
    middles = {setting: spread(shares)[0] for setting, shares in found.items()}
    lower = all(middles[rule, values[-1]] < middles[rule, 2] for rule, values in VALUES.items())
    rows = [charts.point(value, shares, LABEL[rule], LABEL[rule])
            for (rule, value), shares in found.items()]  # fmt: skip
    cells = [(LABEL[rule], value, middles[rule, value], span(shares))
             for (rule, value), shares in found.items()]  # fmt: skip
    chart = charts.curves(rows, x="k or ℓ", y="% of records", ordered=ORDERED)
    return Page(
        status=status(
            lower, "large parameters change as many predictions as small ones", paper.SHAPE
        ),
        tables=(Grid("Records with another prediction, %",
                     ("rule", "value", "% (middle)", "range"), cells),
                paper.as_grid([paper.falls(data, rule, values, "% of other predictions")
                         for rule, values in VALUES.items()])),
        charts=[Chart(chart, f"Different predictions on {data.title}")],
        facts={"data": data},
    )  # fmt: skip


def above(result: Measured) -> float:
    """Return the percentage of records with d_pp above 10^−2.5."""
    return float(100 * (result.distances / 2 > THRESHOLD).mean())


def _distribution(run: Run, name: str) -> Page:
    """Show the distribution of d_pp (Section 3.4.2)."""
    data = DataSet(run, name)
    halves = {
        (LABEL[rule], f"{value:2d}"): data.measure(rule, value).distances / 2
        for rule, value in SETTINGS
    }
    rows: list[tuple[Cell, ...]] = []
    outside = []
    for rule in LABEL:
        label, given = LABEL[rule].replace(f"{SYMBOL[rule]}-", "5-"), ABOVE[name, rule]
        theirs = [above(data.published(rule, 5, seed).text)
                  for seed in data.program_seeds]  # fmt: skip
        ours, sets = (
            [above(found) for found in data.draws(rule, 5, trees=trees)] for trees in (True, False)
        )
        found = place(given, theirs, 1)
        if found.startswith(("above", "below")):
            outside.append(label)
        rows.append((label, f"{given} %", span(theirs), found, span(ours), span(sets)))
    header = ("rule", "printed", "the authors' program", "printed is", "ours", "ours, ordered sets")
    means = [(LABEL[rule], value, data.measure(rule, value).mean / 2)
             for rule, value in SETTINGS]  # fmt: skip
    return Page(
        status=status(
            not outside, "the printed share is not what the authors' program gives "
            f"({', '.join(outside)})", "reproduced with erratum",
        ),
        tables=(Grid("Share of records with d_pp > 10^−2.5, %", header, rows),
                Grid("Mean d_pp", ("rule", "value", "mean"), means)),
        charts=[Chart(charts.cumulative(halves, x="d_pp", series="k or ℓ"),
                      f"Cumulative distribution of d_pp on {data.title}")],
        facts={"data": data},
    )  # fmt: skip


def figure_7(run: Run) -> Page:
    """Figure 7 (Section 3.4.2): the mean d_pp with its standard deviation."""
    rows: list[charts.Row] = []
    cells: list[tuple[Cell, ...]] = []
    claims: list[paper.Claim] = []
    for data in (DataSet(run, "adult"), DataSet(run, "internet-v1")):
        for rule, value in SETTINGS:
            halves = data.measure(rule, value).distances / 2
            mean, deviation = float(halves.mean()), float(np.std(halves))
            ends = (max(0.0, mean - deviation), mean, mean + deviation)
            rows.append(charts.point(value, ends, LABEL[rule], f"{data.title}, {LABEL[rule]}"))
            cells.append((data.title, LABEL[rule], value, mean, deviation))
        claims += [paper.falls(data, rule, values) for rule, values in VALUES.items()]
        claims.append(paper.diversity_below(data, AXIS, "mean d", unit=0.5))
    chart = charts.curves(rows, x="k or ℓ", y="mean d_pp", ordered=ORDERED)
    return Page(
        status=paper.status_of(claims),
        tables=(Grid("Mean and standard deviation of d_pp",
                     ("data set", "rule", "value", "mean", "standard deviation"), cells),
                paper.as_grid(claims)),
        charts=[Chart(chart, "Mean d_pp with standard deviation")],
    )  # fmt: skip


table_1, table_2, table_3, table_4 = (partial(_table, number=number) for number in TABLES)
figure_3 = partial(_changed, name="adult")
figure_4 = partial(_changed, name="internet-v1")
figure_5 = partial(_distribution, name="adult")
figure_6 = partial(_distribution, name="internet-v1")
