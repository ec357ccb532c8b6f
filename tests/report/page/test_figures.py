"""What the sentences above charts say, for none, one, some and all."""

from __future__ import annotations

from typing import Any

import pytest

from indiff.report.page.figures import figures
from tests.report.documents import usual


def summaries(**charts: Any) -> dict[str, str]:
    """Return what is said of each chart of a document with these charts."""
    made = usual()
    made["charts"] |= charts
    return {one.id: one.summary for one in figures(made)}


def risk(*moves: tuple[float, float]) -> list[dict[str, Any]]:
    return [
        {"metric": f"m{place}", "about": "age", "before": before, "after": after, "range": [0, 1]}
        for place, (before, after) in enumerate(moves)
    ]


@pytest.mark.parametrize(
    ("moves", "said"),
    [
        ([(0.9, 0.5), (0.8, 0.1)], "Of the 2 risk metrics in this chart, sanitizing lowers all and "
         "raises none. The largest afterwards is m0 of age: 0.5, from 0.9."),
        ([(0.9, 0.5), (0.1, 0.8), (0.2, 0.2)], "Of the 3 risk metrics in this chart, sanitizing "
         "lowers 1 and raises 1. The largest afterwards is m1 of age: 0.8, from 0.1."),
        ([(0.5, 0.5)], "Of the 1 risk metric in this chart, sanitizing lowers none and raises "
         "none. The largest afterwards is m0 of age: 0.5, from 0.5."),
    ],
)  # fmt: skip
def test_what_sanitizing_did_to_the_risk(moves: list[tuple[float, float]], said: str) -> None:
    assert summaries(risk=risk(*moves))["risk"] == said


def points(*deltas: float) -> dict[str, Any]:
    own = [
        {"setting": f"mondrian:k={k}", "value": k, "delta": delta, "mean": delta, "reason": None}
        for k, delta in enumerate(deltas, 2)
    ]
    return {"parameter": "k", "points": own}


def test_settings_that_come_to_the_same_are_all_named() -> None:
    said = summaries(parameter=points(2, 1.9999999, 0.5))["parameter"]
    assert said == (
        "Of 3 settings of k, δ is smallest with k = 4 (0.5) and largest with k = 2 and k = 3 (2)."
    )
    assert summaries(parameter=points(1, 1))["parameter"] == (
        "All 2 settings of k that were measured have the same δ (1)."
    )


def curve(name: str, *distances: float) -> dict[str, Any]:
    share = [(place + 1) / len(distances) for place in range(len(distances))]
    return {"name": name, "x": list(distances), "y": share}


def test_curves_are_named_by_their_adversary_and_by_more_only_where_needed() -> None:
    one = [curve("ill: tree", 0.1, 0.2), curve("ill: knn", 0, 0.3)]
    assert summaries(cdf=one)["cdf"] == (
        "tree: no record has a distance of exactly 0, half have at most 0.1, and the largest is "
        "0.2. knn: 50% of the records have a distance of exactly 0, half have at most 0, and the "
        "largest is 0.3."
    )
    two = [curve("ill: tree", 0.1, 0.2), curve("pay: tree", 0.2, 0.3)]
    assert "pay: tree: no record has" in summaries(cdf=two)["cdf"]


def test_which_column_tells_most() -> None:
    rows = [
        {"column": "age", "metric": "DR", "before": 0.6, "after": 0.1},
        {"column": "zip", "metric": "DR", "before": 0.5, "after": 0.4},
    ]
    assert summaries(columns=rows)["columns"] == (
        "Before sanitizing, the column age tells most on its own (DR 0.6); afterwards it is zip "
        "(0.4)."
    )
    rows[1]["after"] = 0
    assert "own (DR 0.6), and it still does afterwards (0.1)." in summaries(columns=rows)["columns"]
