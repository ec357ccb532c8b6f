"""The models of population uniques: ARX's figures, their own equations, brute force."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indiff.risk.population.measure import estimate_uniques
from indiff.risk.population.models import Histogram, dankar, pitman, snb, snb_expected, zayatz
from tests.risk.population import adult


def histogram_of(rows: list[adult.Row], columns: list[str]) -> Histogram:
    groups = Counter(tuple(row[name] for name in columns) for row in rows)
    return Histogram.of(list(Counter(groups.values()).items()))


def test_the_figures_of_arx(needs_data: Path) -> None:
    """Its Pitman stops where its equations are within 1e-6; five rows have an invalid root."""
    train, everybody = adult.complete(needs_data)
    order, seen = adult.drawn(needs_data), Counter[str]()
    for row in adult.figures(needs_data, "population_risk.csv"):
        size = int(row["sample_size"])
        rows = train if row["rows"] == "train30162" else [everybody[i] for i in order[:size]]
        histogram = histogram_of(rows, row["qis"].split("|"))
        population, fraction = int(row["population_size"]), size / int(row["population_size"])
        assert histogram.people == size
        assert histogram.classes == int(row["classes"])
        assert histogram.of_size(1) == int(row["sample_uniques"])
        assert histogram.of_size(2) == int(row["class_size_2_classes"])
        found = estimate_uniques(histogram, population)
        by = found.models
        assert by["zayatz"].uniques == pytest.approx(float(row["uniques_zayatz"]), rel=1e-14)
        check, theirs = row["pitman_check"], by["pitman"].uniques
        seen[check] += 1
        if check == "ok":
            assert theirs == pytest.approx(float(row["uniques_pitman"]), rel=1e-6)
        assert theirs == pytest.approx(float(row["uniques_pitman_own"]), rel=1e-5)  # six digits
        assert by["pitman"].parameters["theta"] == pytest.approx(
            float(row["pitman_theta_own"]), rel=1e-5
        )
        own = float(row["uniques_snb_textbook_own"])
        assert by["snb"].uniques == pytest.approx(own, rel=1e-5)
        if fraction <= 0.1:
            assert found.chosen == "pitman"
        else:
            smaller = "snb" if own < float(row["uniques_zayatz"]) else "zayatz"
            assert found.chosen == smaller
    assert seen["ok"] > 25
    assert seen["outside_domain"] >= 5


def test_pitmans_root_is_in_its_domain_and_a_maximum() -> None:
    histogram = Histogram.of([(1, 40), (2, 11), (3, 6), (5, 3), (9, 1)])
    found = pitman(histogram, 10_000)
    theta, alpha = found.parameters["theta"], found.parameters["alpha"]
    assert found.residual is not None
    assert found.residual < 1e-9
    assert theta + (histogram.classes - 1) * min(alpha, 0) > 0

    def likelihood(theta: float, alpha: float) -> float:
        total = sum(math.log(theta + i * alpha) for i in range(1, histogram.classes))
        total -= sum(math.log(theta + i) for i in range(1, histogram.people))
        for size, groups in zip(histogram.sizes, histogram.groups, strict=True):
            total += groups * sum(math.log(i - alpha) for i in range(1, int(size)))
        return total

    best = likelihood(theta, alpha)
    for step in (1e-3, -1e-3):
        assert likelihood(theta * (1 + step), alpha) < best
        assert likelihood(theta, alpha + step) < best


SIZES = st.dictionaries(st.integers(1, 30), st.integers(1, 200), min_size=1, max_size=8)


@given(sizes=SIZES, fold=st.floats(1.01, 1000))
def test_every_model_is_sane_or_says_why_not(sizes: dict[int, int], fold: float) -> None:
    histogram = Histogram.of(list(sizes.items()))
    population = round(histogram.people * fold) + 1
    for model in (pitman, zayatz, snb):
        found = model(histogram, population)
        assert found.converged == (found.uniques is not None) == (found.reason is None)
        if found.uniques is not None:
            assert 0 <= found.uniques <= population
            assert found.residual is not None
            assert found.residual <= 1e-8
    found = snb(histogram, population)
    if found.converged:
        alpha, beta, groups = (found.parameters[name] for name in ("alpha", "beta", "groups"))
        assert alpha > 0
        assert 0 < beta < 1
        one, two = snb_expected(groups, alpha, beta, histogram.people / population)
        assert one == pytest.approx(histogram.of_size(1), rel=1e-7)
        assert two == pytest.approx(histogram.of_size(2), rel=1e-7)


def test_one_person_alone_is_enough_for_the_slide_negative_binomial() -> None:
    """Fewer than one is expected on one side of the solution, and more on the other."""
    histogram, population = Histogram.of([(1, 1), (2, 1), (3, 4), (5, 10)]), 130
    found = snb(histogram, population)
    alpha, beta, groups = (found.parameters[name] for name in ("alpha", "beta", "groups"))
    assert snb_expected(groups, alpha, beta, 0.5) == pytest.approx((1, 1))
    assert found.uniques == pytest.approx(groups * beta**alpha)


def test_the_slide_negative_binomials_expectation_by_its_own_sum() -> None:
    """Σ over F of P(F)·Binomial(F, f): the definition, without a generating function."""
    groups, alpha, beta, fraction = 500.0, 0.7, 0.2, 0.3
    expected = [0.0, 0.0]
    for size in range(1, 2000):
        log_p = math.lgamma(alpha + size - 1) - math.lgamma(alpha) - math.lgamma(size)
        p = math.exp(log_p + alpha * math.log(beta) + (size - 1) * math.log1p(-beta))
        for drawn in (1, 2):
            chance = math.comb(size, drawn) * fraction**drawn * (1 - fraction) ** (size - drawn)
            expected[drawn - 1] += groups * p * chance
    assert snb_expected(groups, alpha, beta, fraction) == pytest.approx(expected, rel=1e-10)


def test_zayatz_by_hand() -> None:
    """Ten people, four drawn; groups of 1, 1 and 2: h by listing all samples."""
    population, drawn = 10, 4

    def once(size: int) -> float:
        samples = list(combinations(range(population), drawn))
        return sum(sum(x < size for x in sample) == 1 for sample in samples) / len(samples)

    chance = 2 * once(1) / (2 * once(1) + once(2))
    found = zayatz(Histogram.of([(1, 2), (2, 1)]), population)
    assert found.parameters["unique_if_alone"] == pytest.approx(chance, rel=1e-14)
    assert found.uniques == pytest.approx(2 * chance * population / drawn, rel=1e-14)


def test_zayatz_with_a_country_is_exact_and_quick() -> None:
    """83 million people: logarithms of factorials would lose the digits."""
    found = zayatz(Histogram.of([(1, 100), (2, 50), (40_000, 2)]), 83_000_000)
    n = 200 + 80_000
    h2 = 2 * (83_000_000 - n) / (83_000_000 - 1)
    assert found.parameters["unique_if_alone"] == pytest.approx(100 / (100 + 50 * h2), rel=1e-9)


def test_what_has_no_maximum_has_no_estimate() -> None:
    alone, one, even = ([(1, 50)], [(50, 1)], [(5, 40)])
    for pairs in (alone, one, even):
        found = pitman(Histogram.of(pairs), 1000)
        assert not found.converged
        assert found.reason is not None


def test_the_rule() -> None:
    made = {
        name: model(Histogram.of([(1, 40), (2, 11), (3, 6), (9, 1)]), 400)
        for name, model in (("pitman", pitman), ("zayatz", zayatz), ("snb", snb))
    }
    assert dankar(made, 0, 0.05) is None
    assert dankar(made, 40, 0.1) == "pitman"
    slide, plain = made["snb"].uniques, made["zayatz"].uniques
    assert slide is not None
    assert plain is not None
    assert dankar(made, 40, 0.11) == ("snb" if slide < plain else "zayatz")


def test_a_sample_that_is_the_population_is_counted() -> None:
    found = estimate_uniques(Histogram.of([(1, 3), (2, 5)]), 13)
    assert (found.chosen, found.uniques, found.interval) == ("counted", 3.0, (3.0, 3.0))


def test_the_models_see_the_uniques_of_a_population() -> None:
    rng = np.random.default_rng(7)
    weights = rng.dirichlet(np.full(60_000, 0.5))
    population = rng.choice(len(weights), 200_000, p=weights)
    sizes = np.bincount(population)
    true = int((sizes == 1).sum())
    sample = rng.choice(population, 40_000, replace=False)
    groups = Counter(Counter(sample.tolist()).values())
    found = estimate_uniques(Histogram.of(list(groups.items())), len(population))
    assert found.uniques == pytest.approx(true, rel=0.4)
    assert found.interval[1] >= true
