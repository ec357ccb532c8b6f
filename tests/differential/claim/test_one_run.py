"""One call and many guesses: the bound of Steinke, Nasr and Jagielski, by hand and by chance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from indiff.differential.claim.one_run import (
    choose_rule,
    draw_lots,
    one_run_lower,
    p_value,
)


def test_all_of_ten_coins() -> None:
    assert p_value(10, 10, 10, 0.0) == pytest.approx(2.0**-10)
    # All of m guesses are right with probability (e^ε/(1 + e^ε))^m: solved for an error of 0.05.
    share = 0.05 ** (1 / 100)
    assert one_run_lower(100, 100, 100) == pytest.approx(math.log(share / (1 - share)), abs=1e-6)


def helped(made: int, share: float, right: int) -> float:
    """Return the largest mean probability of so many numbers just below the right guesses."""
    return max(
        float(sum(binom.pmf(k, made, share) for k in range(right - i, right))) / i
        for i in range(1, right + 1)
    )


def test_delta_adds_what_the_definition_says() -> None:
    canaries, made, right, epsilon, delta = 30, 20, 18, 1.0, 1e-4
    share = 1 / (1 + math.exp(-epsilon))
    beta = sum(binom.pmf(k, made, share) for k in range(right, made + 1))
    # Whatever number of guesses the release leads to, with as many right ones as are as rare.
    rare = {n: [v for v in range(n + 1) if binom.sf(v - 1, n, share) <= beta * (1 + 1e-9)]
            for n in range(1, canaries + 1)}  # fmt: skip
    most = max(helped(n, share, found[0]) for n, found in rare.items() if found)
    assert most >= helped(made, share, right)
    expected = beta + 2 * canaries * delta * most
    assert p_value(canaries, made, right, epsilon, delta) == pytest.approx(expected, rel=1e-9)
    assert p_value(500, made, right, epsilon, delta) >= beta + 0.1 * most - 1e-12


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-2])
def test_the_bound_falls_with_delta_and_with_wrong_guesses(delta: float) -> None:
    found = [one_run_lower(200, 100, right, delta=delta) for right in (100, 90, 70, 50)]
    assert found == sorted(found, reverse=True)
    assert one_run_lower(200, 100, 90, delta=delta) <= one_run_lower(200, 100, 90)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bound_is_seldom_above_the_truth(epsilon: float) -> None:
    # Randomized response about each lot is ε-private, and guessing its answer is best.
    rng, keep = np.random.default_rng(4), 1 / (1 + math.exp(-epsilon))
    bounds = {right: one_run_lower(100, 100, right) for right in range(101)}
    found = np.array([bounds[int(right)] for right in rng.binomial(100, keep, 3000)])
    assert (found > epsilon).mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 3000)


def test_a_rule_is_chosen_that_guesses_well() -> None:
    rng = np.random.default_rng(1)
    inside = rng.random(200) < 0.5
    scores = np.column_stack([rng.normal(size=200), rng.normal(0, 0.1, 200) - inside])
    rule = choose_rule(scores, inside, 0.005)
    assert rule is not None
    assert (rule.place, rule.rising) == (1, False)
    guess = rule.guesses(scores)
    assert ((guess > 0) == inside)[guess != 0].mean() > 0.95


def test_lots_are_fair_and_follow_the_seed() -> None:
    assert draw_lots(50, 3).tolist() == draw_lots(50, 3).tolist()
    assert 0.4 < draw_lots(10_000, 1).mean() < 0.6
