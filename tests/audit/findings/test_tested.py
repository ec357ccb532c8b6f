"""What a test says in an audit: how many are above the limit, and in which columns they show."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa

import indiff
from indiff.audit.findings.tested import findings_of
from indiff.report.sheet import columns, ten_lines


def planned(limit: float, sanitizer: str = "mondrian:k=5") -> indiff.Plan:
    return indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": ["ill"]},
        release={"sanitizer": sanitizer},
        adversary={"models": ["frequency"]},
        limits={"delta": limit},
    )


def audited(limit: float, sanitizer: str = "mondrian:k=5") -> indiff.AuditResult:
    rng = np.random.default_rng(2)
    frame = pa.table(
        {
            "age": rng.integers(20, 80, 200),
            "sex": rng.choice(["F", "M"], 200),
            "ill": rng.choice(["a", "b", "c"], 200),
        }
    )
    return indiff.run_audit(planned(limit, sanitizer), frame)


def test_who_is_exposed_is_counted() -> None:
    result = audited(0.4)
    (test,) = result.results
    above = sum(1 for distance in test.distances if distance > 0.4)
    assert 0 < above < 200
    assert result.finding("delta:ill:frequency").parameters["above_limit"] == above
    exposed = dict(ten_lines(result.document))["Who is exposed"]
    share = f"{100 * above / 200:g}"
    assert exposed.startswith(f"For {above} of 200 records ({share}%), an adversary learns more ")


def test_nobody_above_the_limit_is_not_counted() -> None:
    assert "above the limit" not in dict(ten_lines(audited(2.0).document))["Who is exposed"]


def test_what_every_row_shows_as_it_is_is_not_called_coarser() -> None:
    assert dict(columns(audited(2.0, "identity").document)) == {
        "Published as they are": ["age", "sex", "ill"]
    }
    told = dict(columns(audited(2.0, "suppress").document))
    assert told == {"Published in coarser form": ["age", "sex"], "Published as they are": ["ill"]}


def test_the_quantile_of_an_estimate_lies_between_its_ends() -> None:
    """Of 200 distances the 198th is the 99% quantile; so of their lower and of their upper ends."""
    (exact,) = audited(0.4).results
    upper = np.arange(200) / 100
    estimate = dataclasses.replace(exact, lower=upper / 2, upper=upper)
    found = {one.metric: one for one in findings_of(estimate, planned(0.4))}
    assert found["quantile"].interval == (1.97 / 2, 1.97)
