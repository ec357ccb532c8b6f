"""The distribution-free bounds: exact on small tables, at their stated rate by simulation."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

import indiff
from indiff import UserError
from indiff.differential.targets.guarantee import (
    _up,
    most_above,
    say,
    share_above,
    statement,
)


def few_hits(hits: int, size: int, marked: int, drawn: int) -> Fraction:
    """Return the probability that a draw hits the marked records so often or less, by counting."""
    ways = sum(math.comb(marked, h) * math.comb(size - marked, drawn - h) for h in range(hits + 1))
    return Fraction(ways, math.comb(size, drawn))


@pytest.mark.parametrize("size", [1, 2, 7, 40])
@pytest.mark.parametrize("error", [0.0501, 0.2999])
def test_most_above_is_the_definition(size: int, error: float) -> None:
    for drawn in range(1, size + 1):
        for seen in range(min(drawn, 4) + 1):
            fits = [
                k
                for k in range(size + 1)
                if k == size or few_hits(seen, size, k + 1, drawn) <= Fraction(error)
            ]
            assert most_above(seen, drawn, size, error) == fits[0]


def test_rounding_makes_no_bound_too_small() -> None:
    """One of two records is hit by a draw of one in half of all draws, which is above the error."""
    assert most_above(0, 1, 2, 0.5 * (1 - 1e-10)) == 1
    assert most_above(0, 1, 2, 0.5 * (1 + 1e-8)) == 0


def test_known_figures() -> None:
    """Without replacement from many is as with: the rule of three, and Wilks' 59 (1941)."""
    assert most_above(0, 300, 10**8, 0.05) / 1e8 == pytest.approx(1 - 0.05 ** (1 / 300), rel=1e-4)
    assert most_above(0, 59, 10**8, 0.05) / 1e8 < 0.05
    assert most_above(0, 58, 10**8, 0.05) / 1e8 > 0.05


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, math.inf]), min_size=2, max_size=9),
    st.data(),
    st.sampled_from([0.5, 0.8, 0.95]),
)
def test_every_sample_of_a_small_table(
    distances: list[float], data: st.DataObject, confidence: float
) -> None:
    """All samples are equally likely, so the share of wrong statements is their probability."""
    size = len(distances)
    drawn = data.draw(st.integers(1, size))
    failing = data.draw(st.sets(st.integers(0, size - 1), max_size=2))
    worth = [math.inf if i in failing else d for i, d in enumerate(distances)]
    wrong = together = limit = total = 0
    for sample in combinations(range(size), drawn):
        seen = [distances[i] for i in sample if i not in failing]
        failed = drawn - len(seen)
        total += 1
        if not seen:
            continue  # nothing is said
        found = statement(seen, population=size, confidence=confidence, failed=failed)
        top = found.largest
        reach = sum(
            i in failing or (d == math.inf if math.isinf(top.threshold) else d > top.threshold)
            for i, d in enumerate(distances)
        )
        wrong += reach > top.records
        together += any(
            sum(w > bound.threshold for w in worth) > bound.records for bound in found.bounds
        )
        above = share_above(seen, 0.1, population=size, confidence=confidence, failed=failed)
        limit += sum(w > 0.1 for w in worth) > above.records
    for count in (wrong, together, limit):
        assert count / total <= 1 - confidence + 1e-9


LEVELS, SHARES = [0.0, 0.1, 0.2, 1.0], [0.9, 0.07, 0.02, 0.01]
POPULATIONS = {
    "all different": np.random.default_rng(1).pareto(1.5, 2_000),
    "many ties": np.random.default_rng(2).choice(LEVELS, 2_000, p=SHARES),
    "small": np.arange(30.0),
    "one outlier": np.r_[np.zeros(499), 1.0],
}


