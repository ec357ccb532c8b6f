"""What reports say of a finding, as tables: its badge, what decides, numbers and parameters."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from indiff.audit.metrics import metric
from indiff.report import finding as words
from indiff.report.finding import Limit, Rule
from indiff.report.plain_words import recommendation

AT_MOST: dict[str, Any] = {"name": "delta", "rule": "at most", "value": 0.4}
AT_LEAST: dict[str, Any] = {"name": "k", "rule": "at least", "value": 5.0}

READ = ", cells read as covering a value or not (encoding TF-TF)"


def one(who: str = "tree", **more: Any) -> dict[str, Any]:
    usual = {
        "id": f"delta:ill:{who}", "metric": "delta", "about": "ill", "question": "inference",
        "status": "measured", "value": 0.2, "exceeded": False, "limit": AT_MOST,
    }  # fmt: skip
    return usual | more


@pytest.mark.parametrize(
    ("more", "badge"),
    [
        ({"exceeded": True}, ("limit exceeded", "bad", 0)),
        ({"exceeded": True, "status": "failed"}, ("limit exceeded", "bad", 0)),
        ({"status": "failed", "exceeded": None}, ("failed", "bad", 1)),
        ({"status": "failed", "limit": None, "exceeded": None}, ("failed", "bad", 1)),
        ({"exceeded": None}, ("not decided", "unsure", 1)),
        ({}, ("limit kept", "good", 2)),
        ({"limit": None, "exceeded": None}, ("no limit", "plain", 3)),
        ({"status": "skipped", "exceeded": None}, ("not measured", "unsure", 4)),
        ({"status": "skipped", "limit": None, "exceeded": None}, ("not measured", "unsure", 4)),
    ],
)
def test_badges(more: Any, badge: Any) -> None:
    assert words.badge(one(**more)) == badge


@pytest.mark.parametrize(
    ("rule", "limit", "value", "times"),
    [
        ("at most", 0.5, 1.0, 2.0),
        ("at most", 0.5, 0.25, 0.5),
        ("at most", 0.5, 0.5, 1.0),
        ("at most", 0.0, 0.5, math.inf),
        ("at most", 0.0, 0.0, 1.0),
        ("at most", 0.5, math.inf, math.inf),
        ("at most", 0.5, math.nan, math.inf),
        ("at least", 6, 2, 3.0),
        ("at least", 5, 5, 1.0),
        ("at least", 5, 10, 0.5),
        ("at least", 5, 0, math.inf),
        ("at least", 0, math.inf, 0.0),
    ],
)
def test_how_many_times_what_is_allowed(
    rule: Rule, limit: float, value: float, times: float
) -> None:
    assert words.overshoot(rule, limit, value) == times


MILD, WORST = one("mild", value=0.5, exceeded=True), one("worst", value=0.9, exceeded=True)
UNKNOWN = one("unknown", value=None, status="failed", exceeded=None)
UNSURE, NEARER = one("unsure", exceeded=None), one("nearer", value=0.3, exceeded=None)
KEPT, CLOSE = one("kept"), one("close", value=0.35)
WIDE = one("wide", value=0.1, interval=[0.0, 0.8], exceeded=True)


@pytest.mark.parametrize(
    ("several", "decides"),
    [
        ([MILD, WORST], WORST),
        ([WORST, MILD], WORST),
        ([MILD, WIDE], WIDE),  # the worse end of an interval counts
        ([KEPT, MILD], MILD),
        ([UNKNOWN, MILD], MILD),
        ([UNKNOWN, UNSURE], UNKNOWN),
        ([UNSURE, UNKNOWN, KEPT], UNKNOWN),
        ([CLOSE, UNSURE], UNSURE),
        ([UNSURE, NEARER], NEARER),
        ([KEPT, CLOSE], CLOSE),
        ([KEPT, one("strongest")], one("strongest")),
        ([one("strongest"), KEPT], one("strongest")),
        ([MILD, one("strongest")], MILD),
    ],
)
def test_what_decides_about_a_limit(several: Any, decides: Any) -> None:
    assert words.deciding(several) == [decides]
    assert words.deciding(several[::-1]) == [decides]


def test_a_smallest_value_is_decided_by_the_least() -> None:
    def k(value: float, **more: Any) -> dict[str, Any]:
        return one(f"{value}", metric="k", limit=AT_LEAST, value=value, exceeded=True, **more)

    assert words.deciding([k(4), k(2), k(3)]) == [k(2)]
    wide = k(9, interval=[1, 20])
    assert words.deciding([k(4), wide, k(3)]) == [wide]


def test_limits_of_their_own_are_decided_apart() -> None:
    other = one(about="income")
    rows = one(metric="k", about=None, id="k"), one(metric="k", about=None, id="k:pay")
    assert words.deciding([KEPT, other, *rows]) == [KEPT, other, *rows]
    assert words.deciding([one(metric="mean"), KEPT]) == [one(metric="mean"), KEPT]


def measured(name: str, value: float, limit: Limit | None, exceeded: bool, id: str) -> Any:
    about = {"about": "ill", "model": "tree"}
    made = metric(name, **about).found(id, value, about, about="ill", exactness="exact")
    return dataclasses.replace(made, limit=limit, exceeded=exceeded)


def test_the_gravest_first_and_only_what_exceeds() -> None:
    delta, mean = Limit("delta", "at most", 0.5), Limit("mean", "at most", 0.1)
    mild = measured("delta", 0.6, delta, True, "delta:ill:tree")
    grave = measured("mean", 0.9, mean, True, "mean:ill:tree")
    kept = measured("quantile", 0.1, Limit("quantile", "at most", 0.5), False, "quantile")
    assert [found.id for found in words.gravest([mild, kept, grave])] == [grave.id, mild.id]
    assert words.gravest([kept]) == []


def test_a_glance_counts_limits_and_what_was_measured() -> None:
    listed = [
        one(), one("knn"), one(metric="mean", id="mean:ill"), one(metric="t", id="t", limit=None,
        exceeded=None), one(metric="l", id="l", status="skipped", limit=None, exceeded=None),
    ]  # fmt: skip
    (line,) = words.glance(listed)
    assert (line.question, line.title) == ("inference", "Inference")
    assert line.look == "good"
    assert line.says == "2 limits kept, 1 not measured, 4 measured"
    k = one(
        question="singling-out", metric="k", id="k", limit=None, exceeded=None, status="skipped"
    )
    first, second = words.glance([*listed, k])
    assert (first.question, first.look, first.says) == ("singling-out", "unsure", "1 not measured")
    assert second == line
    assert words.glance([]) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "–"), (0, "0"), (5, "5"), (999_999, "999,999"), (1_000_000, "1.00e+06"),
        (12_345_678, "1.23e+07"), (0.5, "0.5"),
    ],
)  # fmt: skip
def test_numbers_of_a_comparison(value: Any, said: str) -> None:
    assert words.compared_number(value) == said
    assert len(said) <= 8


@pytest.mark.parametrize(
    ("models", "against", "encoded"),
    [
        ([], "", ""),
        (["frequency"], ", against frequency alone", ""),
        (["tree"], ", against tree alone", READ),
        (["a", "b", "frequency"], ", against a, b and frequency alone", READ),
        (["naive-bayes", "frequency", "tree"], "", READ),
        (["naive-bayes", "frequency", "tree", "knn"], "", READ),
        (["frequency", "knn:encoding=Scaling-Hot"],
         ", against frequency and knn:encoding=Scaling-Hot alone", ""),
        (["tree", "knn:encoding=Scaling-Hot"],
         ", against tree and knn:encoding=Scaling-Hot alone", READ),
    ],
)  # fmt: skip
def test_against_whom(models: Any, against: str, encoded: str) -> None:
    assert (words.against(models), words.encoded(models)) == (against, encoded)


def test_a_setting_without_numbers_says_why() -> None:
    assert words.setting_note({"reason": "too few", "models": ["tree"]}) == "too few"
    assert words.setting_note({"reason": None, "models": ["tree"]}) == "against tree alone"
    assert words.setting_note({}) == ""


def test_what_is_recommended_is_the_setting_of_that_name() -> None:
    rows = [
        {"setting": "first", "models": ["frequency"], "k": 100},
        {"setting": "second", "models": ["tree"], "k": None},
    ]
    document: dict[str, Any] = {
        "rows": rows, "recommended": "second", "limits": {"delta": 0.1, "k": 5}, "records": 100,
        "utility": "ncp",
    }  # fmt: skip
    said = recommendation(document)
    assert said == (
        f"second keeps delta at most 0.1, k at least 5, against tree alone{READ}, "
        "and of those that do it keeps most by NCP"
    )
    assert recommendation(document | {"recommended": "first"}).endswith(
        "BUT all its records look alike: nothing can be learned from its columns"
    )
    assert recommendation(document | {"recommended": None}) == (
        "no setting keeps delta at most 0.1, k at least 5: try stronger ones"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "not set"), ("", "(empty text)"), ("a text", "a text"), (True, "yes"), (False, "no"),
        (5, "5"), (5.0, "5"), (0.25, "0.25"), ([], "none"), ((), "none"), ({}, "none"),
        (["a", "", None, 2], "a, (empty text), not set, 2"), (set(), "none"), ({1}, "{1}"),
    ],
)  # fmt: skip
def test_parameters_as_lines(value: Any, said: str) -> None:
    assert words.flat({"here": value}) == [("here", said)]
    assert words.flat({"here": {"there": value}, "x": 1}) == [("here.there", said), ("x", "1")]


def test_parameters_that_were_measured_are_rounded_and_counts_are_not() -> None:
    told = {"area": 0.123456789, "records": 1234567, "whole": 1234567.0}
    assert words.flat(told, digits=3) == [
        ("area", "0.123"), ("records", "1234567"), ("whole", "1234567"),
    ]  # fmt: skip
    assert words.flat({"area": 0.123456789}) == [("area", "0.123456789")]


def test_a_number_has_as_many_digits_as_tell_it_from_its_limit() -> None:
    near = one(value=0.4000001)
    assert (words.measured(near), words.limited(near)) == ("0.4000001", "at most 0.4")
    free = one(value=0.4000001, limit=None)
    assert (words.measured(free), words.limited(free)) == ("0.4", "")
    assert words.measured(one(status="failed", value=None)) == "failed"


def test_few_records_are_fewer_than_ten() -> None:
    assert words.MIN_CELL == 10
    assert words.PROMISE[True] == "met"
    assert words.PROMISE[False].startswith("NOT met")
    assert set(words.UTILITY_COLUMNS) == set(words.MEASURES) == {
        "ncp", "discernibility", "average_group", "accuracy",
    }  # fmt: skip
