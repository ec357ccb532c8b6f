"""The models of population uniques: every number by its formula, in plain sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from indiff.risk.population import models
from indiff.risk.population.models import (
    ASSUMES,
    Estimate,
    Histogram,
    _roots,
    dankar,
    pitman,
    snb,
    snb_expected,
    zayatz,
)

FALLING = [(1, 40), (2, 11), (3, 6), (5, 3), (9, 1)]
EVEN = [(1, 20), (2, 15), (3, 12), (4, 9), (5, 7), (8, 4), (12, 2)]  # α below 0
STEEP = [(1, 900), (2, 60), (3, 9), (50, 2), (400, 1)]  # α near 1
FEW_PAIRS = [(1, 90), (2, 10), (3, 1)]  # far below
ONE_LARGE = [(1, 2), (50, 1)]  # θ below 0
HALF = [(1, 15), (2, 7), (3, 2), (20, 1)]  # α just above ½, where a search may begin


def test_a_histogram_counts_people_and_groups() -> None:
    found = Histogram.of([(3, 2), (1, 4)])
    assert found.sizes.tolist() == [1, 3]
    assert found.groups.tolist() == [4, 2]
    assert (found.people, found.classes) == (10, 6)
    assert [found.of_size(size) for size in (1, 2, 3)] == [4, 0, 2]


@pytest.mark.parametrize(
    ("pairs", "population"),
    [
        ([(1, 3), (5, 1)], 10),  # of a group of five, one cannot be drawn alone: two are left out
        ([(1, 3), (3, 1)], 9),
        ([(1, 3), (3, 1), (4, 1)], 12),
        ([(1, 1), (2, 1)], 4),
        ([(1, 7), (2, 5), (30, 2)], 90),
        ([(1, 1), (900, 1)], 20_000),
    ],
)
def test_zayatz_by_the_hypergeometric_distribution(
    pairs: list[tuple[float, int]], population: int
) -> None:
    n, alone = sum(int(size) * groups for size, groups in pairs), dict(pairs)[1]
    h = {size: float(hypergeom.pmf(1, population, int(size), n)) for size, _ in pairs}
    chance = h[1] * alone / sum(h[size] * groups for size, groups in pairs)
    found = zayatz(Histogram.of(pairs), population)
    uniques = min(alone * chance * population / n, population)
    assert found.parameters == pytest.approx({"unique_if_alone": chance})
    assert found.uniques == pytest.approx(uniques)
    assert found.share == pytest.approx(uniques / population)
    assert (found.model, found.converged, found.residual) == ("zayatz", True, 0.0)


def test_where_nobody_is_alone_zayatz_says_nobody_is_unique() -> None:
    none = {"unique_if_alone": 0.0}
    assert zayatz(Histogram.of([(2, 5)]), 100) == Estimate(
        "zayatz", True, 0.0, 0.0, ASSUMES["zayatz"], none, 0.0
    )


@pytest.mark.parametrize("pairs", [FALLING, EVEN, STEEP, FEW_PAIRS, HALF, ONE_LARGE])
def test_pitmans_likelihood_has_no_slope_and_uniques_are_its_formula(
    pairs: list[tuple[float, int]],
) -> None:
    """ln L = Σ ln(θ + iα) − Σ ln(θ + i) + Σ over groups Σ ln(i − α), by θ and by α."""
    found = pitman(Histogram.of(pairs), 5_000)
    theta, alpha = found.parameters["theta"], found.parameters["alpha"]
    groups = sum(count for _, count in pairs)
    people = sum(int(size) * count for size, count in pairs)
    gained = [1 / (theta + i * alpha) for i in range(1, groups)]
    lost = [1 / (theta + i) for i in range(1, people)]
    assert sum(gained) == pytest.approx(sum(lost), rel=1e-8)
    by_alpha = [i / (theta + i * alpha) for i in range(1, groups)]
    inside = [c / (i - alpha) for size, c in pairs for i in range(1, int(size))]
    assert sum(by_alpha) == pytest.approx(sum(inside), rel=1e-8)
    log_uniques = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(5_000)
    uniques = min(math.exp(log_uniques), 5_000)
    assert found.uniques == pytest.approx(uniques, rel=1e-9)
    assert found.share == pytest.approx(uniques / 5_000, rel=1e-9)
    residual = max(
        abs(sum(gained) - sum(lost)) / sum(gained),
        abs(sum(by_alpha) - sum(inside)) / max(sum(by_alpha), 1),
    )
    assert found.residual == pytest.approx(residual, abs=1e-10)


def test_the_signs_of_pitmans_alpha() -> None:
    alphas = [
        pitman(Histogram.of(pairs), 5_000).parameters["alpha"] for pairs in (FALLING, EVEN, STEEP)
    ]
    assert 0 < alphas[0] < 1
    assert -5 < alphas[1] < 0
    assert 0.5 < alphas[2] < 1


@pytest.mark.parametrize(
    ("pairs", "why"),
    [
        ([(1, 50)], "every record is alone: the likelihood has no maximum"),
        ([(50, 1)], "all records are in one group: the likelihood has no maximum"),
        ([(5, 40)], "the sizes of groups are too even: the likelihood has no maximum"),
    ],
)
def test_why_pitmans_likelihood_has_no_maximum(pairs: list[tuple[float, int]], why: str) -> None:
    assert pitman(Histogram.of(pairs), 1000) == Estimate(
        "pitman", False, None, None, ASSUMES["pitman"], reason=why
    )


@pytest.mark.parametrize(
    ("pairs", "population"),
    [
        (FALLING, 400), (FALLING, 200), (EVEN, 800), (STEEP, 4_000),
        ([(1, 1), (2, 1000)], 9_000),  # nobody at all is expected where β is small
    ],
)  # fmt: skip
def test_the_slide_negative_binomial_by_its_formulas(
    pairs: list[tuple[float, int]], population: int
) -> None:
    """K by Haas and Stokes (1998), their modified Shlosser; α and β by ones and twos."""
    people = sum(size * count for size, count in pairs)
    f, ones, twos = people / population, dict(pairs)[1], dict(pairs)[2]
    first = sum(i * f**2 * (1 - f**2) ** (i - 1) * c for i, c in pairs)
    first /= sum((1 - f) ** i * ((1 + f) ** i - 1) * c for i, c in pairs)
    second = sum((1 - f) ** i * c for i, c in pairs)
    second /= sum(i * f * (1 - f) ** (i - 1) * c for i, c in pairs)
    groups = sum(c for _, c in pairs) + ones * first * second**2
    found = snb(Histogram.of(pairs), population)
    if not found.converged:
        assert found.reason == "its two equations have no solution here"
        return
    alpha, beta = found.parameters["alpha"], found.parameters["beta"]
    assert found.parameters["groups"] == pytest.approx(groups, rel=1e-12)
    assert snb_expected(groups, alpha, beta, f) == pytest.approx((ones, twos), rel=1e-8)
    uniques = min(groups * beta**alpha, population)
    assert found.uniques == pytest.approx(uniques, rel=1e-12)
    assert found.share == pytest.approx(uniques / population, rel=1e-12)
    assert found.residual is not None
    assert found.residual <= 1e-8
    # No other α and β meet both equations and imply a population nearer to the given one.
    implied = groups * (1 + alpha * (1 - beta) / beta)
    for other in np.concatenate([np.linspace(1e-4, 0.9999, 4_000), [beta]]):
        near = [root for root in alphas_of(other, twos / ones, f) if root > 0]
        assert len(near) == 1
        one, _ = snb_expected(groups, near[0], other, f)
        if abs(one / ones - 1) < 1e-9:
            size = groups * (1 + near[0] * (1 - other) / other)
            assert abs(math.log(size / population)) >= abs(math.log(implied / population)) - 1e-6


def alphas_of(beta: float, ratio: float, f: float) -> list[float]:
    """The roots in α of: expected twos are ``ratio`` times expected ones."""
    e = f * (1 - beta) / (1 - (1 - f) * (1 - beta))
    square = (1 - f) * e * e / 2
    return [
        float(root.real)
        for root in np.roots([square, square + f * e - ratio * (1 - f) * e, -ratio * f])
    ]


def test_of_several_solutions_the_one_with_the_nearest_population_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wrong β beside the right one: where it implies a nearer population, nothing is solved."""
    population, people = 400, sum(size * count for size, count in FALLING)
    f, ratio = people / population, dict(FALLING)[2] / dict(FALLING)[1]
    right = snb(Histogram.of(FALLING), population)
    beta, groups = right.parameters["beta"], right.parameters["groups"]

    def off(other: float) -> float:
        (alpha,) = (root for root in alphas_of(other, ratio, f) if root > 0)
        return abs(math.log(groups * (1 + alpha * (1 - other) / other) / population))

    nearer = set()
    for other in np.linspace(0.001, 0.999, 60).tolist():
        for both in ([beta, other], [other, beta]):
            monkeypatch.setattr(models, "_roots", lambda _, found=both: found)
            assert (snb(Histogram.of(FALLING), population) == right) == (off(beta) < off(other))
        nearer.add(off(other) < off(beta))
    assert nearer == {True, False}


