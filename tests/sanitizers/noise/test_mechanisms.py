"""Noisy tables and randomized response as releases: what is published, and when it is private."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import indiff
from indiff.errors import UserError
from indiff.release.reading import read_release
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.grid import quantile_edges
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, NotDifferentiallyPrivate, OnGrid
from indiff.sanitizers.sanitizer import as_sanitizer

DECLARED: dict[str, Any] = {
    "edges": {"age": [30, 50]},
    "domains": {"sex": ["F", "M", "X"], "ill": ["cold", "flu", "none"]},
}


def people(records: int = 40, seed: int = 0) -> indiff.Table:
    rng = np.random.default_rng(seed)
    frame = pa.table(
        {
            "age": rng.integers(20, 70, records),
            "sex": rng.choice(["F", "M"], records),
            "ill": rng.choice(["cold", "flu"], records),
        }
    )
    return indiff.read_table(frame, quasi=["age", "sex"], sensitive="ill")


def seeded(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# What is published


def test_every_cell_of_the_domain_has_a_row() -> None:
    release = indiff.Laplace(1.0, **DECLARED).sanitize(people(), seeded())
    rows = release.to_arrow().to_pylist()
    cells = {(row["age"], row["sex"], row["ill"]) for row in rows}
    assert len(rows) == len(cells) == 3 * 3 * 3  # the values that nobody has included
    assert {row["age"] for row in rows} == {"<=30", "(30, 50]", ">50"}
    assert {row["ill"] for row in rows} == {"cold", "flu", "none"}


def test_without_noise_the_weights_are_counts() -> None:
    table = people()
    release = indiff.Laplace(math.inf, **DECLARED).sanitize(table, seeded())
    expected: dict[tuple[str, str, str], int] = {}
    for age, sex, ill in zip(*(table.frame()[c].to_pylist() for c in ("age", "sex", "ill")),
                             strict=True):  # fmt: skip
        label = "<=30" if age <= 30 else "(30, 50]" if age <= 50 else ">50"
        expected[label, sex, ill] = expected.get((label, sex, ill), 0) + 1
    for row in release.to_arrow().to_pylist():
        assert row["weight"] == expected.get((row["age"], row["sex"], row["ill"]), 0)


@pytest.mark.parametrize("sanitizer", [indiff.Laplace(0.1), indiff.Geometric(0.1),
                                       indiff.Gaussian(9.0)])  # fmt: skip
def test_weights_are_never_negative(sanitizer: NoisySanitizer) -> None:
    release = sanitizer.sanitize(people(), seeded())
    assert release.weights is not None
    assert release.weights.min() == 0
    assert release.weights.max() > 0


def test_empty_cells_get_noise_too() -> None:
    release = indiff.Laplace(0.5, **DECLARED).sanitize(people(), seeded(3))
    frame = release.to_arrow()
    empty = frame.filter(pa.compute.equal(frame["sex"], "X"))["weight"].to_pylist()
    assert sum(weight > 0 for weight in empty) >= 2  # about half of the nine


def test_a_release_is_read_back() -> None:
    table = people()
    domains = {"sex": ["F", "M"], "ill": ["cold", "flu"]}
    release = indiff.Geometric(0.7, edges={"age": [30, 50]}, domains=domains)
    written = release.sanitize(table, seeded())
    back = read_release(written.to_arrow(), table)
    assert back.weights is not None
    assert written.weights is not None
    assert back.weights.tolist() == written.weights.tolist()
    for age in (20, 30, 31, 50, 51):
        assert back.covers("age", age).tolist() == written.covers("age", age).tolist()


# The noise


@pytest.mark.parametrize("vetted", [False, True])
@pytest.mark.parametrize(
    ("kind", "law"),
    [
        ("laplace", stats.laplace(scale=2.5)),
        ("gaussian", stats.norm(scale=2.5)),
        ("geometric", stats.dlaplace(1 / 2.5)),
    ],
)
def test_noise_has_its_law(kind: noise.Kind, law: Any, vetted: bool) -> None:
    counts = np.full(4_000, 1_000, np.int64)
    if vetted:
        drawn = noise.vetted_counts(kind, 2.5, counts) - 1_000
    else:
        drawn = noise.draw(kind, 2.5, counts.shape, seeded(1))
    if kind != "geometric":
        assert stats.kstest(drawn, law.cdf).pvalue > 1e-9
        return
    assert (drawn == np.round(drawn)).all()
    middle = np.arange(-6, 7)
    observed = [(drawn < -6).sum(), *((drawn == z).sum() for z in middle), (drawn > 6).sum()]
    chances = [law.cdf(-7), *law.pmf(middle), law.sf(6)]
    assert stats.chisquare(observed, 4_000 * np.array(chances)).pvalue > 1e-9


@pytest.mark.parametrize("vetted", [False, True])
def test_answers_are_true_with_the_right_probability(vetted: bool) -> None:
    keep = indiff.RandomizedResponse(1.0).keep(4)
    assert keep == pytest.approx(math.e / (math.e + 3))
    truth = np.full(4_000, 2, np.int32)
    if vetted:
        answers = noise.vetted_answers(truth, 4, keep)
    else:
        answers = noise.draw_answers(truth, 4, keep, seeded(2).random((4_000, 2)))
    other = (1 - keep) / 3
    chances = 4_000 * np.array([other, other, keep, other])
    assert stats.chisquare(np.bincount(answers, minlength=4), chances).pvalue > 1e-9


def test_randomized_response_publishes_records_in_bins() -> None:
    table = people()
    release = indiff.RandomizedResponse(0.5, edges={"age": [40]}).sanitize(table, seeded())
    ages = table.frame()["age"].to_pylist()
    assert release.to_arrow()["age"].to_pylist() == ["<=40" if a <= 40 else ">40" for a in ages]
    assert release.weights is None
    assert 0 < (release.classes != table.sensitive.codes).sum() < len(table)


def test_without_noise_answers_are_true() -> None:
    table = people()
    release = indiff.RandomizedResponse(math.inf).sanitize(table, seeded())
    assert release.classes.tolist() == table.sensitive.codes.tolist()


def test_the_same_random_numbers_serve_a_table_without_a_record() -> None:
    table = people()
    response = indiff.RandomizedResponse(0.5)
    fixed = OnGrid(response, response.grid(table))
    whole = fixed.sanitize(table, seeded(5)).classes
    for row in (0, 17, len(table) - 1):
        part = fixed.sanitize(table.without(row), seeded(5)).classes
        assert part.tolist() == np.delete(whole, row).tolist()
    laplace = indiff.Laplace(0.5)
    fixed = OnGrid(laplace, laplace.grid(table))
    present = fixed.sanitize(table, seeded(5)).weights
    absent = fixed.sanitize(table.without(3), seeded(5)).weights
    assert present is not None
    assert absent is not None
    assert ((present - absent) > 1e-9).sum() <= 1
    assert (present >= absent).all()


# When it may be called private


@pytest.mark.parametrize("sanitizer", [
    indiff.Laplace(0.5, **DECLARED), indiff.Geometric(0.5, **DECLARED),
    indiff.Gaussian(2, **DECLARED),
    indiff.RandomizedResponse(0.5, domains={"ill": ["cold", "flu"]}),
])  # fmt: skip
def test_declared_and_vetted_is_private(sanitizer: NoisySanitizer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = sanitizer.sanitize(people())
    assert release.constraint_met
    assert release.sanitizer == str(sanitizer)
    assert sanitizer.why_not_private(people()) is None


@pytest.mark.parametrize(
    ("missing", "named"),
    [("edges", "age"), ("sex", "sex"), ("ill", "ill")],
)
def test_undeclared_is_not_private(missing: str, named: str) -> None:
    edges = {} if missing == "edges" else DECLARED["edges"]
    domains = {k: v for k, v in DECLARED["domains"].items() if k != missing}
    sanitizer = indiff.Laplace(0.5, edges=edges, domains=domains)
    why = f"the bins or values of {named} come from the records: declare their edges or domains"
    assert sanitizer.why_not_private(people()) == why
    with pytest.warns(NotDifferentiallyPrivate, match=f"values of {named} come from the records"):
        release = sanitizer.sanitize(people())
    assert not release.constraint_met
    assert f"not differentially private: {why}" in release.sanitizer


def test_no_noise_is_not_private() -> None:
    sanitizer = indiff.Laplace(math.inf, **DECLARED)
    assert sanitizer.why_not_private(people()) == "there is no noise"
    with pytest.warns(NotDifferentiallyPrivate, match="there is no noise"):
        assert not sanitizer.sanitize(people()).constraint_met


def test_seeded_noise_is_for_testing_only() -> None:
    release = indiff.Laplace(0.5, **DECLARED).sanitize(people(), seeded())
    assert not release.constraint_met
    assert "repeats from a seed, for testing only" in release.sanitizer


def test_without_opendp_there_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "opendp_is_there", lambda: False)
    with pytest.warns(NotDifferentiallyPrivate, match=r"not vetted: install indiff\[dp\]"):
        release = indiff.Laplace(0.5, **DECLARED).sanitize(people())
    assert not release.constraint_met


def test_the_domain_does_not_depend_on_the_records() -> None:
    sanitizer = indiff.Laplace(0.5, **DECLARED)
    first, second = (
        sanitizer.sanitize(people(records, seed), seeded()).to_arrow().drop_columns("weight")
        for records, seed in ((40, 0), (7, 1))
    )
    assert first.equals(second)


# Bins and domains


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(1, 100))
def test_quantile_edges_by_definition(ages: list[int], bins: int) -> None:
    table = indiff.read_table(pa.table({"age": ages, "ill": ["a"] * len(ages)}),
                              quasi=["age"], sensitive="ill")  # fmt: skip
    expected = set()
    for share in range(1, bins):
        reached = [v for v in set(ages) if sum(a <= v for a in ages) * bins >= share * len(ages)]
        expected.add(min(reached))
    expected.discard(max(ages))  # nothing lies above
    assert quantile_edges(table.attribute("age"), bins).tolist() == sorted(expected)


def test_missing_numbers_have_a_bin_where_they_are_split_off() -> None:
    frame = pa.table({"age": [20, None, 40, 60], "ill": list("abab")})
    table = indiff.read_table(frame, quasi=["age"], sensitive="ill", missing="split")
    for options in ({"edges": {"age": [30]}}, {"bins": 2}):
        release = indiff.Laplace(math.inf, **options).sanitize(table, seeded())
        assert release.covers("age", None).sum() == 2
        assert release.weights is not None
        assert release.weights.sum() == 4


def test_edges_of_dates_are_dates() -> None:
    days = pa.array([0, 100, 20_000], pa.date32())
    table = indiff.read_table(pa.table({"born": days, "ill": list("aba")}),
                              quasi=["born"], sensitive="ill")  # fmt: skip
    release = indiff.Laplace(math.inf, edges={"born": ["2000-01-01"]}).sanitize(table, seeded())
    assert release.to_arrow()["weight"].to_pylist() == [1, 1, 1, 0]


def test_too_many_cells_are_refused() -> None:
    frame = pa.table({f"q{i}": list(range(100)) for i in range(4)} | {"ill": list("ab") * 50})
    table = indiff.read_table(frame, quasi=[f"q{i}" for i in range(4)], sensitive="ill")
    with pytest.raises(UserError, match="at most 10,000,000 cells; this one has 200,000,000"):
        indiff.Laplace(0.5, bins=None).sanitize(table, seeded())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edges": {"sex": [1]}}, "edges cut numbers; 'sex' is categorical"),
        ({"edges": {"age": []}}, "at least one number, in ascending order"),
        ({"edges": {"age": [50, 30]}}, "in ascending order; got \\[50, 30\\]"),
        ({"edges": {"age": ["old"]}}, "'age' takes finite numbers; got 'old'"),
        ({"edges": {"agee": [30]}}, "no quasi-identifier 'agee': did you mean 'age'"),
        ({"domains": {"size": [30]}}, "no column 'size'"),
        ({"domains": {"sex": ["F"]}}, "the domain of 'sex' must list every value .* lacks 'M'"),
        ({"domains": {"sex": ["F", "M", "M"]}}, "must list each value once"),
        ({"domains": {"ill": ["cold"]}}, "the domain of 'ill' must list every value .* 'flu'"),
        ({"edges": {"age": [30]}, "domains": {"age": [1]}}, "'age' has edges and a domain"),
    ],
)
def test_bad_declarations(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        indiff.Laplace(0.5, **options).sanitize(people(), seeded())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: indiff.Laplace(0), "epsilon must be greater than 0 .*; got 0"),
        (lambda: indiff.Laplace(-1), "epsilon must be greater than 0 .*; got -1"),
        (lambda: indiff.Geometric(math.nan), "epsilon must be greater than 0 .*; got nan"),
        (lambda: indiff.RandomizedResponse(0), "epsilon must be greater than 0"),
        (lambda: indiff.Laplace("1"), "epsilon must be greater than 0 .*; got 1"),  # type: ignore[arg-type]
        (lambda: indiff.Gaussian(0), "sigma must be greater than 0 .*; got 0"),
        (lambda: indiff.Gaussian(math.nan), "sigma must be greater than 0 .*; got nan"),
        (lambda: indiff.Gaussian(math.inf), "sigma must be greater than 0 .*; got inf"),
        (lambda: indiff.Laplace(1, bins=0), "bins must be a whole number of at least 1"),
        (lambda: indiff.Laplace(1, edges={"age": 3}), "edges maps columns to lists"),  # type: ignore[dict-item]
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()


@pytest.mark.parametrize(
    "text",
    [
        "laplace:epsilon=0.5",
        "laplace:epsilon=inf",
        "geometric:epsilon=2,bins=3",
        "gaussian:sigma=1.5",
        "randomized-response:epsilon=0.5,bins=none",
    ],
)
def test_text_and_back(text: str) -> None:
    assert str(as_sanitizer(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("laplace", "laplace needs epsilon; got 'laplace'. Write laplace:epsilon=0.5."),
        ("gaussian:bins=3", "gaussian needs sigma"),
        ("laplace:epsilon=nan", "epsilon must be greater than 0 .*; got nan"),
        ("laplace:epsilon=much", "epsilon cannot be 'much'"),
        ("laplace:sigma=1", "no parameter of laplace 'sigma'"),
    ],
)
def test_bad_text(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        as_sanitizer(text)
