"""Checks what the papers say of their curves in every cell, and names each cell where it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from indiff.data.table import Table
from indiff.papers.measure import EPSILONS, LABEL, LS, SYMBOL, DataSet, Measured
from indiff.papers.pages import Grid
from indiff.papers.published.program import Rule

Statistic = Literal["δ", "mean d", "median d", "% of other predictions"]
SHAPE = "reproduced (the described shape; the text prints no values)"
Cell = tuple[bool, str]  # whether a claim holds there, and how the cell is named


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper: over which cells it was checked, and those where it fails.

    >>> claim = Claim("δ grows", "ε", "0.1, 1, 10", 2, ("0.1 → 1",))
    >>> claim.holds, claim.answer
    (False, 'in 1 of 2 cells; not at 0.1 → 1')
    """

    text: str
    short: str
    over: str
    cells: int
    fails: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether it holds in every cell."""
        return not self.fails

    @property
    def count(self) -> str:
        """In how many cells it holds."""
        return f"in {self.cells - len(self.fails)} of {self.cells} cells"

    @property
    def answer(self) -> str:
        """Where it holds, and every cell where it does not."""
        if self.holds:
            return f"yes, in all {self.cells} cells" if self.cells > 1 else "yes"
        return f"{self.count}; not at {', '.join(self.fails)}"


def as_grid(claims: Sequence[Claim]) -> Grid:
    """Return the claims as a table of a page; nothing is left out of it."""
    return Grid(
        "What the paper says, checked in every cell",
        ("claim", "checked over", "holds for ours"),
        [(claim.text, claim.over, claim.answer) for claim in claims],
    )


def status_of(claims: Sequence[Claim], cause: str = "the cuts and the records are others") -> str:
    """Return a page's status: reproduced only if no claim fails in any cell."""
    failed = [f"{claim.short} ({claim.count})" for claim in claims if not claim.holds]
    if not failed:
        return SHAPE
    return f"differs because {cause}; not in every cell: {', '.join(failed)}"


def falls(data: DataSet, rule: Rule, values: Sequence[int], what: Statistic = "mean d") -> Claim:
    """A number falls from each parameter to the next (DIT v1, 3.4; DIT v2, 4.5.1)."""
    symbol = SYMBOL[rule]

    def cells(seed: int) -> Iterable[Cell]:
        for low, high in pairwise(values):
            before, after = (_number(data.measure(rule, v, seed), what) for v in (low, high))
            how = f"× {after / before:.3g}" if before else f"0 to {after:.3g}"
            yield after <= before, f"{symbol} = {low} → {high} ({how})"

    text = f"protection grows with {symbol}: the {what} does not rise from one value to the next"
    over = axis(data, symbol, values)
    return _checked(data, cells, text, f"{what} falls as {symbol} grows", over)


def _number(found: Measured, what: Statistic) -> float:
    if what == "median d":
        return float(np.median(found.distances))
    return {"δ": found.delta, "mean d": found.mean}.get(what, found.changed)


def _checked(
    data: DataSet, cells: Callable[[int], Iterable[Cell]], text: str, short: str, over: str
) -> Claim:
    """Check a claim in the cells of every draw."""
    found = [
        (holds, draw(data, seed) + where) for seed in data.seeds for holds, where in cells(seed)
    ]
    fails = tuple(where.removesuffix(": ") for holds, where in found if not holds)
    return Claim(text, short, over, len(found), fails)


def largest_rises(data: DataSet, rule: Rule, values: Sequence[int]) -> Claim:
    """The largest distance does not always fall (DIT v1, 3.4.2; DIT v2, 4.5.1): one cell a draw."""
    seeds = data.seeds
    found = {seed: rises(data, rule, values, seed) for seed in seeds}
    seen = [draw(data, seed) + step for seed in seeds for step in found[seed]]
    symbol = SYMBOL[rule]
    return Claim(
        f"δ does not always fall as {symbol} grows (it rises at {', '.join(seen) or 'no value'})",
        f"δ rises at some {symbol}",
        axis(data, symbol, values),
        len(seeds),
        tuple(draw(data, seed) or "any value" for seed in seeds if not found[seed]),
    )


def rises(data: DataSet, rule: Rule, values: Sequence[int], seed: int = 0) -> list[str]:
    """Return every step of the parameter at which δ grows."""
    return [
        f"{SYMBOL[rule]} = {low} → {high}"
        for low, high in pairwise(values)
        if data.measure(rule, high, seed).delta > data.measure(rule, low, seed).delta
    ]


def one_rise(data: DataSet, rule: Rule, low: int, high: int) -> Claim:
    """δ grows at one step, which the paper names (DIT v2, 4.5.1); one cell for each draw."""
    symbol = SYMBOL[rule]
    return _checked(
        data,
        lambda seed: [(bool(rises(data, rule, (low, high), seed)), "")],
        f"δ increases from {symbol} = {low} to {symbol} = {high}",
        f"δ rises at {symbol} = {low} → {high}",
        axis(data, symbol, (low, high)),
    )


