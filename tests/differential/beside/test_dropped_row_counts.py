"""One release beside its original: who is measured, what is counted and said, by hand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from indiff import UserError, read_table, test_release

TABLE = read_table(
    pa.table({"id": [1, 2, 3, 4], "age": [20, 30, 40, 50], "ill": list("abab")}),
    quasi=["age"], sensitive="ill", identifier="id",
)  # fmt: skip


def released(ages: list[str], ids: list[int], ill: str) -> pa.Table:
    return pa.table({"id": ids, "age": ages, "ill": list(ill)})


@pytest.mark.parametrize("model", ["frequency", "naive-bayes", "tree"])
def test_who_is_covered_with_and_without_their_row(model: str) -> None:
    """20 is covered by its own row alone, 30 and 40 by two rows, 50 by none, its own included."""
    ages, ids = ["20", "[30, 40]", "[30, 40]", "[60, 70]"], [1, 2, 3, 4]
    found = test_release(TABLE, released(ages, ids, "abab"), key="id", model=model)
    assert found.linkage.candidates.tolist() == [1, 2, 2, 0]
    assert found.test is not None
    if model != "tree":  # which looks at no region
        assert (found.test.uncovered, found.test.uncovered_without) == (1, 2)
    assert found.test.generalized_without == 0
    assert found.test.constraint_met is None
    assert 0 < found.seconds < 60
    assert 0 < found.test.seconds < 60
    assert (found.test.requested, found.test.table_size, found.table_size) == (4, 4, 4)
    told = " ".join(found.test.notes)
    assert "no released row to drop" not in told
    assert "lower bound" not in told
    assert (
        "4 of 4 records have a released row of their own; 3 of these rows cover their record, 4 "
        "have its sensitive value"
    ) in found.notes


@pytest.mark.parametrize("model", ["frequency", "naive-bayes"])
def test_one_other_row_is_enough_to_be_covered(model: str) -> None:
    """30 is covered by its own row and one other, 20 and 40 by one row each, their own."""
    ages = ["20", "30", "[30, 40]", "[60, 70]"]
    found = test_release(TABLE, released(ages, [1, 2, 3, 4], "abab"), key="id", model=model)
    assert found.linkage.candidates.tolist() == [1, 2, 1, 0]
    assert found.test is not None
    assert (found.test.uncovered, found.test.uncovered_without) == (1, 3)
    assert not any("rows for 4 records" in note for note in found.notes)  # as many of both


def test_records_that_look_alike_have_rows_of_their_own() -> None:
    """Without the row that says 20 nobody is a there; without the other the tree is the same."""
    table = read_table(
        pa.table({"id": [*range(6)], "age": [20, 20, 22, 24, 60, 60], "ill": list("aabbaa")}),
        quasi=["age"], sensitive="ill", identifier="id",
    )  # fmt: skip
    made = released(["20", "60", "22", "24", "60", "60"], [*range(6)], "aabbaa")
    found = test_release(table, made, key="id", model="tree").test
    assert found is not None
    assert found.distances[0] > 0.5
    assert found.distances[1] == 0


def test_who_has_no_row_is_not_measured_and_said() -> None:
    found = test_release(TABLE, released(["20", "30", "40"], [1, 2, 9], "aba"), key="id")
    assert found.test is not None
    assert found.test.records.tolist() == [0, 1]
    assert found.test.requested == 2
    assert "2 records have no released row to drop: not measured" in found.test.notes
    assert "1 released rows have a key that no record of the table has" in found.notes
    some = test_release(
        TABLE, released(["20", "30", "40", "50"], [1, 2, 3, 4], "abab"), key="id", targets=[2, 1]
    )
    assert some.test is not None
    assert some.test.records.tolist() == [2, 1]
    assert not any("no released row to drop" in note for note in some.test.notes)
    assert any(note.startswith("2 of 4 records were measured: ") for note in some.test.notes)


def test_two_rows_are_enough_and_one_is_not() -> None:
    assert test_release(TABLE, released(["20", "30"], [1, 2], "ab")).test is None
    with pytest.raises(UserError, match="a release needs at least 2 rows to be tested; 'frame'"):
        test_release(TABLE, released(["20"], [1], "a"))


@pytest.mark.parametrize(
    ("ages", "said"),
    [(["20", "30", "60", "70"], False), (["20", "60", "70", "80"], True)],
)
def test_where_most_are_covered_by_nothing_another_model_is_named(ages: Any, said: bool) -> None:
    """Two of four are not most."""
    found = test_release(TABLE, released(ages, [1, 2, 3, 4], "abab"))
    assert any(note.startswith("most records are covered by no") for note in found.notes) == said


def test_more_rows_than_records_are_said() -> None:
    ages = ["20", "30", "40", "50"]
    for more, said in (([], False), (["50"], True)):
        rows = [*ages, *more]
        frame = pa.table({"age": rows, "ill": list("ababb")[: len(rows)]})
        notes = test_release(TABLE, frame).notes
        assert ("the release has 5 rows for 4 records" in notes) == said


@pytest.mark.parametrize("blank", [0, 2, 3])
def test_a_row_that_says_nothing_is_nobodys(blank: int) -> None:
    """It is left out, and the rows after it are still those of their records."""
    cells: dict[str, list[Any]] = {"age": ["20", "30", "40", "50"], "ill": list("abab")}
    for column in cells.values():
        column[blank] = "*"
    found = test_release(TABLE, pa.table(cells), rows_in_order=True)
    assert found.test is not None
    others = [row for row in range(4) if row != blank]
    assert found.test.records.tolist() == others
    said = "3 of 4 records have a released row of their own; 3 of these rows cover their record, 3"
    assert any(note.startswith(said) for note in found.notes)


def test_a_value_that_all_records_hold_is_nothing_to_learn() -> None:
    same = pa.table({"age": [20, 30, 40], "ill": ["a"] * 3})
    table = read_table(same, quasi=["age"], sensitive="ill")
    with pytest.raises(UserError, match="needs at least 2 values; 'ill' has 1"):
        test_release(table, same)


def test_a_key_and_an_order_are_one_too_many() -> None:
    with pytest.raises(UserError, match="rows are matched by key= or by rows_in_order=, not by"):
        test_release(TABLE, TABLE.source, key="id", rows_in_order=True)
