"""Who is exposed: counted against the limit, with right guesses, and who is told in."""

from __future__ import annotations

from typing import Any

from indiff.report.exposed import above_limit, exposed
from indiff.report.sheet import verdict_reasons
from tests.report.documents import usual


def failing() -> dict[str, Any]:
    made = usual()
    delta = next(one for one in made["findings"] if one["metric"] == "delta" and one["exceeded"])
    delta |= {"about": "diagnosis"}
    delta["parameters"] |= {"above_limit": 25, "records_tested": 5000}
    return made


def beside(made: dict[str, Any], metric: str, model: str, value: float, **more: Any) -> None:
    own = {"id": f"{metric}:{model}", "metric": metric, "about": "diagnosis", "value": value}
    own |= {"limit": None, "exceeded": None, "status": "measured", "interval": None}
    made["findings"].append(made["findings"][-1] | own | {"parameters": {"model": model, **more}})


def test_the_verdict_first_says_for_how_many_people_a_limit_is_exceeded() -> None:
    made = failing()
    told = (
        "For 25 of 5,000 records (0.5%), an adversary learns more about diagnosis than the limit "
        "on δ allows."
    )
    assert above_limit(made) == [told]
    assert verdict_reasons(made)[0] == told
    for one in made["findings"]:
        one["exceeded"] = False
    assert above_limit(made) == []


def test_how_often_guesses_are_right_and_how_well_members_are_told() -> None:
    made = failing()
    assert "is right for" not in exposed(made)
    beside(made, "told_by_the_crowd", "tree", 0.15, accuracy_with_record=0.35)
    beside(made, "told_by_the_crowd", "naive-bayes", 0.19, accuracy_with_record=0.21)
    beside(made, "advantage", "tree", 0.49)
    beside(made, "advantage", "frequency", 0.6)
    told = exposed(made)
    assert (
        "the best guess of tree at diagnosis is right for 35% of those tested, and for 15% without "
        "their own record." in told
    )
    assert told.endswith(
        "told best, to one who knows the person's diagnosis too, by frequency: with an advantage "
        "of 0.6 (0 is guessing, 1 certainty)."
    )
