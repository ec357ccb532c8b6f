"""The report and a comparison as Markdown: nothing of theirs is read as markup."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from indiff.report.markdown import escaped, render, render_comparison, sentence
from tests.report.documents import hostile, usual

EVIL = "<img src=x> | [a](http://b) *c* `d` & $e$\n# f"


def comparison(setting: str, **more: Any) -> dict[str, Any]:
    measures = dict.fromkeys(
        ("mean", "itpr", "k", "l", "t", "ncp", "discernibility", "average_group", "accuracy")
    )
    row = {"setting": setting, "delta": 0.5, **measures, "on_front": True, "status": "measured"}
    row["models"] = ["naive-bayes"]
    return {
        "rows": [row, {**row, "status": "failed", "reason": setting, "on_front": False}],
        "limits": {"delta": 0.5}, "recommended": setting, "utility": "ncp", "task": setting,
        "before": {"accuracy": 0.75}, "accuracy_majority": 0.25, **more,
    }  # fmt: skip


def whole(document: dict[str, Any]) -> dict[str, Any]:
    """Add what an audit's document always has and the page can do without."""
    charts = document["charts"]
    charts["worst"] = [{"about": EVIL, **row} for row in charts["worst"]]
    for point in charts["parameter"]["points"]:
        point.setdefault("reason", None)
    return document


def test_the_same_document_gives_the_same_text_of_whole_lines() -> None:
    text = render(whole(usual()))
    assert text == render(whole(usual()))
    assert text.endswith("\n")
    assert "\n\n\n" not in text
    for line in text.splitlines():
        assert line == line.rstrip()


@cache
def evil(kind: str) -> str:
    return render(whole(hostile())) if kind == "report" else render_comparison(comparison(EVIL))


@pytest.mark.parametrize("kind", ["report", "comparison"])
def test_nothing_of_a_table_is_read_as_markup(kind: str) -> None:
    ours = evil(kind).replace("\\\\", "")
    for markup in ("<", ">", "[", "]", "*"):
        for place, letter in enumerate(ours):
            if letter == markup and ours[place - 1] != "\\":
                line = ours[ours.rfind("\n", 0, place) + 1 : ours.find("\n", place)]
                assert line.startswith(("**", "> **")), line


def test_rows_of_a_table_have_as_many_cells_as_it_has_heads() -> None:
    for kind in ("report", "comparison"):
        cells = 0
        for line in evil(kind).splitlines():
            count = line.replace("\\|", "").count("|") if line.startswith("|") else 0
            assert not (cells and count) or count == cells, line
            cells = count


def test_a_comparison_says_what_failed_and_what_to_take() -> None:
    text = render_comparison(comparison("mondrian:k=5"))
    assert "| mondrian:k=5 | 0.5 | – |" in text
    assert "- mondrian:k=5 failed: mondrian:k=5\n" in text
    assert "- Recommended: mondrian:k=5 keeps delta at most 0.5, against naive-bayes" in text
    assert "(0.75 from the original records, 0.25 by the most frequent value).\n" in text
    assert "Recommended" not in render_comparison(comparison("mondrian:k=5", limits={}))


def test_what_is_no_sentence_is_escaped_altogether() -> None:
    assert escaped("a-b:c") == "a\\-b\\:c"
    assert sentence("a-b:c") == "a-b:c"
