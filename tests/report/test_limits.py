"""The table of limits, and the line that counts its rows."""

from __future__ import annotations

from typing import Any

import pytest

from indiff.report.limits import headline, limit_rows
from tests.report.test_finding import EXCEEDED, FAILED, FREE, UNDECIDED, finding


def document(*findings: dict[str, Any]) -> dict[str, Any]:
    parts = {"title": "Smallest group", "exactness": "exact"}
    return {"findings": [{**parts, **one} for one in findings]}


def on(name: str, one: dict[str, Any]) -> dict[str, Any]:
    limit = {"name": name, "rule": "at most", "value": 5.0}
    return {**one, "limit": limit, "id": name, "metric": name}


KEPT = finding()


@pytest.mark.parametrize(
    ("findings", "said"),
    [
        ([FREE], "no limit given"),
        ([KEPT], "1 of 1 limit kept"),
        ([KEPT, EXCEEDED, UNDECIDED], "1 of 1 limit exceeded"),
        ([KEPT, UNDECIDED], "1 of 1 limit not decided"),
        ([KEPT] * 15, "1 of 1 limit kept"),
        ([on("k", KEPT), on("l", KEPT)], "2 of 2 limits kept"),
        (
            [on("a", EXCEEDED), on("b", FAILED), on("c", UNDECIDED), on("d", KEPT)],
            "1 of 4 limits exceeded, 1 not measured, 1 not decided",
        ),
        (
            [{**EXCEEDED, "about": "ill"}, {**EXCEEDED, "about": "income"}],
            "2 of 2 limits exceeded",
        ),
    ],
)
def test_the_headline_counts_the_rows(findings: list[dict[str, Any]], said: str) -> None:
    made = document(*findings)
    assert headline(made) == said
    assert said == "no limit given" or f"of {len(limit_rows(made))} limit" in said


def test_what_is_not_exact_says_so_beside_its_number() -> None:
    (row,) = limit_rows(document({**UNDECIDED, "exactness": "lower-bound"}))
    assert (row.measured, row.outcome, row.source) == (
        "7 (lower bound)",
        "not decided",
        "this plan",
    )
