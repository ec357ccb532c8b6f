"""What the papers say of their curves, checked in every cell, with every cell where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from indiff.papers.items import Grid
from indiff.papers.measure import EPSILONS, NAMES, Measured, Rule, measure, noisy, seeds_of
from indiff.papers.run import Run

Statistic = Literal["mean d", "median d", "% of other predictions"]

SYMBOL = {"k": "k", "l": "ℓ"}


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
        tuple((claim.text, claim.over, claim.answer) for claim in claims),
    )


def status_of(claims: Sequence[Claim], cause: str) -> str:
    """Return a page's status: reproduced only if no claim fails in any cell."""
    failed = [f"{claim.short} ({claim.count})" for claim in claims if not claim.holds]
    if not failed:
        return "reproduced (the described shape; the text prints no values)"
    return f"differs because {cause}; not in every cell: {', '.join(failed)}"


def falls(
    run: Run, name: str, rule: Rule, values: Sequence[int], what: Statistic = "mean d"
) -> Claim:
    """A number falls from each parameter to the next (DIT v1, 3.4; DIT v2, 4.5.1)."""
    fails = []
    for seed in seeds_of(run, name):
        for low, high in pairwise(values):
            before, after = (_number(measure(run, name, rule, v, seed), what) for v in (low, high))
            if after > before:
                how = f"× {after / before:.3g}" if before else f"0 to {after:.3g}"
                fails.append(f"{draw(run, name, seed)}{SYMBOL[rule]} = {low} → {high} ({how})")
    symbol = SYMBOL[rule]
    return Claim(
        f"protection grows with {symbol}: the {what} does not rise from one value to the next",
        f"{what} falls as {symbol} grows",
        axis(run, name, symbol, values),
        len(seeds_of(run, name)) * (len(values) - 1),
        tuple(fails),
    )


def _number(found: Measured, what: Statistic) -> float:
    if what == "mean d":
        return found.mean
    return float(np.median(found.distances)) if what == "median d" else found.changed


def largest_rises(run: Run, name: str, rule: Rule, values: Sequence[int]) -> Claim:
    """The largest distance does not always fall (DIT v1, 3.4.2; DIT v2, 4.5.1): one cell a draw."""
    fails, seen = [], []
    for seed in seeds_of(run, name):
        found = rises(run, name, rule, values, seed)
        seen += [draw(run, name, seed) + step for step in found]
        if not found:
            fails.append(draw(run, name, seed) or "any value")
    symbol = SYMBOL[rule]
    return Claim(
        f"δ does not always fall as {symbol} grows (it rises at {', '.join(seen) or 'no value'})",
        f"δ rises at some {symbol}",
        axis(run, name, symbol, values),
        len(seeds_of(run, name)),
        tuple(fails),
    )


def rises(run: Run, name: str, rule: Rule, values: Sequence[int], seed: int = 0) -> list[str]:
    """Return every step of the parameter at which δ grows."""
    return [
        f"{SYMBOL[rule]} = {low} → {high}"
        for low, high in pairwise(values)
        if measure(run, name, rule, high, seed).delta > measure(run, name, rule, low, seed).delta
    ]


def one_rise(run: Run, name: str, rule: Rule, low: int, high: int) -> Claim:
    """δ grows at one step, which the paper names (DIT v2, 4.5.1); one cell for each draw."""
    step = f"{SYMBOL[rule]} = {low} → {high}"
    fails = [draw(run, name, seed).rstrip(": ") for seed in seeds_of(run, name)
             if not rises(run, name, rule, (low, high), seed)]  # fmt: skip
    return Claim(
        f"δ increases from {SYMBOL[rule]} = {low} to {SYMBOL[rule]} = {high}",
        f"δ rises at {step}",
        axis(run, name, SYMBOL[rule], (low, high)),
        len(seeds_of(run, name)),
        tuple(fails),
    )


def diversity_below(
    run: Run, name: str, values: Sequence[int], what: str = "δ", unit: float = 1.0
) -> Claim:
    """ℓ-diversity is below k-anonymity at equal parameters above 2 (DIT v1, 3.4.2; v2, 4.5.1)."""
    above_2 = [value for value in values if value > 2]
    fails = []
    for seed in seeds_of(run, name):
        for value in above_2:
            pair = [measure(run, name, rule, value, seed) for rule in ("l", "k")]
            diverse, anonymous = (
                unit * (found.delta if what == "δ" else found.mean) for found in pair
            )
            if diverse >= anonymous:
                fails.append(f"{draw(run, name, seed)}{value} ({diverse:.4g} ≥ {anonymous:.4g})")
    return Claim(
        f"{what} is smaller for ℓ-diversity than for k-anonymity at equal parameters above 2",
        f"{what} of ℓ-diversity below that of k-anonymity",
        axis(run, name, "k = ℓ", above_2),
        len(above_2) * len(seeds_of(run, name)),
        tuple(fails),
    )


def grows_with_epsilon(run: Run, name: str) -> Claim:
    """δ grows with ε under noise (DIT v2, 4.5.2)."""
    fails = []
    for seed in seeds_of(run, name):
        for low, high in pairwise(EPSILONS):
            if noisy(run, name, high, seed).delta <= noisy(run, name, low, seed).delta:
                fails.append(f"{draw(run, name, seed)}ε = {low:g} → {high:g}")
    return Claim(
        "smaller ε protects more: δ grows with ε",
        "δ grows with ε",
        axis(run, name, "ε", ["∞" if e == float("inf") else f"{e:g}" for e in EPSILONS]),
        len(seeds_of(run, name)) * (len(EPSILONS) - 1),
        tuple(fails),
    )


def noise_against(
    run: Run, name: str, rule: Rule, values: Sequence[int], what: str, epsilon: float = 0.1
) -> Claim:
    """At one ε the worst case is below a rule's, the average above it (DIT v2, 4.5.2)."""
    fails = []
    for seed in seeds_of(run, name):
        noise = noisy(run, name, epsilon, seed)
        for value in values:
            found = measure(run, name, rule, value, seed)
            holds = noise.delta < found.delta if what == "δ" else noise.mean > found.mean
            if not holds:
                fails.append(f"{draw(run, name, seed)}{SYMBOL[rule]} = {value}")
    label = "k-anonymity" if rule == "k" else "ℓ-diversity"
    text = (
        f"the worst case at ε = {epsilon:g} is below that of {label}"
        if what == "δ"
        else f"on average ε = {epsilon:g} protects less than {label}: a larger mean d"
    )
    return Claim(
        text,
        f"{'δ' if what == 'δ' else 'mean d'} at ε = {epsilon:g} against {label}",
        axis(run, name, SYMBOL[rule], values),
        len(values) * len(seeds_of(run, name)),
        tuple(fails),
    )


def draw(run: Run, name: str, seed: int) -> str:
    """Name a draw where there are several."""
    return f"draw {seed}: " if len(seeds_of(run, name)) > 1 else ""


def axis(run: Run, name: str, symbol: str, values: Sequence[object]) -> str:
    """Write over which values, and on how many draws, a claim was checked."""
    draws = len(seeds_of(run, name))
    each = f", each of {draws} draws" if draws > 1 else ""
    return f"{NAMES[name]}: {symbol} = {', '.join(map(str, values))}{each}"