def test_the_slide_negative_binomial_needs_one_and_two() -> None:
    for pairs, which in (([(2, 5)], "alone"), ([(1, 5), (3, 1)], "in a group of two")):
        found = snb(Histogram.of([(size, groups) for size, groups in pairs]), 100)
        assert found == Estimate(
            "snb", False, None, None, ASSUMES["snb"],
            reason=f"no record is {which}, and the model needs some",
        )  # fmt: skip


def test_where_an_equation_changes_its_sign() -> None:
    for place in (3e-12, 1e-6, 0.2, 0.4999, 0.5001, 0.7, 1 - 1e-6, 1 - 3e-12):
        assert _roots(lambda beta, at=place: beta - at) == pytest.approx([place], rel=1e-12)  # type: ignore[misc]
    for one, other in ((0.2, 0.7), (0.6, 0.9), (1e-9, 2e-9)):
        product = lambda beta, at=(one, other): (beta - at[0]) * (beta - at[1])  # noqa: E731
        assert _roots(product) == pytest.approx([one, other], rel=1e-9)
    for one in np.geomspace(1e-6, 0.46, 50).tolist():  # in stretches side by side
        product = lambda beta, at=(one, 1.07 * one): (beta - at[0]) * (beta - at[1])  # noqa: E731
        assert _roots(product) == pytest.approx([one, 1.07 * one], rel=1e-9)
        product = lambda beta, at=(1 - one, 1 - 1.07 * one): (beta - at[0]) * (beta - at[1])  # noqa: E731
        assert _roots(product) == pytest.approx([1 - 1.07 * one, 1 - one], rel=1e-9)
    assert _roots(lambda beta: beta + 1) == []
    # A step to infinity is no root.
    assert _roots(lambda beta: -math.inf if beta < 0.3 else 1.0) == []
    assert _roots(lambda beta: 1.0 if beta < 0.3 else -math.inf) == []