@pytest.mark.parametrize("name", POPULATIONS)
def test_rate_over_1000_samples(name: str) -> None:
    distances = POPULATIONS[name]
    rng = np.random.default_rng(7)
    drawn = min(200, len(distances) // 2)
    limit = float(np.quantile(distances, 0.98))
    wrong = together = above = 0
    for _ in range(1_000):
        sample = rng.choice(distances, drawn, replace=False)
        found = statement(sample, population=len(distances))
        wrong += int((distances > found.largest.threshold).sum() > found.largest.records)
        together += any((distances > b.threshold).sum() > b.records for b in found.bounds)
        fixed = share_above(sample, limit, population=len(distances))
        above += int((distances > limit).sum() > fixed.records)
        assert found.delta_at_least <= distances.max()
    # 50 are expected at most; 75 has a probability below 0.001 if each is wrong with 5 %.
    assert max(wrong, together, above) <= 75
    if name == "all different":
        assert wrong >= 20  # a bound that is never wrong would be far too weak


def test_words() -> None:
    found = statement([0.12, *[0.01] * 499], population=100_000)
    assert str(found) == (
        "with 95 % confidence at most 0.6 % of the records exceed 0.12; the largest distance of a "
        "sample is a lower bound on δ"
    )
    assert found.delta_at_least == 0.12
    # Both figures are rounded up: rounded to the nearest they would say more than is known.
    assert "exceed 0.124;" in str(statement([0.12301], population=50))
    assert str(statement([0.3, 0.1], population=2)).startswith("all 2 records were measured")
    assert "have an infinite distance; δ is infinite" in str(
        statement([0.1, math.inf], population=50, confidence=0.999)
    )


def test_all_bounds_of_a_full_sample_are_exact() -> None:
    distances = np.random.default_rng(0).random(101)
    for bound in statement(distances, population=101).bounds:
        assert bound.records == (distances > bound.threshold).sum()
        assert bound.share == bound.records / 101


def test_failures_weaken_the_statement() -> None:
    sure = statement([0.1] * 100, population=1_000)
    unsure = statement([0.1] * 95, population=1_000, failed=5)
    assert unsure.largest.share > sure.largest.share + 0.04
    assert unsure.sampled == sure.sampled == 100


def test_bad_input() -> None:
    with pytest.raises(UserError, match=r"1 of 2 are NaN\. Count targets without a result in fail"):
        statement([0.1, math.nan], population=5)
    with pytest.raises(UserError, match=r"as many targets as the population has records \(2\)"):
        statement([0.1] * 3, population=2)
    with pytest.raises(UserError, match="at least one drawn target"):
        statement([], population=5)
    with pytest.raises(UserError, match="confidence must lie between 0 and 1"):
        statement([0.1], population=5, confidence=1.0)
    with pytest.raises(UserError, match="failed must be at least 0; got -1"):
        statement([0.1], population=5, failed=-1)
    with pytest.raises(UserError, match="threshold must be a number; got NaN"):
        share_above([0.1], math.nan, population=5)


def test_what_a_test_says_of_its_sample() -> None:
    """200 of 1,000 drawn, ten of whose calls fail: at most K of 1,000 exceed the largest distance.

    Failures and excesses may each err by half of 5 %: hypergeometric tails, searched from below.
    """
    frame = pa.table({"age": np.arange(1000) % 40, "ill": ["a", "b", "b", "a", "a"] * 200})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill")

    def publish(frame: pa.Table) -> pa.Table:
        if frame.num_rows == 999:
            missing = 19_500 - sum(frame["age"].to_pylist())  # the age of who was left out
            if missing == 7:
                raise ValueError("not without him")
        return frame

    result = indiff.differential_test(
        table, publish, model="frequency", targets=200, order="random", seed=3, retries=0
    )
    failed = len(result.failures)
    assert failed > 0
    assert len(result.distances) == 200 - failed

    def most(seen: int, sampled: int, population: int) -> int:
        worst = seen
        while hypergeom.cdf(seen, population, worst + 1, sampled) > 0.025:
            worst += 1
        return worst

    share = (most(failed, 200, 1000) + most(0, 200 - failed, 1000 - failed)) / 1000
    assert result.guarantee is not None
    said = re.search(r"at most ([0-9.]+) % of the records", result.guarantee)
    assert said is not None
    assert 100 * share <= float(said[1]) <= 100 * share * 1.05


@pytest.mark.parametrize(
    ("number", "figures", "said"),
    [
        (0.0, 3, "0"),
        (math.inf, 3, "inf"),
        (0.12, 3, "0.12"),
        (0.1231, 3, "0.124"),
        (0.12301, 3, "0.124"),
        (1.0, 3, "1"),
        (1.001, 3, "1.01"),
        (12.31, 3, "12.4"),
        (0.001234, 3, "0.00124"),
        (1.2341e-7, 3, "1.24e-07"),
        (1.23401, 3, "1.24"),
        (0.601, 2, "0.61"),
        (5.92, 2, "6"),
    ],
)
def test_what_is_said_is_never_below_the_number(number: float, figures: int, said: str) -> None:
    """Three figures, raised by one in the last where something was cut off, and no more."""
    assert _up(number, figures) == said
    assert float(said) >= number


def test_thresholds_are_at_fixed_ranks_of_the_sample() -> None:
    """The largest, and those above which 1, 5, 10, 25 and 50 % of the sample lie."""
    sample = np.arange(200.0)
    found = statement(sample, population=1_000)
    assert [bound.threshold for bound in found.bounds] == [199, 197, 189, 179, 149, 99]
    for bound, seen in zip(found.bounds, (0, 2, 10, 20, 50, 100), strict=True):
        assert bound.records == most_above(seen, 200, 1_000, 0.05 / 6)
        assert bound.share == bound.records / 1_000
    assert (found.largest.threshold, found.largest.records) == (
        199,
        most_above(0, 200, 1_000, 0.05),
    )
    few = statement([1.0, 2.0], population=9)
    assert [bound.threshold for bound in few.bounds] == [2, 1]


def test_one_threshold_with_and_without_failures() -> None:
    sample = [0.0, 0.0, 0.1, 0.5]
    for threshold, above in ((0.1, 1), (0.05, 2), (0.5, 0)):
        found = share_above(sample, threshold, population=40)
        assert found.records == most_above(above, 4, 40, 0.05)
        assert (found.threshold, found.share) == (threshold, found.records / 40)
        worse = share_above(sample, threshold, population=40, failed=2)
        assert worse.records == most_above(above + 2, 6, 40, 0.05)
    wider = share_above(sample, 0.1, population=40, confidence=0.5)
    assert wider.records == most_above(1, 4, 40, 0.5) < most_above(1, 4, 40, 0.05)


def test_infinite_distances_are_counted_where_failures_are_too() -> None:
    """Of 50 drawn of 400, two are infinite and three fail: each part may err by half of 5 %."""
    found = statement([math.inf] * 2 + [0.1] * 45, population=400, failed=3)
    most = most_above(3, 50, 400, 0.025) + most_above(2, 47, 397, 0.025)
    assert found.largest.records == most
    assert (found.sampled, found.failed) == (50, 3)
    alone = statement([math.inf] * 2 + [0.1] * 48, population=400)
    assert alone.largest.records == most_above(2, 50, 400, 0.05)
    # More than everybody cannot be.
    assert statement([0.1], population=100, failed=1).largest.records == 100


def test_all_were_measured_unless_some_failed() -> None:
    assert str(statement([0.1], population=2, failed=1)).startswith("with 95 % confidence at most")
    assert str(statement([0.0] * 3, population=3)) == "all 3 records were measured: none exceeds 0"


@pytest.mark.parametrize("people", [False, True])
def test_the_same_is_said_of_people(people: bool) -> None:
    told = say(np.array([0.1, 0.2]), 100, 0.9, 1, people=people)
    assert told.startswith("with 90 % confidence at most ")
    assert ("of the people exceed 0.2;" in told) == people
    assert ("of the records exceed 0.2;" in told) != people


def test_a_sample_is_a_list_no_larger_than_the_population() -> None:
    with pytest.raises(UserError, match=r"an array of shape \(1, 2\)"):
        statement([[0.1, 0.2]], population=5)
    with pytest.raises(UserError, match="got 6"):
        statement([0.0] * 4, population=5, failed=2)
    assert statement([0.0] * 3, population=5, failed=2).sampled == 5
