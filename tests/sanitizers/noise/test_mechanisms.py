"""Noisy tables and randomized response as releases: what is published, and when it is private."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.errors import UserError
from indiff.release.reading import read_release
from indiff.sanitizers.noise import draws as noise
from indiff.sanitizers.noise.mechanisms import NoisySanitizer, NotDifferentiallyPrivate, OnGrid

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


# Bad input


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
