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
        "2 limits exceeded, 1 failed, 1 not decided, 1 within limit, 1 not measured, 5 measured"
    )
    assert words.glance([{**FREE, "question": "table"}]) == []
    assert [line.look for line in words.glance([FREE])] == ["plain"]
    assert [line.look for line in words.glance([finding(), UNDECIDED])] == ["unsure"]


def test_the_headline_counts_limits() -> None:
    def said(*findings: dict[str, Any]) -> str:
        return words.headline({"findings": findings})

    assert said(FREE) == "no limit given"
    assert said(finding(), finding()) == "2 of 2 limits kept"
    assert said(EXCEEDED, FAILED, UNDECIDED, finding()) == (
        "1 of 4 limits exceeded, 1 not measured, 1 not decided"
    )


def test_a_value_does_not_read_like_the_limit_that_it_exceeds() -> None:
    near = finding(value=5.00001, limit={"name": "d", "rule": "at most", "value": 5.0})
    assert (words.measured(near), words.limited(near)) == ("5.00001", "at most 5")
    assert (words.measured(SKIPPED), words.limited(SKIPPED)) == ("skipped", "")
