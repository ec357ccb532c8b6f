"""The words that terminal, page, Markdown and notebook share."""

from __future__ import annotations

from typing import Any, get_args

from indiff.report import finding as words
from indiff.report.finding import Question


def finding(**more: Any) -> dict[str, Any]:
    limit = {"name": "k", "rule": "at least", "value": 5.0}
    usual = {"question": "singling-out", "status": "measured", "value": 7.0, "exceeded": False}
    return {**usual, "limit": limit, **more}


EXCEEDED = finding(value=2.0, exceeded=True)
UNDECIDED = finding(exceeded=None)
FAILED = finding(status="failed", value=None, exceeded=None)
SKIPPED = finding(status="skipped", value=None, exceeded=None, limit=None)
FREE = finding(limit=None, exceeded=None)


def test_every_question_has_words() -> None:
    assert set(words.QUESTIONS) == set(get_args(Question))


def test_a_glance_says_the_worst_first_and_wears_its_look() -> None:
    (line,) = words.glance([FREE, SKIPPED, finding(), UNDECIDED, FAILED, EXCEEDED, EXCEEDED])
    assert line.look == "bad"
    assert line.says == (
        "1 limit exceeded, 1 failed, 1 not decided, 1 within limit, 1 not measured, 5 measured"
    )
    assert words.glance([{**FREE, "question": "table"}]) == []
    assert [line.look for line in words.glance([FREE])] == ["plain"]
    assert [line.look for line in words.glance([finding(), UNDECIDED])] == ["unsure"]


def test_the_headline_counts_limits() -> None:
    def said(*findings: dict[str, Any]) -> str:
        return words.headline({"findings": findings})

    assert said(FREE) == "no limit given"

    def on(name: str, one: dict[str, Any]) -> dict[str, Any]:
        return {**one, "limit": {"name": name, "rule": "at most", "value": 5.0}}

    kept = finding()
    assert said(on("k", kept), on("l", kept)) == "2 of 2 limits kept"
    assert said(on("a", EXCEEDED), on("b", FAILED), on("c", UNDECIDED), on("d", kept)) == (
        "1 of 4 limits exceeded, 1 not measured, 1 not decided"
    )


def test_a_limit_on_many_findings_is_one_limit() -> None:
    """δ by three adversaries has one limit, which one of them exceeds."""
    assert words.headline({"findings": [finding(), EXCEEDED, UNDECIDED]}) == (
        "1 of 1 limit exceeded"
    )
    assert words.headline({"findings": [finding(), UNDECIDED]}) == "1 of 1 limit not decided"
    assert words.headline({"findings": [finding()] * 15}) == "1 of 1 limit kept"


def test_a_value_does_not_read_like_the_limit_that_it_exceeds() -> None:
    near = finding(value=5.00001, limit={"name": "d", "rule": "at most", "value": 5.0})
    assert (words.measured(near), words.limited(near)) == ("5.00001", "at most 5")
    assert (words.measured(SKIPPED), words.limited(SKIPPED)) == ("skipped", "")


def test_a_recommendation_says_where_nothing_can_be_learned() -> None:
    """All 100 records in one group keep any limit on δ, and tell nothing."""
    row = {"setting": "suppress", "models": ["frequency", "naive-bayes", "tree"], "k": 100}
    document = {
        "rows": [row], "recommended": "suppress", "limits": {"delta": 0.1}, "records": 100,
        "utility": "ncp",
    }  # fmt: skip
    assert "nothing can be learned from its columns" in words.recommendation(document)
    document["rows"] = [{**row, "k": 50}]
    assert "nothing can be learned" not in words.recommendation(document)
    assert "with encoding TF-TF" in words.recommendation(document)
