"""What a test says in an audit: how many are above the limit, and in which columns they show."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import indiff
from indiff.audit.findings.tested import (
    _reasons,
    _the_rest,
    accuracy,
    findings_of,
    findings_of_strongest,
    memberships,
    unlinked,
    worst_records,
)
from indiff.audit.metrics import percent
from indiff.audit.redaction import Redaction
from indiff.differential.strongest import strongest
from indiff.inference import as_model
from indiff.report.sheet import columns, ten_lines
from indiff.sanitizers.sanitizer import as_sanitizer


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


def built(distances: Any, **more: Any) -> indiff.DifferentialResult:
    """A result of as many records as distances, of whom half have each of two values."""
    each = np.array(distances, float)
    size = len(each)
    beliefs = np.tile([0.75, 0.25], (size, 1))
    usual: dict[str, Any] = {
        "distances": each, "beliefs": beliefs, "beliefs_without": beliefs[:, ::-1],
        "records": np.arange(size), "classes": np.array([0, 0, 0, 1], np.int32)[:size],
        "sensitive_name": "ill", "sensitive_values": ("a", "b"), "sanitizer": "mondrian:k=2",
        "model": "frequency", "distance": "wasserstein", "method": "refit", "exactness": "exact",
        "table_size": size, "fingerprint": "0", "requested": size, "largest": 2.0,
    }  # fmt: skip
    return indiff.DifferentialResult(**usual | more)


def told(found: Any) -> dict[str, Any]:
    return {one.metric: one for one in found}


def test_the_numbers_of_an_exact_test() -> None:
    found = told(findings_of(built([0.0, 0.25, 0.5, 1.0]), planned(0.25)))
    delta, mean, quantile = (found[name] for name in ("delta", "mean", "quantile"))
    assert (delta.value, mean.value, quantile.value) == (1.0, 0.4375, 1.0)
    assert (delta.interval, mean.interval, quantile.interval) == (None, None, None)
    assert delta.range == mean.range == quantile.range == (0.0, 2.0)
    assert delta.parameters["above_limit"] == 2  # of four, ¼ is within
    assert "above_limit" not in mean.parameters
    wanted = {"records_tested": 4, "records_requested": 4, "failures": 0, "model": "frequency"}
    assert {name: delta.parameters[name] for name in wanted} == wanted
    assert "runs" not in delta.parameters
    failing = findings_of(built([0.5], failures=("no", "neither")), planned(1))
    assert told(failing)["delta"].parameters["failures"] == 2
    changed = found["changed_predictions"]
    assert (changed.value, changed.exactness, changed.range) == (100.0, "exact", (0, 100))
    crowd = found["told_by_the_crowd"]
    # Without the record the second value is the likelier one, which one in four has.
    assert crowd.value == 0.25
    assert crowd.parameters["baseline"] == 0.75
    assert crowd.parameters["accuracy_with_record"] == 0.75
    assert crowd.parameters["belief_in_true_value"] == 0.375
    assert "right for 75%" in crowd.means


def test_the_limits_of_an_estimate() -> None:
    lower, upper = np.array([0.0, 0.1, 0.2, 0.5]), np.array([0.1, 0.3, 0.4, 1.2])
    sampled = built(
        [0.0, 0.2, 0.3, 0.9], lower=lower, upper=upper, exactness="estimate", runs=9,
        confidence=0.9, change_chances=np.full(4, 0.5), change_limits=(0.25, 0.75),
    )  # fmt: skip
    found = told(findings_of(sampled, planned(0.25)))
    assert found["delta"].interval == (0.5, 1.2)
    assert found["mean"].interval == pytest.approx((0.2, 0.5))
    assert found["quantile"].interval == (0.5, 1.2)
    assert found["changed_predictions"].interval == (25.0, 75.0)
    assert found["delta"].parameters["above_limit"] == 3
    assert (found["delta"].parameters["runs"], found["delta"].parameters["confidence"]) == (9, 0.9)
    assert "by about 0.9" in found["delta"].means
    part = told(findings_of(dataclasses.replace(sampled, exactness="lower-bound"), planned(1)))
    assert part["delta"].interval is None
    assert part["changed_predictions"].exactness == "lower-bound"


@pytest.mark.parametrize(
    ("exactness", "changed"),
    [
        ("exact", "estimate"),
        ("estimate", "estimate"),
        ("lower-bound", "lower-bound"),
        ("approximation", "approximation"),
    ],
)
def test_changed_predictions_are_no_surer_than_their_test(exactness: Any, changed: str) -> None:
    drawn = built([0.5, 0.5], exactness=exactness, change_limits=(0.0, 1.0))
    assert told(findings_of(drawn, planned(1)))["changed_predictions"].exactness == changed
    sure = built([0.5, 0.5], exactness=exactness)
    assert told(findings_of(sure, planned(1)))["changed_predictions"].exactness == exactness


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "One person's own record shifts a guess at their ill by 0.5 of at most 2."),
        ({"exactness": "lower-bound"}, "by at least 0.5 of at most 2."),
        ({"exactness": "lower-bound", "largest": 0.5}, "by 0.5 of at most 0.5."),
        ({"exactness": "estimate"}, "by about 0.5 of at most 2."),
        ({"exactness": "approximation"}, "by about 0.5 of at most 2."),
        ({"largest": np.inf}, "by 0.5, on an open scale."),
    ],
)
def test_how_far_and_how_sure_in_words(more: Any, said: str) -> None:
    delta = told(findings_of(built([0.0, 0.5], **more), planned(1)))["delta"]
    assert delta.means.endswith(said)
    assert delta.range == (0.0, None if more.get("largest") == np.inf else more.get("largest", 2.0))


def test_the_rest_is_said_of_those_beyond_99_percent() -> None:
    assert _the_rest(0.5, 0.5) == {
        "rest_of_them": ", which is the most for any of them", "rest_of_none": "",
    }  # fmt: skip
    assert _the_rest(0.0, 0.5) == {
        "rest_of_them": "; for the others by more, up to 0.5",
        "rest_of_none": "; for the others it shifts one by up to 0.5",
    }
    assert _the_rest(0.0, np.inf) == {
        "rest_of_them": "; for the others by more, without bound",
        "rest_of_none": "; for the others it shifts one without bound",
    }


def test_the_strongest_of_two() -> None:
    one, other = built([0.0, 0.5, 0.25, 0.0]), built([0.25, 0.0, 0.0, 1.0], model="tree")
    both = strongest({"frequency": one, "tree": other})
    found = told(findings_of_strongest(both, planned(0.25)))
    assert set(found) == {"delta", "mean", "changed_predictions"}
    assert (found["delta"].value, found["mean"].value) == (1.0, 0.5)
    assert (found["delta"].interval, found["mean"].interval) == (None, None)
    assert found["delta"].parameters["above_limit"] == 2
    assert found["delta"].parameters["models"] == ["frequency", "tree"]
    ends: Any = {"lower": np.full(4, 0.125), "upper": np.full(4, 0.75), "exactness": "estimate"}
    drawn = strongest({"frequency": dataclasses.replace(one, **ends), "tree": other})
    found = told(findings_of_strongest(drawn, planned(0.25)))
    assert found["delta"].interval == (1.0, 1.0)
    assert found["mean"].interval == (0.0, pytest.approx((0.75 * 3 + 1) / 4))


def test_without_a_limit_nobody_is_counted_above_it() -> None:
    plan = planned(1).model_copy(update={"limits": {}})
    assert "above_limit" not in told(findings_of(built([0.5]), plan))["delta"].parameters


def test_ties_within_rounding_are_shared() -> None:
    """Two of three values tie but for rounding; the third record's top value is clear."""
    beliefs = np.array([[0.4, 0.4 - 4e-13, 0.2], [0.4, 0.4 - 4e-13, 0.2], [0.1, 0.2, 0.7]])
    assert accuracy(beliefs, np.array([0, 1, 2])) == pytest.approx((0.5 + 0.5 + 1) / 3)
    assert accuracy(beliefs, np.array([2, 2, 0])) == 0


