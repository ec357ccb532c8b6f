"""Bounds ε by one call: many records are put in or left out by lot, and guessed from the release.

Steinke, Nasr and Jagielski (2023), "Privacy auditing with one (1) training run", Theorem 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from indiff.data.table import Table
from indiff.differential.claim.result import Guesses
from indiff.differential.claim.runs import Caller
from indiff.differential.claim.statistics import statistics_of
from indiff.inference import Model
from indiff.sanitizers.sanitizer import Identity

Floats = NDArray[np.float64]

LARGEST = 20.0  # beyond it nobody claims anything
STEP = 0.01
_LOTS = 12
MOST_CUTS = 40  # of a statistic
MOST_BY_ITSELF = 300  # guesses, up to which every number of them is looked at


def p_value(canaries: int, made: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """Return how probable so many right guesses are at most, if (ε, δ)-privacy holds.

    Each of ``canaries`` records is in or out by a fair lot of its own. Given the release and the
    other lots, ε-privacy leaves odds of at most e^ε for a lot, so the right ones of ``made``
    guesses are no more than W = Binomial(made, e^ε/(1 + e^ε)): β = P(W ≥ right). With δ the
    guesses may be helped F times, where F depends on the release alone and has a mean of at most
    2·canaries·δ; P(W ≥ right − F) ≤ β + E[F] max_i P(right > W ≥ right − i)/i.

    The theorem is about a number of guesses that is fixed beforehand. Here the release has a say in
    it, and F may be large just where few are made: so the last factor is the largest for any
    number of guesses, each with as many right ones as have a probability of β at most.

    >>> round(p_value(10, 10, 10, 0.0), 6)  # ten coins, all guessed
    0.000977
    """
    from scipy.stats import binom

    if right <= 0:
        return 1.0
    beta = float(binom.sf(right - 1, made, 1 / (1 + np.exp(-epsilon))))
    if not delta:
        return beta
    return min(1.0, beta + 2 * canaries * delta * _help(canaries, epsilon, beta))


def _help(canaries: int, epsilon: float, beta: float) -> float:
    """Return the largest max_i P(v > W ≥ v − i)/i of any number n of guesses, up to the canaries.

    W is Binomial(n, e^ε/(1 + e^ε)), v the smallest number with P(W ≥ v) ≤ β; an n without
    one never speaks against a claim. Where n is very large no mean of probabilities is above the
    largest one, which falls with n.
    """
    from scipy.stats import binom

    size = min(canaries, MOST_BY_ITSELF)
    ways, number = _ways(size), np.arange(size + 1)
    inside, outside = -np.log1p(np.exp(-epsilon)), -np.log1p(np.exp(epsilon))
    shares = np.exp(ways + number * inside + (number[:, None] - number) * outside)
    below = np.cumsum(shares, axis=1) - shares  # P(W < w), a row for each n
    above = np.cumsum(shares[:, ::-1], axis=1)[:, ::-1]  # P(W ≥ w)
    few = (above <= beta * (1 + 1e-9)) & (number <= number[:, None])
    reached = few.any(axis=1)
    least = few.argmax(axis=1)[reached, None]
    between = np.take_along_axis(below[reached], least, 1) - below[reached]
    means = np.where(number < least, between / np.maximum(least - number, 1), 0.0)
    mode = binom.pmf(int((size + 2) * np.exp(inside)), size + 1, np.exp(inside))
    return max(float(means.max(initial=0.0)), float(mode) if canaries > size else 0.0)


@lru_cache(maxsize=2)
def _ways(most: int) -> Floats:
    """Return ln of n over w for every n and w up to ``most``; −∞ where w is larger."""
    from scipy.special import gammaln

    n, w = np.ogrid[: most + 1, : most + 1]
    ways = gammaln(n + 1) - gammaln(w + 1) - gammaln(np.maximum(n - w, 0) + 1)
    return np.where(w <= n, ways, -np.inf)


def one_run_lower(
    canaries: int, made: int, right: int, *, delta: float = 0.0, error: float = 0.05
) -> float:
    """Return a lower bound on ε: below it, so many right guesses have at most the error's chance.

    >>> round(one_run_lower(100, 100, 100), 2), one_run_lower(100, 100, 50)
    (3.49, 0.0)
    """
    # The bound ends at the first ε that allows the guesses, whatever lies behind it.
    low, high = 0.0, STEP
    if p_value(canaries, made, right, low, delta) > error:
        return 0.0
    while high < LARGEST and p_value(canaries, made, right, high, delta) <= error:
        low, high = high, high + STEP
    for _ in range(30):
        middle = (low + high) / 2
        allowed = p_value(canaries, made, right, middle, delta) > error
        low, high = (low, middle) if allowed else (middle, high)
    return low


@dataclass(frozen=True)
class Rule:
    """Guesses "in" from ``inside`` on, and "out" up to ``outside``; in between it says nothing."""

    place: int
    rising: bool
    inside: float
    outside: float

    def guesses(self, scores: Floats) -> NDArray[np.int8]:
        """Return 1, −1 or, for no guess, 0."""
        own = scores[:, self.place] if self.rising else -scores[:, self.place]
        return np.where(own >= self.inside, 1, np.where(own <= self.outside, -1, 0)).astype(np.int8)


def draw_lots(canaries: int, seed: int) -> NDArray[np.bool_]:
    """Put each canary in or leave it out, by a fair lot of its own."""
    rng = np.random.default_rng(SeedSequence(seed, spawn_key=(_LOTS,)))
    return rng.random(canaries) < 0.5


def choose_rule(scores: Floats, inside: NDArray[np.bool_], error: float) -> Rule | None:
    """Return the rule whose guesses bound ε the most on canaries whose lots are shown."""
    best: tuple[float, Rule] | None = None
    for place in range(scores.shape[1]):
        for rising in (True, False):
            own = scores[:, place] if rising else -scores[:, place]
            values = np.unique(own)
            if len(values) < 2:
                continue
            cuts = values[np.unique(np.linspace(0, len(values) - 1, MOST_CUTS).round().astype(int))]
            for high in (*cuts, np.inf):
                # As many of the highest as of the lowest, or one side alone.
                number = int((own >= high).sum())
                lows = {-np.inf, float(np.sort(own)[max(number, 1) - 1])}
                for low in lows if np.isfinite(high) else set(cuts.tolist()):
                    if low >= high:
                        continue
                    rule = Rule(place, rising, float(high), float(low))
                    guess = rule.guesses(scores)
                    made, right = _counted(guess, inside)
                    seen = float(_quick(made, right, error))
                    if seen > 0 and (best is None or seen > best[0]):
                        best = seen, rule
    return None if best is None else best[1]


def _quick(made: int, right: int, error: float) -> float:
    """Return the bound at δ = 0, which is the log-odds of Clopper and Pearson's limit."""
    from indiff.differential.claim.bound import share_lower

    if not made:
        return 0.0
    low = float(share_lower(right, made, error))
    return float(np.log(low / (1 - low))) if 0.5 < low < 1 else 0.0


