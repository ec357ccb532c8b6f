"""The words that terminal, page, Markdown and notebook share."""

from __future__ import annotations

from typing import Any, get_args

from indiff.report import finding as words
from indiff.report.finding import Question


def finding(**more: Any) -> dict[str, Any]:
    limit = {"name": "k", "rule": "at least", "value": 5.0}
    usual = {"question": "singling-out", "status": "measured", "value": 7.0, "exceeded": False}
    usual |= {"id": "k", "metric": "k", "about": None}
    return {**usual, "limit": limit, **more}


EXCEEDED = finding(value=2.0, exceeded=True)
UNDECIDED = finding(exceeded=None)
FAILED = finding(status="failed", value=None, exceeded=None)
SKIPPED = finding(status="skipped", value=None, exceeded=None, limit=None)
FREE = finding(limit=None, exceeded=None)


def test_every_question_has_words() -> None:
    assert set(words.QUESTIONS) == set(get_args(Question))


def test_a_glance_says_the_worst_first_and_wears_its_look() -> None:
    listed = [FREE, SKIPPED, finding(), UNDECIDED, FAILED, EXCEEDED]
    apart = [{**one, "id": f"{place}"} for place, one in enumerate(listed)]
    (line,) = words.glance([*apart, apart[-1]])  # one limit that two adversaries exceed
    assert line.look == "bad"
    assert line.says == (
        "1 limit exceeded, 1 failed, 1 not decided, 1 limit kept, 1 not measured, 5 measured"
    )
    assert words.glance([{**FREE, "question": "table"}]) == []
    assert [line.look for line in words.glance([FREE])] == ["plain"]
    assert [line.look for line in words.glance([finding(id="l"), UNDECIDED])] == ["unsure"]


def test_of_several_adversaries_the_worst_decides_about_a_limit() -> None:
    """δ by three adversaries has one limit; the strongest stands for an equal one."""
    at_most = {"name": "delta", "rule": "at most", "value": 0.4}

    def delta(who: str, value: float | None, exceeded: bool | None) -> dict[str, Any]:
        status = "failed" if value is None else "measured"
        one = finding(id=f"delta:ill:{who}", metric="delta", about="ill", limit=at_most)
        return {**one, "value": value, "exceeded": exceeded, "status": status}

    mild, worst = delta("bayes", 0.5, exceeded=True), delta("tree", 2.0, exceeded=True)
    same, kept = delta("strongest", 2.0, exceeded=True), delta("knn", 0.1, exceeded=False)
    unknown, unsure = delta("mlp", None, exceeded=None), delta("forest", 0.2, exceeded=None)
    k = finding(id="k", metric="k", about=None)
    assert words.deciding([k, mild, worst, same, kept, unknown]) == [k, same]
    assert words.deciding([kept, unsure, unknown]) == [unknown]
    assert words.deciding([kept, unsure]) == [unsure]
    assert words.deciding([{**one, "limit": None} for one in (k, mild)]) == []


def test_a_value_does_not_read_like_the_limit_that_it_exceeds() -> None:
    near = finding(value=5.00001, limit={"name": "d", "rule": "at most", "value": 5.0})
    assert (words.measured(near), words.limited(near)) == ("5.00001", "at most 5")
    assert (words.measured(SKIPPED), words.limited(SKIPPED)) == ("skipped", "")
