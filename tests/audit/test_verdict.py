"""The verdict: directions, estimates, gaps; what was not measured never passes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import indiff
from indiff.audit.compare import LIMITS
from indiff.audit.metrics import METRICS, metric
from indiff.audit.plan.limits import (
    GROUP_MODELS,
    INFORMATION,
    SIZES,
    check_limit_names,
    limit_names,
)
from indiff.audit.verdict import (
    Check,
    Exit,
    Verdict,
    judge,
    judge_tests,
    rule_of,
    with_columns,
)
from indiff.errors import UserError
from indiff.release.unmeasured import Unmeasured
from indiff.report.finding import Finding
from indiff.report.plain_words import recommendation


def found(name: Any, value: Any, *, about: Any = "ill", **more: Any) -> Any:
    chosen = metric(name, about=about, model="m")
    words = {"about": about, "model": "m", "largest": "2", "baseline": "1 %", "dropped": "No"}
    words["ground"] = "by ranks"
    return chosen.found(f"{name}:{about}", value, words, about=about, **more)


def missed(name: Any, status: Any = "failed") -> Any:
    return metric(name, about="ill", model="m").missed(name, status, "it broke", about="ill")


@pytest.mark.parametrize(
    ("name", "value", "limit", "code"),
    [
        ("delta", 0.1, 0.1, 0),
        ("delta", 0.10000001, 0.1, 1),
        ("delta", 0.0, 0.0, 0),
        ("t", 0.3, 0.2, 1),
        ("t", 0.1, 0.2, 0),
        ("inference.itpr", 0.9, 0.5, 1),
        ("k", 5, 5, 0),
        ("k", 4, 5, 1),
        ("l", 1.9, 2, 1),
        ("entropy_l", 3.0, 2, 0),
        ("entropy_l", 1.0, 2, 1),
        ("distinct_l", 1, 2, 1),
        ("changed_predictions", 5.0, 4.0, 1),
        ("delta", math.nan, 0.1, 1),
        ("k", math.nan, 5, 1),
        ("delta", math.inf, 1e9, 1),
    ],
)
def test_directions(name: Any, value: Any, limit: Any, code: Any) -> None:
    (checked,), verdict = judge([found(name, value)], {name: limit})
    assert verdict.exit_code == code
    assert checked.exceeded == bool(code)
    assert verdict.status == ("fail" if code else "pass")


def test_risk_and_audit_agree_on_every_direction() -> None:
    assert {name: rule_of(name) for name in METRICS} == {n: one.rule for n, one in METRICS.items()}
    assert rule_of("inference.ill.h_conditional") == "at least"
    assert rule_of("reidentification.h_normalised") == "at least"


# What more of is better: people in a group, values in it, and uncertainty that is left.
MORE_IS_BETTER = {
    "k",
    "l",
    "distinct_l",
    "entropy_l",
    "h_conditional",
    "h_normalised",
    "accuracy",
    "keys.k",
    "population.k_map",
    "population.presence_low",
    "population.smallest",
}


@pytest.mark.parametrize("name", [*METRICS, *SIZES, *GROUP_MODELS, *INFORMATION])
def test_every_limit_is_read_the_right_way_round(name: str) -> None:
    better = name in MORE_IS_BETTER
    assert rule_of(name) == ("at least" if better else "at most")
    assert Check(name, 2.0, 1.0, rule_of(name)).exceeded is not better
    assert Check(name, 1.0, 2.0, rule_of(name)).exceeded is better
    assert Check(name, math.nan, 2.0, rule_of(name)).exceeded


@given(value=st.floats(0, 10), limit=st.floats(0, 10))
def test_at_least_and_at_most_are_opposites(value: Any, limit: Any) -> None:
    _, most = judge([found("delta", value)], {"delta": limit})
    _, least = judge([found("k", value)], {"k": limit})
    assert most.exit_code == (0 if value <= limit else 1)
    assert least.exit_code == (0 if value >= limit else 1)


def test_an_estimate_is_checked_at_its_worse_end() -> None:
    _, verdict = judge([found("delta", 0.1, interval=(0.0, 0.3))], {"delta": 0.2})
    assert verdict.exit_code == 1
    assert "may be 0.3, above the limit 0.2" in verdict.reasons[0]
    _, verdict = judge([found("delta", 0.1, interval=(0.0, 0.15))], {"delta": 0.2})
    assert verdict.exit_code == 0


def test_a_lower_bound_below_the_limit_is_no_pass() -> None:
    (below,), verdict = judge([found("delta", 0.1, exactness="lower-bound")], {"delta": 0.2})
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)
    assert below.exceeded is None  # whoever reads the finding alone must not take it for kept
    (above,), verdict = judge([found("delta", 0.3, exactness="lower-bound")], {"delta": 0.2})
    assert (verdict.status, verdict.exit_code) == ("fail", 1)
    assert above.exceeded is True


@pytest.mark.parametrize("limits", [{}, {"delta": 0.1}, {"k": 5}])
def test_a_failed_finding_is_never_a_pass(limits: Any) -> None:
    _, verdict = judge([found("k", 7), missed("delta")], limits)
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)
    assert any("could not be measured: it broke" in reason for reason in verdict.reasons)


def test_a_failed_finding_beside_an_exceeded_one_is_a_fail() -> None:
    _, verdict = judge([found("k", 2), missed("delta")], {"k": 5, "delta": 0.1})
    assert (verdict.status, verdict.exit_code) == ("fail", 1)


def test_a_skipped_finding_matters_only_with_a_limit() -> None:
    _, verdict = judge([found("k", 7), missed("delta", "skipped")], {"k": 5})
    assert (verdict.status, verdict.exit_code) == ("pass", 0)
    _, verdict = judge([found("k", 7), missed("delta", "skipped")], {"delta": 0.1})
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)


def test_one_cause_is_one_reason() -> None:
    limits = {"delta": 1, "mean": 1, "k": 1, "t": 1}
    findings = [missed("k"), missed("t"), missed("delta", "skipped"), missed("mean", "skipped")]
    _, verdict = judge(findings, limits)
    assert verdict.reasons == (
        "Smallest group (k) and 1 more could not be measured: it broke",
        "no limit on Differential test of ill: δ by m and 1 more could be checked: it broke",
    )


def test_a_limit_on_nothing_is_no_pass() -> None:
    _, verdict = judge([found("k", 7)], {"t": 0.2})
    assert verdict.exit_code == 3
    assert "the limit on t was not checked" in verdict.reasons[0]


def test_without_limits_nothing_is_exceeded_and_the_reason_says_so() -> None:
    _, verdict = judge([found("k", 1)], {})
    assert (verdict.status, verdict.exit_code) == ("no-limits", 0)
    assert verdict.reasons == ("no limit was given, so nothing could be exceeded",)


def test_an_unmet_constraint_never_passes() -> None:
    _, verdict = judge([found("k", 100)], {"k": 5}, broken=["the release breaks its own promise"])
    assert (verdict.status, verdict.exit_code) == ("fail", 1)
    _, verdict = judge([found("k", 100)], {}, broken=["the release breaks its own promise"])
    assert verdict.exit_code == 1


def test_interrupted() -> None:
    _, verdict = judge([found("k", 7)], {"k": 5}, interrupted=True)
    assert (verdict.status, verdict.exit_code) == ("incomplete", 130)
    _, verdict = judge([found("k", 2)], {"k": 5}, interrupted=True)
    assert verdict.exit_code == 1


@pytest.mark.parametrize("limits", [{}, {"k": 5}])
def test_an_unfinished_test_is_no_pass(limits: Any) -> None:
    _, verdict = judge([found("k", 7)], limits, unfinished=["2 of 3 were measured"])
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)
    assert verdict.reasons == ("2 of 3 were measured",)


def test_an_approximation_below_the_limit_is_no_pass() -> None:
    _, verdict = judge([found("delta", 0.1, exactness="approximation")], {"delta": 0.2})
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)


def test_the_narrowest_limit_counts() -> None:
    findings = [found("inference.itpr", 0.6, about="ill"), found("inference.itpr", 0.6, about="x")]
    checked, verdict = judge(findings, {"itpr": 0.5, "inference.ill.itpr": 0.7})
    assert [one.exceeded for one in checked] == [False, True]
    assert [one.limit and one.limit.name for one in checked] == ["inference.ill.itpr", "itpr"]
    assert verdict.exit_code == 1


def test_a_number_that_reads_like_its_limit_is_written_in_full() -> None:
    _, verdict = judge([found("delta", 0.1000001)], {"delta": 0.1})
    assert "0.1000001, above the limit 0.1" in verdict.reasons[0]


def test_unknown_limits() -> None:
    with pytest.raises(UserError, match=r"no limit 'delte': did you mean 'delta'\? Known: k, "):
        check_limit_names(["delte"], ["ill"])
    with pytest.raises(UserError, match="no limit 'records'"):
        check_limit_names(["records"], ["ill"])
    with pytest.raises(UserError, match=r"no sensitive attribute 'well'.*Known: ill"):
        check_limit_names(["inference.well.itpr"], ["ill"])
    check_limit_names([*limit_names(), "inference.ill.dr"], ["ill"])


def test_a_finding_has_a_value_or_a_reason() -> None:
    common: Any = {"id": "x", "metric": "k", "question": "table", "title": "x"}
    words: Any = {"means": "", "does_not_prove": "", "source": ""}
    with pytest.raises(ValueError, match="a value is there if and only if"):
        Finding(**common, **words, status="failed", value=1.0, reason="no")
    with pytest.raises(ValueError, match="needs a reason"):
        Finding(**common, **words, status="skipped")


def test_a_limit_that_cannot_be_exceeded_is_no_pass() -> None:
    """Where only the table tells how large a distance can be."""
    _, verdict = judge([found("delta", 0.5, range=(0, 2))], {"delta": 3})
    assert (verdict.status, verdict.exit_code) == ("incomplete", 3)
    assert "above its largest value, 2" in verdict.reasons[0]


def test_a_limit_on_an_estimate_without_an_interval_is_no_pass() -> None:
    one = found("changed_predictions", 1.0, exactness="estimate")
    (checked,), verdict = judge([one], {"changed_predictions": 5})
    assert (verdict.status, checked.exceeded) == ("incomplete", None)
    assert "an estimate without an interval" in verdict.reasons[0]
    (checked,), verdict = judge([one], {"changed_predictions": 0.5})
    assert (verdict.status, checked.exceeded) == ("fail", True)


def test_a_limit_on_what_was_not_measured_is_no_pass() -> None:
    plan = indiff.Plan(
        data={"quasi": ["sex"], "sensitive": "diagnosis"},
        adversary={"membership": False},
        limits={"advantage": 0.5},
    )
    result = indiff.run_audit(plan, indiff.datasets.demo(records=100))
    assert (result.verdict["status"], result.verdict["exit_code"]) == ("incomplete", 3)
    assert "the limit on advantage was not checked" in result.verdict["reasons"][0]


def test_changed_predictions_of_runs_are_judged_by_their_upper_end() -> None:
    table = indiff.read_table(
        indiff.datasets.demo(records=100), quasi=["sex"], sensitive="diagnosis"
    )
    tested = indiff.differential_test(
        table, "mondrian:k=5", method="sampled", runs=5, model="frequency"
    )
    assert tested.changed_predictions < 30
    verdict = judge_tests([tested], {"changed_predictions": 30})
    assert verdict.exit_code == 1  # five runs show little
    assert "changed_predictions of diagnosis may be" in verdict.reasons[0]
    assert judge_tests([tested], {"changed_predictions": 100}).exit_code == 0
    assert judge_tests([tested], {"changed_predictions": 101}).exit_code == 3
    assert judge_tests([tested], {"mean": 2}).exit_code == 0


def test_what_compare_recommends_names_the_direction_that_the_verdict_checks() -> None:
    for name in LIMITS:
        document = {"limits": {name: 1.0}, "recommended": None}
        assert f"{name} {rule_of(name)} 1" in recommendation(document)


def test_a_sentence_names_the_limit_and_what_counts() -> None:
    (checked,), _ = judge([found("delta", 0.93)], {"delta": 0.5})
    assert checked.means.endswith("; you allowed at most 0.5.")
    (checked,), _ = judge([found("k", 4)], {"k": 5})
    assert checked.means.endswith("who look alike; you asked for at least 5.")
    (checked,), _ = judge([found("k", 1)], {"k": 5})
    assert checked.means.endswith("; as a number it is 1, and you asked for at least 5.")
    (checked,), _ = judge([found("marketer", 0.154)], {"marketer": 0.09})
    assert checked.means.endswith("; as a number it is 0.154, and you allowed at most 0.09.")
    (checked,), _ = judge([found("delta", 0.3, interval=(0.2, 0.6))], {"delta": 0.5})
    assert checked.means.endswith(
        "; you allowed at most 0.5, and the worse end of its interval, 0.6, counts."
    )
    (checked,), _ = judge([found("delta", 0.50001)], {"delta": 0.5})
    assert checked.means.endswith("; as a number it is 0.50001, and you allowed at most 0.5.")


def test_one_reason_is_said_once() -> None:
    """Five numbers of a release made elsewhere are approximations for one and the same reason."""
    names = ("delta", "mean", "quantile")
    limits = dict.fromkeys(names, 2.0)
    _, verdict = judge([found(name, 0.1, exactness="approximation") for name in names], limits)
    assert len(verdict.reasons) == 1
    assert " and 2 more are an approximation" in verdict.reasons[0]


def test_a_column_that_names_people_fails_wherever_it_stands() -> None:
    named, other = Unmeasured("who", True, "is an identifier"), Unmeasured("x", False, "")
    kept = Verdict(Exit.NOTHING_EXCEEDED, ("every limit is kept",))
    for columns in ([named], [other, named], [named, other], [other, named, other]):
        assert with_columns(kept, columns).status == "fail"
    assert with_columns(kept, [other]).status == "incomplete"
    assert with_columns(kept, []) is kept
    # What is worse than incomplete stays so.
    for code in (Exit.EXCEEDED, Exit.INTERRUPTED, Exit.INCOMPLETE):
        assert with_columns(Verdict(code, ()), [other]).exit_code == code


def _delta(who: str, value: float, about: str = "ill") -> Finding:
    chosen = metric("delta", about=about, model=who)
    words = {"about": about}
    return chosen.found(f"delta:{about}:{who}", value, words, about=about, exactness="exact")


def test_the_gravest_reason_comes_first_and_a_limit_is_named_once() -> None:
    k = metric("k").found("k", 4, exactness="exact")
    found = [k, _delta("bayes", 0.5), _delta("tree", 2.0), _delta("tree", 0.8, "income")]
    _, verdict = judge(found, {"k": 5, "delta": 0.4})
    first, second, third = verdict.reasons
    assert first == "Differential test of ill: δ by tree is 2, above the limit 0.4"
    assert second.startswith("Differential test of income: δ by tree is 0.8")
    assert third == "Smallest group (k) is 4, below the limit 5"
    assert verdict.status == "fail"


def test_what_is_without_bound_is_the_gravest() -> None:
    found = [_delta("tree", 0.8), _delta("tree", float("inf"), "income")]
    _, verdict = judge(found, {"delta": 0.4})
    assert "income" in verdict.reasons[0]
    assert len(verdict.reasons) == 2
