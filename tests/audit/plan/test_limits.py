"""The range of a limit: what could never be exceeded, or never hold, is refused."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

import indiff
from indiff.audit.metrics import METRICS
from indiff.audit.plan.limits import (
    check_claim,
    check_ranges,
    is_at_least,
    is_stricter,
    limit_names,
    range_of,
    require_population,
    risk_limits,
    with_stricter,
)
from indiff.audit.plan.recipe import read_limits
from indiff.errors import UserError


@pytest.mark.parametrize(
    ("limits", "distance", "message"),
    [
        ({"delta": 3}, "wasserstein", r"delta \(wasserstein\) is a number from 0 to 2; got 3"),
        ({"mean": 1.5}, "tv", r"mean \(tv\) is a number from 0 to 1; got 1.5"),
        ({"inference.itpr": 2}, "tv", "inference.itpr is a number from 0 to 1"),
        ({"t": 1.2}, "tv", "t is a number from 0 to 1"),
        ({"changed_predictions": 101}, "tv", "from 0 to 100"),
        ({"k": 0.5}, "tv", "k is a number of at least 1"),
        ({"l": 0}, "tv", "l is a number of at least 1"),
        ({"accuracy": 80}, "tv", "accuracy is a number from 0 to 1; got 80"),
        ({"delta": -1}, "kl", "delta is a number of at least 0"),
        ({"k": float("nan")}, "kl", "k is a number of at least 1"),
        ({"delta": float("inf")}, "kl", "delta is a number of at least 0"),
    ],
)
def test_a_limit_outside_the_range_is_refused(limits: Any, distance: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        indiff.Plan(data={"sensitive": "ill"}, limits=limits, adversary={"distance": distance})


def test_the_ends_of_a_range_are_limits() -> None:
    check_ranges({"delta": 2, "k": 1, "itpr": 1, "prosecutor": 0}, "wasserstein")
    check_ranges({"delta": 99}, "kl")
    check_ranges({"delta": 99}, "emd:numeric")


def test_every_limit_has_a_range() -> None:
    only_of_risk = ["h_conditional", "h_normalised", "reidentification.cp", "inference.a.b.theta"]
    for name in [*limit_names(), *only_of_risk]:
        least, largest = range_of(name)
        assert least in (0, 1)
        assert largest is None or largest >= 1
    assert range_of("delta", "tv") == (0, 1)
    assert "delta" in METRICS


@pytest.mark.parametrize("text", ["k=0.5", "reidentification.itpr=1.5", "marketer=2"])
def test_limits_on_risk_have_ranges(text: str) -> None:
    with pytest.raises(UserError, match="is a number"):
        risk_limits(read_limits([text]), ["ill"])


def test_a_recommendation_has_ranges() -> None:
    table = indiff.read_table(
        indiff.datasets.demo(records=100), quasi=["sex"], sensitive="diagnosis"
    )
    with pytest.raises(UserError, match="from 0 to 1; got 7"):
        indiff.compare(table, "suppress").recommend(t=7)
    with pytest.raises(UserError, match="from 0 to 2; got 3"):
        indiff.fix(table, "suppress", delta=3)


@pytest.mark.parametrize(
    ("own", "asked", "counts"),
    [
        ({"k": 5}, {"k": 11}, {"k": 11}),
        ({"k": 20}, {"k": 11}, {"k": 20}),
        ({"delta": 0.1}, {"k": 3}, {"delta": 0.1, "k": 3}),
        ({"prosecutor": 0.2}, {"prosecutor": 0.09}, {"prosecutor": 0.09}),
        # A narrower limit counts for its number, but allows no more than the policy does.
        (
            {"inference.ill.itpr": 0.9},
            {"itpr": 0.5},
            {"inference.ill.itpr": 0.5, "itpr": 0.5},
        ),
        # A broader and stricter one of one's own counts where the policy is narrower.
        ({"itpr": 0.3}, {"inference.itpr": 0.5}, {"itpr": 0.3, "inference.itpr": 0.3}),
        # Among one's own the narrowest counts, as ever.
        (
            {"itpr": 0.3, "inference.itpr": 0.8},
            {"itpr": 0.6},
            {"itpr": 0.3, "inference.itpr": 0.6},
        ),
    ],
)
def test_of_two_limits_on_a_number_the_stricter_counts(own: Any, asked: Any, counts: Any) -> None:
    assert with_stricter(own, asked) == counts


@pytest.mark.parametrize("name", ["k", "h_conditional", "h_normalised"])
def test_more_is_better_of_what_an_adversary_does_not_know(name: str) -> None:
    """What is left of the doubt (ITPR, conditional entropy) protects, as many people alike do."""
    assert is_at_least(name)
    assert is_stricter(name, 0.9, 0.5)
    assert not is_stricter(name, 0.5, 0.5)


@pytest.mark.parametrize("name", ["delta", "mean", "quantile", "itpr", "t"])
def test_less_is_better_of_what_an_adversary_learns(name: str) -> None:
    assert not is_at_least(name)
    assert is_stricter(name, 0.5, 0.9)
    assert not is_stricter(name, 0.5, 0.5)


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("k_map", "Add population= as a table."),
        ("uniques", "Add population= or sampling=."),
        ("expected", "Add population= or sampling= or weight=."),
        ("household_risk", "Add household=."),
    ],
)
def test_a_limit_against_an_unknown_population_says_what_to_tell(name: str, way_out: str) -> None:
    with pytest.raises(UserError, match=f"population.{name} needs to know the population") as told:
        require_population(["k", f"population.{name}"], None)
    assert str(told.value).endswith(f" {way_out}")
    require_population(["k", "delta"], None)


def test_a_limit_on_the_population_has_a_name_that_is_known() -> None:
    assert risk_limits({"population.k_map": 2}, []) == {"population.k_map": 2}
    with pytest.raises(UserError, match=r"no limit 'population\.nobody'"):
        risk_limits({"population.nobody": 2}, [])


def test_a_limit_on_a_figure_needs_what_gives_it() -> None:
    """The size of a population gives its uniques, and no k-map, which a table of it gives."""
    known: Any = SimpleNamespace(figure={"population.uniques": 1.0}.get)
    require_population(["k", "population.uniques"], known)
    with pytest.raises(UserError, match=r"the limit population\.k_map needs to know"):
        require_population(["population.uniques", "population.k_map"], known)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        ({"epsilon": -0.1}, "a claimed epsilon is a number of at least 0; got -0.1"),
        ({"epsilon": math.inf}, "a claimed epsilon is a number of at least 0; got inf"),
        ({"epsilon": 1.0, "delta": 1.0}, "a claimed delta is a number from 0 to below 1; got 1.0"),
        ({"epsilon": 1.0, "delta": -0.1}, "a claimed delta is a number from 0 to below 1; got"),
        ({"epsilon": 1.0, "deltas": 0.1}, "no claim 'deltas'"),
        ({"delta": 0.1}, "a claim needs an epsilon"),
    ],
)
def test_what_is_no_claim(claim: dict[str, float], says: str) -> None:
    with pytest.raises(UserError, match=says):
        check_claim(claim)


def test_what_may_be_claimed() -> None:
    check_claim({})
    for epsilon, delta in ((0.0, 0.0), (9.0, 0.0), (1.0, 0.9)):
        check_claim({"epsilon": epsilon})
        check_claim({"epsilon": epsilon, "delta": delta})