@pytest.mark.parametrize("method", ["sampled", "closed-form", "refit"])
def test_membership_needs_beliefs_that_somebody_sees(method: str) -> None:
    result = built([0.5, 0.5, 0.25, 0.0], method=method)
    found = memberships([result], planned(1), str)[0]
    assert found.id == "advantage:ill:frequency"
    assert found.status == ("measured" if method == "refit" else "skipped")
    if method == "refit":
        again = indiff.membership_inference(result, confidence=0.95, seed=0)
        assert found.value == again.advantage.value
        assert found.interval == (again.advantage.lower, again.advantage.upper)
        assert found.exactness == "estimate"
        told = again.true_positives_at
        assert found.parameters["area_interval"] == [again.area.lower, again.area.upper]
        assert found.parameters["true_positives_interval"] == {
            str(rate): [one.lower, one.upper] for rate, one in told.items()
        }
        assert all(one.lower < one.upper for one in (*told.values(), again.area))
        at = [told[rate].value for rate in (0.01, 0.001)]
        assert f"at most 1% of those outside it finds {percent(at[0])} " in found.means
        assert f"for at most 0.1%, {percent(at[1])} " in found.means
        part = dataclasses.replace(result, table_size=9)
        assert memberships([part], planned(1), str)[0].exactness == "lower-bound"
        short = dataclasses.replace(result, failures=("no",))
        assert memberships([short], planned(1), str)[0].exactness == "lower-bound"


