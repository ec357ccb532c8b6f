"""The view of several tables has every combination of rows that belong together, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import UserError, join_tables, read_table
from indiff.data.joining import joined as joining

PEOPLE = pa.table({"id": [1, 2, 3], "age": [30, 40, 50]})
VISITS = pa.table({"id": ["2", "1", "2", None, "9"], "visit": list("vwxyz"), "ward": list("ABACD")})
DRUGS = pa.table({"visit": ["v", "v", "w", "q"], "drug": ["p", "q", "p", "p"]})


def test_by_hand() -> None:
    view = join_tables([PEOPLE, VISITS, DRUGS], on=["id", "visit"])
    rows = list(
        zip(*(view.frame[name].to_pylist() for name in ("id", "ward", "drug")), strict=True)
    )
    assert rows == [(1, "B", "p"), (2, "A", "p"), (2, "A", "q"), (2, "A", None), (3, None, None)]
    assert view.rows.tolist() == [[0, 1, 1, 1, 2], [1, 0, 0, 2, -1], [2, 0, 1, -1, -1]]
    assert view.columns == (("age",), ("ward",), ("drug",))
    assert view.raw.notes == (
        "joined by 'id', 'visit': 3 people of table 1, 5 rows of table 2, 4 rows of table 3; "
        "5 rows in all",
        "2 rows of table 2 have no key, or one that the tables before it lack: nobody's, and in no "
        "number",
        "1 of 3 people have no row in table 2",
        "1 row of table 3 has no key, or one that the tables before it lack: nobody's, and in no "
        "number",
        "1 of 3 people have no row in table 3",
    )


def test_every_visit_stands_beside_every_prescription_of_a_person() -> None:
    drugs = pa.table({"id": [2, 2, 2, 3], "drug": list("pqrs")})
    view = join_tables([PEOPLE, VISITS.drop(["visit"]), drugs], on="id")
    assert view.frame.num_rows == 1 + 2 * 3 + 1


def test_keys_are_identifiers_and_never_released() -> None:
    view = join_tables([PEOPLE, VISITS], on=["id", "visit"])
    table = read_table(view, sensitive="ward")
    assert table.describe().startswith("identifier: id (numeric), visit (categorical); quasi: age")
    assert table.joined is view
    with pytest.raises(UserError, match="'id' is listed as identifier and as quasi"):
        read_table(view, quasi=["id"], sensitive="ward")


@pytest.mark.parametrize("seed", range(60))
def test_brute_force(seed: int) -> None:
    """Every combination of rows whose shared keys agree, in the order of the tables."""
    rng = np.random.default_rng(seed)

    def drawn(size: int, **columns: Any) -> pa.Table:
        made = {
            name: [
                None if rng.random() < 0.1 else values[k]
                for k in rng.integers(len(values), size=size)
            ]
            for name, values in columns.items()
        }
        return pa.table(made | {f"c{len(columns)}{size}": np.arange(size)})

    count = int(rng.integers(1, 6))
    people = pa.table({"p": [f"P{one}" for one in rng.permutation(count)], "a": np.arange(count)})
    keys = [f"P{one}" for one in range(count + 1)]
    visits = drawn(int(rng.integers(1, 9)), p=keys, v=["u", "v", "w"])
    last = drawn(
        int(rng.integers(10, 19)), **({"v": ["u", "v", "x"]} | ({"p": keys} if seed % 2 else {}))
    )
    view = join_tables([people, visits, last], on=["p", "v"])
    expected = [{"people": one, "visits": None, "last": None} for one in people.to_pylist()]
    for name, table in (("visits", visits), ("last", last)):
        longer = []
        for row in expected:
            told = (row["visits"] or {}) | row["people"]
            shared = [
                key
                for key in ("p", "v")
                if key in table.column_names and (key == "p" or name == "last")
            ]
            found = [
                one
                for one in table.to_pylist()
                if all(one[key] is not None and one[key] == told.get(key) for key in shared)
            ]
            longer += [row | {name: one} for one in found or [None]]
        expected = longer
    columns = [name for name in view.frame.column_names if name not in ("p", "v")]
    told = [tuple(row[name] for name in columns) for row in view.frame.to_pylist()]
    assert told == [
        tuple(
            {**(one["last"] or {}), **(one["visits"] or {}), **one["people"]}.get(name)
            for name in columns
        )
        for one in expected
    ]


@pytest.mark.parametrize(
    ("tables", "on", "says"),
    [
        ([PEOPLE], "id", "tables are joined from 2 on"),
        ([PEOPLE, VISITS], [], "on= names the columns by which tables are joined"),
        ([PEOPLE, VISITS], ["id", "id"], "each once; got id, id"),
        ([PEOPLE, VISITS], "idd", "no column of table 1 'idd': did you mean 'id'"),
        ([PEOPLE, VISITS], ["id", "vist"], "no key 'vist': did you mean 'visit'"),
        ([PEOPLE, DRUGS], ["id", "visit"], r"table 2 has none of id, visit"),
        ([VISITS, PEOPLE], "id", "column 'id' of table 1 lacks 1 and repeats 1 of 5"),
        ([PEOPLE, VISITS, DRUGS.append_column("ward", [list("abcd")])], ["id", "visit"],
         "table 2 and table 3 both have 'ward'"),
    ],
)  # fmt: skip
def test_what_cannot_be_joined(tables: Any, on: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        join_tables(tables, on=on)


def test_formats_hold_for_all_tables() -> None:
    with pytest.raises(UserError, match="one way of writing dates holds for all columns"):
        join_tables([PEOPLE, VISITS], on="id", date_format={"ward": "%Y"})


def test_files_are_named_and_numbers_with_a_gap_are_the_same_keys(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,age\n7,30\n8,40\n")
    (tmp_path / "visits.csv").write_text("id,ward\n7.0,A\n8.5,B\n,C\n")
    view = join_tables([tmp_path / "people.csv", tmp_path / "visits.csv"], on="id")
    assert view.names == ("people.csv", "visits.csv")
    assert view.frame["ward"].to_pylist() == ["A", None]


def test_a_view_that_does_not_fit_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joining, "free_memory", lambda: 10**9)
    many = pa.table({"id": [1] * 30_000, "x": np.arange(30_000)})
    more = pa.table({"id": [1] * 30_000, "y": np.arange(30_000)})
    with pytest.raises(
        UserError, match=r"have 900,000,002 rows, which need about .* GB"
    ) as refused:
        join_tables([PEOPLE, many, more], on="id")
    assert "1.0 GB are free" in str(refused.value)


def test_large_numbers_are_keys_as_they_are_written() -> None:
    people = pa.table({"id": [12_345_678_901, 9_007_199_254_740_991], "a": [1, 2]})
    visits = pa.table({"id": [12_345_678_901.0, 9_007_199_254_740_991.0, None], "b": [1, 2, 3]})
    assert join_tables([people, visits], on="id").frame["b"].to_pylist() == [1, 2]
