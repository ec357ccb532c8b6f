"""Who is unique after a join is counted as its definition says: nobody else has the same rows."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import UserError, join_tables, read_table, unique_after_join
from indiff.risk.identifying.after_join import _same_rows


def test_by_hand() -> None:
    """Nobody is alone by sex or by wards, but only 1 is a woman who was in A twice."""
    people = pa.table({"id": [1, 2, 3, 4], "sex": list("ffmm"), "ill": list("xyxy")})
    visits = pa.table({"id": [1, 1, 2, 3, 3, 4], "ward": list("AABAAB")})
    table = read_table(
        join_tables([people, visits], on="id"), quasi=["sex", "ward"], sensitive="ill"
    )
    found = unique_after_join(table)
    assert found.to_dict() == {
        "people": 4,
        "tables": {
            "table 1": {"people": 4, "by_one_row": 0, "by_all_rows": 0},
            "table 2": {"people": 4, "by_one_row": 0, "by_all_rows": 0},
        },
        "by_one_row": 4, "by_all_rows": 4, "only_by_one_row": 4, "only_by_all_rows": 4,
    }  # fmt: skip


def test_how_often_tells_where_one_row_does_not() -> None:
    people = pa.table({"id": [1, 2, 3], "sex": list("fff"), "ill": list("xyx")})
    visits = pa.table({"id": [1, 1, 2, 3], "ward": list("AAAA")})
    table = read_table(
        join_tables([people, visits], on="id"), quasi=["sex", "ward"], sensitive="ill"
    )
    found = unique_after_join(table)
    assert (found.by_one_row, found.by_all_rows, found.only_by_all_rows) == (0, 1, 0)
    assert found.tables[1].by_all_rows == 1


def test_the_join_tells_what_goes_with_what() -> None:
    """Both were in A and in B, and had an operation and none; one of them had it in A."""
    people = pa.table({"p": [1, 2], "ill": list("xy")})
    visits = pa.table({"p": [1, 1, 2, 2], "v": [1, 2, 3, 4], "ward": list("ABAB")})
    done = pa.table({"v": [1, 2, 3, 4], "operated": list("ynny")})
    view = join_tables([people, visits, done], on=["p", "v"])
    found = unique_after_join(read_table(view, quasi=["ward", "operated"], sensitive="ill"))
    assert [one.by_all_rows for one in found.tables] == [0, 0, 0]
    assert (found.by_all_rows, found.only_by_all_rows) == (2, 2)
    assert (found.by_one_row, found.only_by_one_row) == (2, 2)


def test_one_person_is_unique_by_everything() -> None:
    people = pa.table({"p": [1], "sex": ["f"], "ill": ["x"]})
    visits = pa.table({"p": [1, 1, 1], "ward": list("ABC")})
    view = join_tables([people, visits], on="p")
    found = unique_after_join(read_table(view, quasi=["sex", "ward"], sensitive="ill"))
    assert [(one.by_one_row, one.by_all_rows) for one in found.tables] == [(1, 1), (1, 1)]
    assert (found.people, found.by_one_row, found.by_all_rows, found.only_by_one_row) == (
        1,
        1,
        1,
        0,
    )


@pytest.mark.parametrize(("people", "rows", "most"), [(40, 130, 4), (200, 1000, 3), (90, 400, 9)])
def test_the_same_rows_equally_often_are_one_number(people: int, rows: int, most: int) -> None:
    rng = np.random.default_rng(people)
    owner, kinds = rng.integers(0, people, rows), rng.integers(0, most, rows)
    numbers = _same_rows(owner, kinds, people).tolist()
    held = [frozenset(Counter(kinds[owner == one].tolist()).items()) for one in range(people)]
    for one, other in combinations(range(people), 2):
        assert (numbers[one] == numbers[other]) == (held[one] == held[other])


def test_one_table_has_no_join() -> None:
    with pytest.raises(UserError, match="this is one table"):
        unique_after_join(read_table(pa.table({"a": [1, 2], "s": ["x", "y"]}), sensitive="s"))


def alone(views: dict[Any, Any]) -> set[Any]:
    return {
        one for one, view in views.items() if sum(view == other for other in views.values()) == 1
    }


def by_one(rows: dict[Any, list[Any]]) -> set[Any]:
    return {
        one
        for one, own in rows.items()
        if any(all(row not in other for p, other in rows.items() if p != one) for row in own)
    }


@pytest.mark.parametrize("seed", range(100))
def test_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))

    def letters(size: int) -> list[str | None]:
        return [None if rng.random() < 0.1 else str(one) for one in rng.integers(0, 3, size)]

    people = pa.table({"p": np.arange(count), "a": letters(count), "s": list("xy" * count)[:count]})
    visits = int(rng.integers(1, 16))
    second: dict[str, Any] = {
        "p": rng.integers(0, count + 1, visits),
        "v": np.arange(visits),
        "b": letters(visits),
    }
    size = int(rng.integers(1, 16))
    key = (
        {"v": rng.integers(0, visits + 1, size)}
        if seed % 2
        else {"p": rng.integers(0, count, size)}
    )
    tables = [people, pa.table(second), pa.table(key | {"c": letters(size)})]
    view = join_tables(tables, on=["p", "v"])
    found = unique_after_join(read_table(view, quasi=["a", "b", "c"], sensitive="s"))

    persons = range(count)
    of_visit = dict(zip(second["v"].tolist(), second["p"].tolist(), strict=True))
    own: list[dict[int, list[Any]]] = [{p: [] for p in persons} for _ in range(4)]
    for row in people.to_pylist():
        own[0][row["p"]].append(row["a"])
    for row in tables[1].to_pylist():
        if row["p"] in own[1]:
            own[1][row["p"]].append(row["b"])
    for row in tables[2].to_pylist():
        who = of_visit.get(row["v"], -1) if "v" in row else row["p"]
        if who in own[2]:
            own[2][who].append(row["c"])
    for row in view.frame.to_pylist():
        own[3][row["p"]].append((row["a"], row["b"], row["c"]))
    counted = [{p: Counter(rows) for p, rows in table.items()} for table in own]
    one_row = [by_one(table) for table in own]
    all_rows = [{p for p in alone(each) if each[p]} for each in counted[:3]]
    together = alone({p: [each[p] for each in counted] for p in persons})
    assert [(one.by_one_row, one.by_all_rows) for one in found.tables] == [
        (len(one), len(every)) for one, every in zip(one_row[:3], all_rows, strict=True)
    ]
    assert (found.by_one_row, found.by_all_rows) == (len(one_row[3]), len(together))
    assert found.only_by_one_row == len(one_row[3] - set().union(*one_row[:3]))
    assert found.only_by_all_rows == len(together - set().union(*all_rows))
