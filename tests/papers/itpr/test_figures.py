"""Figures 1 to 5 of the ITPR paper: the shapes that its text describes, and the values it names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from indiff.papers.itpr import curves
from indiff.papers.itpr.curves import Point
from indiff.papers.itpr.figures import falls, figure_1, figure_4, figure_5, rises
from indiff.papers.run import Run


def values(points: Sequence[Point], metric: str) -> list[float]:
    return [point.value(metric) for point in points]


def grow(numbers: list[float]) -> bool:
    return all(b > a for a, b in pairwise(numbers))


def test_figure_1_two_values_of_y(itpr_run: Run) -> None:
    points = curves.two_values(itpr_run)
    assert [point.x for point in points] == list(curves.EPSILONS_OF_TWO)
    assert all(point.found.records == 10_000 for point in points)
    equal, alone = points[0], points[-1]
    assert (equal.x, alone.x) == (0, 9998)
    # By hand: 1 − 2 · ½ · log 5000 / log 10000, printed as 7·10⁻²
    assert equal.value("ITPR") == pytest.approx(1 - math.log(5000) / math.log(10_000))
    assert math.floor(100 * equal.value("ITPR")) == 7
    assert alone.value("ITPR") == 1
    assert equal.value("MIL") == pytest.approx(math.log2(10_000) - math.log2(5000) / 2)
    assert (math.floor(equal.value("MIL")), math.floor(alone.value("MIL"))) == (7, 13)
    for metric in ("ITPR", "MIL", "ELD"):
        assert grow(values(points, metric)), metric
    for metric in ("DR", "MI", "CP"):
        assert grow(values(points[::-1], metric)), metric
    assert max(values(points, "DR")) < 0.1


def test_figure_2_ten_values_of_y(itpr_run: Run) -> None:
    points = curves.ten_values(itpr_run)
    assert all(point.found.groups == 10 for point in points)
    assert (points[0].x, points[-1].x) == (0, 1110)
    assert points[0].value("ITPR") == pytest.approx(0.25)  # 1 − log 1000 / log 10000
    assert points[-1].value("ITPR") == 1
    for metric in ("ITPR", "MIL", "ELD"):
        assert grow(values(points, metric)), metric
    for metric in ("DR", "MI", "CP"):
        assert grow(values(points[::-1], metric)), metric


def test_figure_3_spread_of_the_diseases_in_an_age(itpr_run: Run) -> None:
    graded = curves.common_disease(itpr_run, curves.GRADED)
    assert [point.found.lambda_ for point in graded] == list(curves.LAMBDAS)
    for metric in ("ITPR", "DR", "MI", "CP", "ELD"):
        assert grow(values(graded, metric)), metric
    assert grow(values(graded[::-1], "MIL"))
    assert graded[-1].value("ITPR") == graded[-1].value("ELD") == 1
    alone = curves.common_disease(itpr_run, curves.ONE_AGE)
    assert grow(values(alone, "MIL"))  # so it does not fall on every table


def test_figure_4_a_rare_disease_in_one_age(itpr_run: Run) -> None:
    points = curves.rare_disease(itpr_run)
    for metric in ("ITPR", "DR", "MI", "CP"):
        assert rises(points, metric), metric
    assert max(values(points, "ELD")) == pytest.approx(min(values(points, "ELD")))
    start = points[0]
    there = min(points, key=lambda point: abs(point.x - 0.4))
    assert there.x == pytest.approx(0.4, abs=0.005)
    assert math.floor(100 * there.share) == 12
    assert [math.floor(100 * x + 1e-9) for x in (start.mil_there, there.mil_there)] == [7, 9]
    assert math.floor(100 * there.value("MI")) == 2
    assert math.floor(100 * there.value("CP")) == 1
    assert start.x == 0
    # The printed 0.09 is not Eq. 8's maximum and the printed ϑ not Eq. 13's: the page says so.
    assert there.value("MIL") == pytest.approx(0.1434, abs=1e-4)
    assert there.found.theta < 0.1
    page = figure_4(itpr_run)
    assert page.status.startswith("differs because")
    assert [row[-1] for row in page.tables[0].rows] == ["yes"] * 6


def test_figure_5_both_together(itpr_run: Run) -> None:
    found = curves.surface(itpr_run)
    for (epsilon, theta), risk in found.items():
        assert risk.epsilon == epsilon
        assert theta - 1e-9 <= risk.theta < theta + 0.01
        assert (risk.records, risk.groups) == (10_000, 10)
    for theta in curves.THETAS_OF_SURFACE:
        assert grow([found[e, theta].itpr for e in curves.EPSILONS_OF_SURFACE])
    for epsilon in curves.EPSILONS_OF_SURFACE:
        assert grow([found[epsilon, t].itpr for t in curves.THETAS_OF_SURFACE])
    # By hand: 1 − 10 · 0.04 where all diseases are equally frequent
    assert found[1200, 0.0].itpr == pytest.approx(0.6)
    assert "reproduced" in figure_5(itpr_run).status


def test_a_claim_that_fails_is_the_status(itpr_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert figure_1(itpr_run).status.startswith("reproduced")
    backwards = curves.two_values(itpr_run)[::-1]
    monkeypatch.setattr("indiff.papers.itpr.curves.two_values", lambda run: backwards)
    status = figure_1(itpr_run).status
    assert status.startswith("differs because not found: ITPR is 1 at ε = 9998")


def test_rising_and_falling(itpr_run: Run) -> None:
    points = curves.two_values(itpr_run)
    assert rises(points, "ITPR")
    assert not falls(points, "ITPR")
    flat = [points[0]] * 3
    assert not rises(flat, "ITPR")
    assert not falls(flat, "ITPR")
    assert not rises([points[0], points[2], points[1], points[3]], "ITPR")


def test_counts_become_the_same_table() -> None:
    found = curves.measured([[2, 1], [0, 5]])
    assert (found.records, found.groups, found.x) == (8, 2, "disease")
    assert found.h == pytest.approx(curves.entropy(np.array([2, 6])))
    assert curves.measured([[3], [1]]).epsilon == 2