def _counted(guess: NDArray[np.int8], inside: NDArray[np.bool_]) -> tuple[int, int]:
    made = guess != 0
    return int(made.sum()), int(((guess > 0) == inside)[made].sum())


def guess_scores(
    table: Table, canaries: NDArray[np.intp], scores: Floats, names: tuple[str, ...],
    models: tuple[Model, ...],
) -> tuple[Floats, tuple[str, ...]]:  # fmt: skip
    """Add to each statistic how far it is from that of the raw records without any canary.

    Whoever audits knows the table; only the lots are not known.
    """
    rest = np.setdiff1d(np.arange(len(table)), canaries)
    known = statistics_of(Identity().sanitize(table.take(rest)), table.take(canaries), models)
    beyond = tuple(f"{name}, less what others explain" for name in names)
    return np.concatenate([scores, scores - known], axis=1), (*names, *beyond)


def observe_once(
    caller: Caller, canaries: NDArray[np.intp], *, delta: float, error: float
) -> tuple[float, Guesses | None, int]:
    """Make one call and return the bound, the guesses behind it, and how many could count.

    The lots of every other canary are shown, to choose the statistic and its thresholds; only the
    guesses about the rest count.
    """
    inside = draw_lots(len(canaries), caller.seed)
    scores = caller.release_without(canaries[~inside], canaries)
    shown = np.arange(len(canaries)) % 2 == 0
    hidden = int((~shown).sum())
    if scores is None:
        return 0.0, None, hidden
    scores, names = guess_scores(caller.table, canaries, scores, caller.names, caller.models)
    rule = choose_rule(scores[shown], inside[shown], error / 10)
    if rule is None:
        return 0.0, Guesses(hidden, 0, 0, "no statistic"), hidden
    made, right = _counted(rule.guesses(scores[~shown]), inside[~shown])
    bound = one_run_lower(hidden, made, right, delta=delta, error=error)
    return bound, Guesses(hidden, made, right, names[rule.place]), hidden