def diversity_below(
    data: DataSet, values: Sequence[int], what: Statistic = "δ", unit: float = 1.0
) -> Claim:
    """ℓ-diversity is below k-anonymity at equal parameters above 2 (DIT v1, 3.4.2; v2, 4.5.1)."""
    above_2 = [value for value in values if value > 2]

    def cells(seed: int) -> Iterable[Cell]:
        for value in above_2:
            anonymous, diverse = (
                unit * _number(data.measure(rule, value, seed), what) for rule in LABEL
            )
            yield diverse < anonymous, f"{value} ({diverse:.4g} ≥ {anonymous:.4g})"

    text = f"{what} is smaller for ℓ-diversity than for k-anonymity at equal parameters above 2"
    short = f"{what} of ℓ-diversity below that of k-anonymity"
    return _checked(data, cells, text, short, axis(data, "k = ℓ", above_2))


def grows_with_epsilon(data: DataSet) -> Claim:
    """δ grows with ε under noise (DIT v2, 4.5.2)."""

    def cells(seed: int) -> Iterable[Cell]:
        for low, high in pairwise(EPSILONS):
            before, after = (data.noisy(epsilon, seed).delta for epsilon in (low, high))
            yield after > before, f"ε = {low:g} → {high:g}"

    values = ["∞" if e == float("inf") else f"{e:g}" for e in EPSILONS]
    text = "smaller ε protects more: δ grows with ε"
    return _checked(data, cells, text, "δ grows with ε", axis(data, "ε", values))


def noise_against(
    data: DataSet, rule: Rule, values: Sequence[int], what: Statistic, epsilon: float = 0.1
) -> Claim:
    """At one ε the worst case is below a rule's, the average above it (DIT v2, 4.5.2)."""

    def cells(seed: int) -> Iterable[Cell]:
        noise = data.noisy(epsilon, seed)
        for value in values:
            found = data.measure(rule, value, seed)
            holds = noise.delta < found.delta if what == "δ" else noise.mean > found.mean
            yield holds, f"{SYMBOL[rule]} = {value}"

    text = (
        f"the worst case at ε = {epsilon:g} is below that of {LABEL[rule]}"
        if what == "δ"
        else f"on average ε = {epsilon:g} protects less than {LABEL[rule]}: a larger mean d"
    )
    short = f"{what} at ε = {epsilon:g} against {LABEL[rule]}"
    return _checked(data, cells, text, short, axis(data, SYMBOL[rule], values))


def draw(data: DataSet, seed: int) -> str:
    """Name a draw where there are several."""
    return f"draw {seed}: " if len(data.seeds) > 1 else ""


def axis(data: DataSet, symbol: str, values: Sequence[object]) -> str:
    """Write over which values, and on how many draws, a claim was checked."""
    draws = len(data.seeds)
    each = f", each of {draws} draws" if draws > 1 else ""
    return f"{data.title}: {symbol} = {', '.join(map(str, values))}{each}"


def largest_possible(table: Table) -> int:
    """Return the largest ℓ that the table meets as one group: no value above 1/ℓ of it."""
    return len(table) // int(table.sensitive.counts.max())


def one_group_from(data: DataSet, seed: int = 0) -> int:
    """Return the smallest ℓ of the axis from which on ours is one group, on a draw."""
    cut = [value for value in LS[1:] if not data.measure("l", value, seed).whole]
    return LS[LS.index(cut[-1]) + 1] if cut else LS[1]


def one_group_note(data: DataSet) -> str:
    """Say from which ℓ on ours is one group, beside the paper's ℓ > 7 (Adult) and ℓ > 5."""
    seeds = data.seeds
    possible = sorted({largest_possible(data.table(seed)) for seed in seeds})
    found = sorted({one_group_from(data, seed) for seed in seeds})
    table = data.table()
    top = int(table.sensitive.counts.max())
    printed = 7 if data.name == "adult" else 5
    where = "" if len(seeds) == 1 else ", draw 0"
    return (
        f"Full generalization: version 1 (Section 3.4.1) says ℓ > {printed} for {data.title}. Of "
        f"{len(table.sensitive.values)} sensitive values the most frequent is held by {top:,} of "
        f"{len(table):,} records{where}, so the table as a whole is ℓ-diverse up to ℓ = "
        f"{_either(possible)}, and beyond that no release can be anything but one group. Ours is "
        f"one group from ℓ = {_either(found)} on: at the last possible values the whole table "
        "still qualifies, but no cut leaves every part ℓ-diverse. Version 1's own tables say the "
        "same: d_pp is down to the class shares at ℓ = 7 (Adult) and ℓ = 5 (Internet Usage), and "
        "there the authors' program makes one group too."
    )


def _either(values: list[int]) -> str:
    return " or ".join(map(str, values))