def test_the_rule_of_dankar() -> None:
    def made(model: str, uniques: float | None) -> Estimate:
        return Estimate(model, uniques is not None, uniques, None, "")

    def chosen(pitman: float | None, snb: float | None, fraction: float, ones: int = 1) -> str:
        by = {"pitman": made("pitman", pitman), "snb": made("snb", snb)}
        return str(dankar(by | {"zayatz": made("zayatz", 5.0)}, ones, fraction))

    assert chosen(9, 1, 0.1) == "pitman"
    assert chosen(None, 1, 0.1) == "zayatz"
    assert chosen(9, 4.9, 0.11) == "snb"
    assert chosen(9, 5.0, 0.11) == "zayatz"
    assert chosen(9, None, 0.11) == "zayatz"
    assert chosen(9, 1, 0.1, ones=0) == "None"


def test_a_root_is_found_where_the_search_looks() -> None:
    """The search looks at ½, where it may find exactly 0, from below and from above."""
    for sign in (1, -1):
        assert _roots(lambda beta, sign=sign: sign * (beta - 0.5)) == pytest.approx([0.5])  # type: ignore[misc]


def test_pitman_is_solved_only_inside_of_its_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    """θ is above −α, and what is left of the equations is at most the tolerance."""
    for theta, left, solved in (
        (-0.5, 0.0, False),
        (-0.49, 0.0, True),
        (-0.49, models._TOLERANCE, True),
        (-0.49, 1.01 * models._TOLERANCE, False),
    ):
        found = (theta, 0.5, left)
        monkeypatch.setattr(models, "_pitman_root", lambda *_, found=found: found)
        assert pitman(Histogram.of(FALLING), 1000).converged is solved


def test_roots_are_found_beside_each_other_and_beside_what_has_no_end() -> None:
    """Near a half the search takes steps of a fifteenth: 0.437, 0.467 and 0.5 follow each other."""
    assert _roots(lambda beta: (beta - 0.45) * (beta - 0.48)) == pytest.approx([0.45, 0.48])
    assert _roots(lambda beta: (beta - 0.55) * (beta - 0.58)) == pytest.approx([0.55, 0.58])
    assert _roots(lambda beta: 0.45 - beta if beta < 0.49 else -math.inf) == pytest.approx([0.45])
    assert _roots(lambda beta: 0.45 - beta if beta < 0.46 else -math.inf) == []
