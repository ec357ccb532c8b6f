"""Several tables of a plan are one that the others are joined to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from indiff import Plan, UserError, read_plan
from indiff.audit.plan.plan_text import as_toml

PEOPLE = {"path": "people.csv", "on": ["id", "visit"], "quasi": ["age"]}
VISITS = {"path": "visits.csv", "quasi": "ward", "sensitive": "ill", "kinds": {"ward": "ordinal"}}
DRUGS = {"path": "drugs.csv", "other": ["dose"], "orders": {"ward": ["a", "b"]}}


def test_columns_of_all_tables_are_said_once() -> None:
    data = Plan(data=[PEOPLE, VISITS, DRUGS]).data
    assert (data.path, data.join, data.on) == (
        "people.csv",
        ["visits.csv", "drugs.csv"],
        ["id", "visit"],
    )
    assert (data.quasi, data.sensitive, data.other) == (["age", "ward"], ["ill"], ["dose"])
    assert (data.kinds, data.orders) == ({"ward": "ordinal"}, {"ward": ["a", "b"]})
    assert data.individual == "id"


def test_a_plan_is_read_beside_its_tables_and_written_again(tmp_path: Path) -> None:
    text = """
    [[data]]
    path = "people.csv"
    on = "id"
    [[data]]
    path = "more/visits.csv"
    sensitive = "ill"
    """
    (tmp_path / "plan.toml").write_text(text)
    plan = read_plan(tmp_path / "plan.toml")
    assert plan.data.join == [str(tmp_path / "more/visits.csv")]
    assert plan.files == (plan.data.path, plan.data.join[0])
    (tmp_path / "again.toml").write_text(as_toml(plan.model_dump(exclude_unset=True)))
    assert read_plan(tmp_path / "again.toml").data == plan.data


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], r"\[\[data\]\] names a table each time"),
        ([PEOPLE, "visits.csv"], r"\[\[data\]\] names a table each time"),
        ([PEOPLE, {"sensitive": "ill"}], r"table 2 of \[\[data\]\] needs a path"),
        ([PEOPLE, {**VISITS, "encoding": "cp1252"}], r"encoding is said once, of the first table"),
        ([PEOPLE, {**VISITS, "individual": "id"}], r"individual is said once"),
        ([{**PEOPLE, "on": []}, VISITS], r"only join=. Give both"),
        ([{**PEOPLE, "sensitive": "ill"}], r"only on=. Give both"),
        ([{**PEOPLE, "individual": "age"}, VISITS], r"individual= names another column"),
        ({"join": "a.csv", "sensitive": "ill"}, r"only join=. Give both"),
    ],
)
def test_what_cannot_be_joined_is_refused(data: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        Plan(data=data)
