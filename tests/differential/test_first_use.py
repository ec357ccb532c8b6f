"""A field that is worked out on first use: once, not before, and for copies in other processes."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields, replace

import indiff
from indiff.data.table import Table
from indiff.differential.first_use import OnFirstUse


@dataclass(frozen=True, eq=False)
class Held:
    """An object with such a field among others."""

    number: int
    text: OnFirstUse[str] = OnFirstUse()  # noqa: RUF009 - a descriptor
    more: int = 3


def test_it_is_worked_out_once_and_not_before() -> None:
    calls: list[int] = []

    def make() -> str:
        calls.append(1)
        return "made"

    held = Held(1, make)
    assert (held.number, held.more, calls) == (1, 3, [])
    assert (held.text, held.text, calls) == ("made", "made", [1])
    assert replace(held, number=2).text == "made"
    assert [one.name for one in fields(held)] == ["number", "text", "more"]


def test_a_copy_for_another_process_has_the_value_alone() -> None:
    held = Held(1, lambda: "made")  # which could not be pickled itself
    copy = pickle.loads(pickle.dumps(held))
    assert copy.text == "made"
    assert copy.__dict__["_text"] == "made"


def test_a_test_whose_fingerprint_nobody_asks_for_makes_none() -> None:
    table = indiff.read_table(
        indiff.datasets.demo(records=200), quasi=["age", "sex"], sensitive="diagnosis"
    )
    result = indiff.differential_test(table, "mondrian:k=5", model="naive-bayes")
    assert isinstance(result, indiff.DifferentialResult)
    assert "fingerprint" not in vars(table)  # a cached property
    assert result.fingerprint == table.fingerprint == result.to_dict()["fingerprint"]
    assert isinstance(table, Table)
    assert "fingerprint" in vars(table)
