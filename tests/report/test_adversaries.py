"""Adversaries side by side: how each works, whom it exposes, and its numbers with intervals."""

from __future__ import annotations

from typing import Any

import pytest

from indiff.inference.models import MODELS
from indiff.report.adversaries import WORKS, exposes, listed, side_by_side
from indiff.report.markdown import render as markdown
from indiff.report.page.html import render
from tests.report.documents import finding, usual


def number(metric: str, model: str, value: float, **more: Any) -> dict[str, Any]:
    parameters = {"model": model, **more.pop("parameters", {})}
    return finding(metric, f"{metric}:ill:{model}", value, parameters=parameters, **more)


def delta(model: str, above: int, tested: int = 50, **more: Any) -> dict[str, Any]:
    about = {"above_limit": above, "records_tested": tested}
    return number("delta", model, 0.5, parameters=about, **more)


def test_every_adversary_that_can_be_named_is_told_by_how_it_works() -> None:
    assert set(WORKS) == set(MODELS)
    assert all(f"({name})" in listed(MODELS) for name in MODELS)


@pytest.mark.parametrize(
    ("above", "told"),
    [
        ((), ""),
        ((3,), ""),  # of a single one the sentence before says it
        ((0, 0), "exposes nobody, one who asks one question after the other (tree) nobody."),
        ((1, 50), "exposes 1 (2%), one who asks one question after the other (tree) 50 (100%)."),
    ],
)
def test_whom_each_exposes(above: tuple[int, ...], told: str) -> None:
    names = ("naive-bayes", "tree")
    said = exposes([delta(*one) for one in zip(names, above, strict=False)])
    assert said.endswith(told)
    assert bool(said) == bool(told)


def test_each_is_a_row_and_each_kind_of_number_a_column() -> None:
    table = side_by_side(
        [
            delta("naive-bayes", 6, 5000),
            number("mean", "naive-bayes", 0.02, interval=[0.01, 0.03]),
            delta("mine.Model", 0, 5000),
            finding("k", "k", 5),
        ]
    )
    assert [(one.name, one.works, one.above) for one in table.rows] == [
        ("naive-bayes", "weighs each column by itself", "6 of 5,000"),
        ("mine.Model", "", "0 of 5,000"),
    ]
    assert [cell.text for cell in table.rows[0].cells] == ["0.5", "0.02 (0.01 to 0.03)"]
    assert table.rows[1].cells[1].text == "not computed"
    assert side_by_side([finding("k", "k", 5)]).rows == ()


def test_the_body_has_intervals_and_both_reports_the_table() -> None:
    made = usual()
    made["charts"] = dict.fromkeys(made["charts"]) | {"worst": []}
    made["findings"].append(
        number("mean", "tree", 0.59, exactness="estimate", interval=[0.58, 0.61])
    )
    body, _, _ = render(made).partition('id="appendix"')
    assert "0.59 (0.58 to 0.61)" in body
    assert (
        "| tree, who asks one question after the other | not computed | 0.59 (0.58 to 0.61) "
        "| estimate |" in markdown(made)
    )