def test_membership_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ValueError("it broke")

    monkeypatch.setattr("indiff.audit.findings.tested.membership_inferences", fail)
    found = memberships([built([0.5])], planned(1), str)[0]
    assert (found.status, found.reason) == ("failed", "it broke")


def test_how_many_fit_no_row() -> None:
    assert unlinked(0) == "Every record fits some row."
    assert unlinked(1) == "1 record fits no row."
    assert unlinked(2) == "2 records fit no row."


def worst(sanitizer: Any, individual: str | None = None, model: str = "naive-bayes") -> Any:
    rng = np.random.default_rng(2)
    frame = pa.table(
        {"who": [str(x // 2) for x in range(40)], "age": rng.integers(20, 40, 40),
         "sex": rng.choice(["F", "M"], 40), "ill": rng.choice(["a", "b"], 40)}
    )  # fmt: skip
    table = indiff.read_table(frame, identifier="who", quasi=["age", "sex"], sensitive="ill")
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": ["ill"], "individual": individual},
        adversary={"models": [model]}, report={"worst": 3},
    )  # fmt: skip
    made = as_sanitizer(sanitizer)
    runs: Any = {"runs": 3} if made.randomized else {}
    result = indiff.differential_test(table, made, model=model, individual=individual, **runs)
    return result, worst_records(table, made, result, plan, Redaction(table))


def test_the_worst_records_say_why() -> None:
    result, found = worst("mondrian:k=4")
    assert [one["record"] for one in found] == [one["record"] for one in result.worst(3)]
    for one in found:
        assert (one["about"], one["model"]) == ("ill", "naive-bayes")
        assert one["why"].startswith("Without it, ")
        assert "without record" not in one["why"]
        assert one["group_size"] >= 4
        assert one["log_odds"] is not None
    _, people = worst("mondrian:k=4", "who")
    assert {one["group_size"] for one in people} == {None}
    assert {one["why"] for one in people} == {
        "all records of this person are left out at once, so no single group explains it"
    }
    _, noisy = worst("laplace:epsilon=1", model="frequency")
    assert {one["why"] for one in noisy} == {
        "the release or the adversary is random, so no single group explains it"
    }


def test_each_of_the_worst_is_explained_by_whom_it_is_worst_for() -> None:
    """Only naive Bayes adds log-odds: frequency has none to tell of the records that it sees."""
    rng = np.random.default_rng(3)
    frame = pa.table(
        {"age": rng.integers(20, 40, 60), "sex": rng.choice(["F", "M"], 60),
         "ill": rng.choice(["a", "b"], 60)}
    )  # fmt: skip
    table = indiff.read_table(frame, quasi=["age", "sex"], sensitive="ill")
    models = ["naive-bayes", "frequency"]
    plan = indiff.Plan(
        data={"quasi": ["age", "sex"], "sensitive": ["ill"]},
        adversary={"models": models}, report={"worst": 60},
    )  # fmt: skip
    made = as_sanitizer("mondrian:k=4")
    both = indiff.differential_test(table, made, model=models)
    found = worst_records(table, made, both, plan, Redaction(table))
    assert {one["model"] for one in found} == set(models)
    for one in found:
        assert (one["log_odds"] is not None) == (one["model"] == "naive-bayes")


class Moody(indiff.Identity):
    """A sanitizer that says that two releases may differ, and is no noisy table."""

    randomized = True


@pytest.mark.parametrize("model", ["frequency", "forest"])
def test_chance_leaves_nothing_to_explain_wherever_it_is(model: str) -> None:
    """In the sanitizer or in the adversary: one of them is enough."""
    frame = pa.table({"age": [1, 2, 3, 4], "sex": list("ffmm"), "ill": list("abab")})
    table = indiff.read_table(frame, quasi=["age", "sex"], sensitive="ill")
    made = Moody() if model == "frequency" else indiff.Identity()
    reasons = _reasons(table, made, as_model(model), [1, 2], planned(1), Redaction(table))
    assert list(reasons) == [1, 2]
    assert {one.why for one in reasons.values()} == {
        "the release or the adversary is random, so no single group explains it"
    }
    sure = _reasons(
        table, indiff.Identity(), as_model("frequency"), [1], planned(1), Redaction(table)
    )
    assert sure[1].why.startswith("Without it, ")
