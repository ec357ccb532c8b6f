"""The closed form through differential_test: binning, counting, and what the result says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import indiff
from indiff.differential.noise import closed_form
from indiff.errors import UserError

MECHANISMS: list[Any] = [
    indiff.Laplace(0.4),
    indiff.Geometric(0.7),
    indiff.Gaussian(1.5),
    indiff.RandomizedResponse(0.9),
]


def read(ages: list[int], sexes: list[str], ills: list[str]) -> indiff.Table:
    frame = pa.table({"age": ages, "sex": sexes, "ill": ills})
    return indiff.read_table(frame, quasi=["age", "sex"], sensitive="ill")


SMALL = read([20, 20, 20, 50, 50], list("FFFMM"), ["flu", "flu", "cold", "flu", "cold"])


def test_without_noise_by_hand() -> None:
    """Two cells, n = 2: (2 flu, 1 cold) and (1 flu, 1 cold); belief (1 + count)/(2 + size)."""
    result = indiff.differential_test(SMALL, indiff.Laplace(math.inf))
    assert result.sensitive_values == ("cold", "flu")
    flu_of_three = 2 * (3 / 5 - 2 / 4)
    cold_of_three = 2 * (2 / 5 - 1 / 4)
    one_of_two = 2 * (2 / 4 - 1 / 3)
    expected = [flu_of_three, flu_of_three, cold_of_three, one_of_two, one_of_two]
    np.testing.assert_allclose(result.distances, expected, rtol=1e-14)
    np.testing.assert_allclose(result.beliefs[0], [2 / 5, 3 / 5])
    np.testing.assert_allclose(result.beliefs_without[2], [1 / 4, 3 / 4])
    assert (result.method, result.exactness, result.model) == ("closed-form", "exact", "frequency")
    assert result.delta == pytest.approx(one_of_two)


@given(
    st.lists(st.tuples(st.integers(20, 60), st.sampled_from("FM"), st.sampled_from("xyz")),
             min_size=4, max_size=40).filter(lambda rows: len({r[2] for r in rows}) > 1),
    st.integers(1, 6),
    st.sampled_from(range(len(MECHANISMS))),
)  # fmt: skip
def test_cells_by_definition(rows: list[tuple[int, str, str]], bins: int, which: int) -> None:
    """Count every record's cell with plain Python, then ask the closed form for its distance."""
    sanitizer = MECHANISMS[which]
    table = read(*(list(column) for column in zip(*rows, strict=True)))
    result = indiff.differential_test(
        table, type(sanitizer)(*(getattr(sanitizer, f) for f in ("epsilon", "sigma")
                                 if hasattr(sanitizer, f)), bins=bins)
    )  # fmt: skip
    ages = sorted(row[0] for row in rows)
    edges = [ages[math.ceil(len(ages) * share / bins) - 1] for share in range(1, bins)]
    values = sorted({row[2] for row in rows})
    cells = [(sum(age > edge for edge in edges), sex) for age, sex, _ in rows]
    held = Counter(zip(cells, (row[2] for row in rows), strict=True))
    counts = [[held[cell, value] for value in values] for cell in cells]
    own = [values.index(row[2]) for row in rows]
    expected = closed_form.distances(sanitizer, counts, own)
    np.testing.assert_allclose(result.distances, expected, rtol=1e-13)
    np.testing.assert_allclose(result.beliefs.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(result.beliefs_without.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("which", range(len(MECHANISMS)))
def test_against_plain_monte_carlo(which: int) -> None:
    """Draw the mechanism by its definition for one target, with common noise."""
    sanitizer = MECHANISMS[which]
    result = indiff.differential_test(SMALL, sanitizer, targets=[2])
    rng, runs = np.random.default_rng(7), 400_000
    counts = np.array([1.0, 2.0])  # cold, flu; the target is the one with a cold
    if isinstance(sanitizer, indiff.RandomizedResponse):
        keep = math.exp(0.9) / (math.exp(0.9) + 1)
        flips = rng.random((runs, 3)) < keep
        others = np.stack([2 - flips[:, 1:].sum(axis=1), flips[:, 1:].sum(axis=1)], axis=1)
        target = np.stack([flips[:, 0], ~flips[:, 0]], axis=1)
        present, absent = 1.0 + others + target, 1.0 + others
    else:
        odds = 1 - math.exp(-0.7)
        draws: dict[str, Callable[[], NDArray[Any]]] = {
            "laplace": lambda: rng.laplace(0, 1 / 0.4, (runs, 2)),
            "geometric": lambda: rng.geometric(odds, (runs, 2)) - rng.geometric(odds, (runs, 2)),
            "gaussian": lambda: rng.normal(0, 1.5, (runs, 2)),
        }
        noise = draws[sanitizer.name]()
        present = 1 + np.maximum(0, counts + noise)
        absent = 1 + np.maximum(0, counts - [1, 0] + noise)
    present /= present.sum(axis=1, keepdims=True)
    absent /= absent.sum(axis=1, keepdims=True)
    each = np.abs(present - absent).sum(axis=1)  # the coupling is optimal for all four
    assert abs(each.mean() - result.distances[0]) < 5 * each.std() / math.sqrt(runs)
    for mean, exact in ((present, result.beliefs), (absent, result.beliefs_without)):
        error = mean.std(axis=0) / math.sqrt(runs)
        assert (np.abs(mean.mean(axis=0) - exact[0]) < 5 * error).all()


def test_edges_stay_when_a_record_leaves() -> None:
    """Without the last record the median would move, and another cell would lose a record."""
    ages = [20, 30, 40, 50, 60]
    table = read(ages, ["F"] * 5, ["a", "b", "a", "b", "a"])
    result = indiff.differential_test(table, indiff.Laplace(math.inf, bins=2), targets=[4])
    # The upper bin is {50, 60}: one b and one a; without the target one b is left.
    assert result.distances[0] == pytest.approx(2 * (2 / 4 - 1 / 3))
    assert any("bins come once from the full table" in note for note in result.notes)
    declared = indiff.differential_test(
        table, indiff.Laplace(math.inf, edges={"age": [40]}, domains={"sex": ["F"]})
    )
    assert declared.distances[4] == pytest.approx(result.distances[0])
    assert not any("bins come" in note for note in declared.notes)


def test_ties_are_said_and_no_value_is() -> None:
    table = read([33, 33, 33, 33, 47, 58], list("FFFMMM"), list("ababab"))
    result = indiff.differential_test(table, indiff.Laplace(1.0))
    assert "age has 3 bins instead of 5, since values tie" in result.notes
    assert not any(number in " ".join(result.notes) for number in ("33", "47", "58"))


def test_declared_sensitive_values_take_part() -> None:
    """A value that nobody holds has a noisy count as well: n is 3, not 2."""
    wide = indiff.Laplace(0.4, domains={"ill": ["cold", "flu", "plague"]})
    result = indiff.differential_test(SMALL, wide)
    expected = closed_form.distances(indiff.Laplace(0.4), [[1, 2, 0]], [1])
    assert result.distances[0] == pytest.approx(expected[0], rel=1e-13)
    assert result.sensitive_values == ("cold", "flu", "plague")
    assert result.beliefs.shape == (5, 3)
    np.testing.assert_allclose(result.true_beliefs[:2], result.beliefs[:2, 1])


def test_several_sanitizers_at_once() -> None:
    epsilons = (0.01, 0.1, 1.0)
    results = indiff.differential_test(SMALL, [indiff.Laplace(e) for e in epsilons])
    for epsilon, result in zip(epsilons, results, strict=True):
        alone = indiff.differential_test(SMALL, f"laplace:epsilon={epsilon}")
        assert result.distances.tolist() == alone.distances.tolist()
    assert all(low.delta < high.delta for low, high in pairwise(results))


def test_some_targets_give_a_lower_bound() -> None:
    whole = indiff.differential_test(SMALL, "geometric:epsilon=1")
    some = indiff.differential_test(SMALL, "geometric:epsilon=1", targets=[1, 3])
    assert some.exactness == "lower-bound"
    np.testing.assert_allclose(some.distances, whole.distances[[1, 3]], rtol=1e-14)


def test_what_is_chosen() -> None:
    noisy = indiff.Laplace(1.0)
    both = indiff.differential_test(SMALL, noisy, distance=["tv", "wasserstein"], runs=20)
    assert list(both) == ["tv", "wasserstein"]
    assert both["wasserstein"].method == "closed-form"
    assert (both["tv"].method, both["tv"].exactness) == ("sampled", "estimate")
    other = indiff.differential_test(SMALL, noisy, model="naive-bayes", runs=5, targets=[0])
    assert (other.method, other.model) == ("sampled", "naive-bayes")
    quiet = indiff.differential_test(SMALL, indiff.Laplace(math.inf), distance=["tv", "kl"])
    assert quiet["tv"].method == "closed-form"
    np.testing.assert_allclose(quiet["tv"].distances[0], 3 / 5 - 2 / 4)
    forced = indiff.differential_test(SMALL, indiff.Laplace(math.inf), method="refit")
    np.testing.assert_allclose(
        forced.distances,
        indiff.differential_test(SMALL, indiff.Laplace(math.inf)).distances,
        rtol=1e-13,
    )
    default = indiff.differential_test(SMALL, indiff.Mondrian(k=2))
    assert list(default.results) == ["naive-bayes", "frequency", "tree"]
    assert default.method == "leave-one-out"


@pytest.mark.parametrize(
    ("sanitizer", "options", "message"),
    [
        (indiff.Mondrian(k=2), {"method": "closed-form"}, "needs a noisy table or randomized"),
        (indiff.Laplace(1), {"method": "closed-form", "distance": "tv"}, "'closed-form' needs"),
        (indiff.Laplace(1), {"method": "closed-form", "model": "naive-bayes"}, "got laplace:eps"),
        (indiff.Laplace(1), {"method": "refit"}, "says nothing about a randomized sanitizer"),
        (indiff.Laplace(1), {"method": "leave-one-out"}, "needs Mondrian"),
        (indiff.Laplace(1), {"method": "guess"}, "no method 'guess'"),
        (indiff.Laplace(1), {"seed": -1}, "seed must be a whole number of at least 0; got -1"),
    ],
)
def test_bad_choices(sanitizer: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        indiff.differential_test(SMALL, sanitizer, **options)


@pytest.mark.parametrize("method", ["auto", "sampled"])
def test_one_sensitive_value_is_refused(method: Any) -> None:
    table = read([20, 30], ["F", "M"], ["flu", "flu"])
    with pytest.raises(UserError, match="a sensitive attribute needs at least 2 values; 'ill'"):
        indiff.differential_test(table, indiff.Laplace(1.0), method=method)


def test_adult_as_in_the_paper(needs_data: Path) -> None:
    """DIT v2, Section 4.5.2, Figure 5: δ falls with ε, and the records' distances with it."""
    columns = ["age", "work", "weight_", "education", "years", "marital", "occupation", "relation",
               "race", "sex", "gain", "loss", "hours", "country", "income"]  # fmt: skip
    lines = (needs_data / "adult.data").read_text().splitlines()
    rows = [line.split(", ") for line in lines if line.count(",") == 14 and "?" not in line]
    frame = {name: [row[i] for row in rows[:10_000]] for i, name in enumerate(columns)}
    arrays: dict[str, Any] = dict(frame)
    arrays["age"], arrays["hours"] = (list(map(int, frame[name])) for name in ("age", "hours"))
    quasi = ["age", "education", "marital", "country", "hours"]
    table = indiff.read_table(
        pa.table({name: arrays[name] for name in [*quasi, "occupation"]}),
        quasi=quasi, sensitive="occupation",
    )  # fmt: skip
    sanitizers = [indiff.Laplace(epsilon) for epsilon in (0.01, 0.1, 0.5, 1.0, math.inf)]
    results = indiff.differential_test(table, sanitizers)
    for low, high in pairwise(results):
        assert low.delta < high.delta
        assert low.mean < high.mean
    assert len(results[0].distances) == 10_000
    assert all(result.exactness == "exact" for result in results)
