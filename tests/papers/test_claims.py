"""The papers' qualitative claims, on the papers' data."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from indiff import Mondrian, UserError, datasets
from indiff.papers.dit_v1_results import KS as V1_KS
from indiff.papers.dit_v1_results import LS as V1_LS
from indiff.papers.dit_v1_results import TABLES
from indiff.papers.measure import EPSILONS, KS, measure, noisy
from indiff.papers.run import Run

SETS = ("adult", "internet-v1", "internet-v2")
SOME = (1, 2, 4, 8, 16, 32, 64)


@pytest.fixture(scope="module")
def run(needs_data: Path) -> Run:
    return Run(folder=needs_data)


@pytest.mark.parametrize("name", SETS)
def test_the_mean_falls_as_k_grows_while_the_largest_does_not_always(run: Run, name: str) -> None:
    coarse = [measure(run, name, "k", k).mean for k in SOME]
    assert all(after < before for before, after in pairwise(coarse))
    largest = [measure(run, name, "k", k).delta for k in SOME]
    assert any(after > before for before, after in pairwise(largest))


@pytest.mark.parametrize("name", SETS)
def test_the_mean_falls_as_l_grows(run: Run, name: str) -> None:
    means = [measure(run, name, "l", value).mean for value in (1, 2, 3, 4, 5)]
    assert all(after < before for before, after in pairwise(means))


@pytest.mark.parametrize(
    ("name", "worst"),
    [("adult", (8, 16)), ("internet-v1", (5, 7)), ("internet-v2", (4, 8, 16))],
)
def test_diversity_is_below_anonymity_above_2(run: Run, name: str, worst: tuple[int, ...]) -> None:
    """On average always; the largest where the papers print both, and mostly elsewhere."""
    for value in sorted({4, 8, 16, *worst}):
        diverse, anonymous = measure(run, name, "l", value), measure(run, name, "k", value)
        assert diverse.mean < anonymous.mean
        assert diverse.delta < anonymous.delta or value not in worst


def test_printed_diversity_is_below_printed_anonymity() -> None:
    for anonymous, diverse in (("1", "2"), ("3", "4")):
        k = dict(zip(V1_KS, (value for value, _ in TABLES[anonymous][2]), strict=True))
        el = dict(zip(V1_LS, (value for value, _ in TABLES[diverse][2]), strict=True))
        assert all(el[value] < k[value] for value in (5, 7))


@pytest.mark.parametrize(("name", "last"), [("adult", 7), ("internet-v1", 5), ("internet-v2", 5)])
def test_beyond_its_last_l_a_table_is_fully_generalized(run: Run, name: str, last: int) -> None:
    beyond = measure(run, name, "l", last + 1)
    assert beyond.whole
    assert beyond.delta < 2.1e-4  # the class shares alone: about 2/n
    assert measure(run, name, "l", 64).whole
    assert not measure(run, name, "l", 4).whole


def test_one_group_is_no_proof_of_a_small_distance(run: Run) -> None:
    found = measure(run, "adult", "l", 7, trees=False)  # leaving one record out allows a cut
    assert found.whole
    assert found.delta > 0.5


def test_full_generalization_is_marked_and_refused_by_default(needs_data: Path) -> None:
    table = datasets.internet_usage("v1", folder=needs_data)
    release = Mondrian(l=6, unmet="generalize").sanitize(table)
    assert not release.constraint_met
    assert all(column.count == 1 for column in release.columns)
    with pytest.raises(UserError, match="l=6 cannot be met even by the whole table"):
        Mondrian(l=6).sanitize(table)


@pytest.mark.parametrize("name", ["adult", "internet-v2"])
def test_delta_grows_with_epsilon(run: Run, name: str) -> None:
    deltas = [noisy(run, name, epsilon).delta for epsilon in EPSILONS]
    assert all(before < after for before, after in pairwise(deltas))
    assert noisy(run, name, 0.1).delta < min(measure(run, name, "k", k).delta for k in SOME[1:])


def test_the_raw_internet_table_has_the_printed_largest_distance(run: Run) -> None:
    assert round(measure(run, "internet-v1", "k", 1).delta / 2, 1) == 0.2  # Table 3, k = 1
    assert f"{measure(run, 'internet-v1', 'l', 6).delta / 2:.1e}" == "9.6e-05"  # Table 4


@pytest.mark.long
def test_on_every_draw_of_adult(run: Run) -> None:
    below, pairs = 0, 0
    for seed in range(5):
        means = [measure(run, "adult", "k", k, seed).mean for k in (1, 2, 8, 64)]
        assert all(after < before for before, after in pairwise(means))
        for value in KS[2:]:
            diverse = measure(run, "adult", "l", value, seed)
            anonymous = measure(run, "adult", "k", value, seed)
            assert diverse.mean < anonymous.mean
            below += diverse.delta < anonymous.delta
            pairs += 1
    assert below / pairs > 0.85
    assert np.median([measure(run, "adult", "l", 3, s).delta / 2 for s in range(5)]) < 0.25
