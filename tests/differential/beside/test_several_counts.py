"""Several releases: what is told after each of them, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from indiff import UserError, read_table, test_releases
from indiff.differential.beside.several import _names

TABLE = read_table(
    pa.table({"id": [1, 2, 3, 4], "age": [20, 30, 40, 50], "ill": list("abac")}),
    quasi=["age"], sensitive="ill", identifier="id",
)  # fmt: skip


def released(ages: list[str], ill: str) -> pa.Table:
    return pa.table({"age": ages, "ill": list(ill)})


def test_what_is_known_after_each_release() -> None:
    """20 is told by the first alone; 50 has no candidate there, and one in the second."""
    first = released(["20", "[30, 40]", "[30, 40]"], "aba")
    second = released(["[20, 30]", "[20, 30]", "50"], "abc")
    found = test_releases(TABLE, [first, second])
    assert found.candidates.tolist() == [[1, 2], [2, 2], [2, 0], [0, 1]]
    first_step, second_step = found.growth
    assert first_step == {
        "release": "release 1", "determined": 1, "determined_by_closest": 1, "one_candidate": 1,
        "misled": 0, "no_candidate": 1,
        "values_left": {"least": 1, "median": 2.0, "mean": 5 / 3, "most": 2},
        "candidates_left": {"least": 1, "median": 2.0, "mean": 5 / 3, "most": 2},
    }  # fmt: skip
    assert (second_step["determined"], second_step["no_candidate"]) == (2, 0)
    assert second_step["values_left"]["mean"] == 6 / 4
    document = found.to_dict()
    assert [one["no_candidate"] for one in document["releases"]] == [1, 1]
    assert [one["determined_alone"] for one in document["releases"]] == [1, 1]
    assert [one["released_rows"] for one in document["releases"]] == [3, 3]
    assert (document["records"], document["records_in_table"]) == (4, 4)
    assert (document["determined"], document["determined_alone"]) == (2, 2)
    assert 0 < document["timing"]["seconds"] < 60
    frame = found.to_arrow()
    assert frame.column_names == [
        "record", "candidates_1", "candidates_2", "candidates_left_1", "values_left_1",
        "candidates_left_2", "values_left_2", "determined", "determined_alone",
        "determined_by_a_pair", "determined_by_closest",
    ]  # fmt: skip
    assert frame["candidates_2"].to_pylist() == [2, 2, 0, 1]
    assert frame["values_left_1"].to_pylist() == [1, 2, 2, -1]
    assert frame["candidates_left_1"].to_pylist() == [1, 2, 2, 0]
    assert frame["determined_by_closest"].to_pylist() == [True, False, False, True]


def test_releases_that_contradict_each_other_leave_no_value() -> None:
    """20 is a in the first and b in the second: there are candidates, and nothing is possible."""
    found = test_releases(TABLE, [released(["20", "30"], "ab"), released(["20", "30"], "bb")])
    assert found.everything.possible.tolist() == [[1, 0], [1, 1], [-1, -1], [-1, -1]]
    _, step = found.growth
    assert (step["no_candidate"], step["misled"], step["determined"]) == (2, 1, 1)
    assert step["values_left"] == {"least": 0, "median": 0.5, "mean": 0.5, "most": 1}
    assert step["candidates_left"] == {"least": 0, "median": 0.5, "mean": 0.5, "most": 1}


def test_where_nobody_has_a_candidate_nothing_is_left_to_count() -> None:
    (step,) = test_releases(TABLE, [released(["90", "91"], "ab")]).growth
    assert step["no_candidate"] == 4
    assert step["values_left"] is step["candidates_left"] is None


def test_the_closest_may_determine_after_the_first_and_not_after_the_last() -> None:
    """Among rows of stars, 20 has one specific row; the second release says nothing new."""
    first = released(["20", "*", "*"], "abc")
    found = test_releases(TABLE, [first, released(["*", "*"], "ab")], targets=[0])
    assert found.likely.tolist() == [[True, True]]
    assert [one["determined_by_closest"] for one in found.growth] == [1, 1]
    assert [one["determined"] for one in found.growth] == [0, 0]


def test_pairs_that_do_most_damage_come_first() -> None:
    first = released(["20", "[30, 40]", "[30, 40]", "50"], "abac")
    second = released(["[20, 30]", "[20, 30]", "[40, 50]", "[40, 50]"], "abac")
    third = released(["*"] * 4, "abac")
    found = test_releases(TABLE, [third, first, second])
    assert [(one["releases"], one["only_together"], one["determined"]) for one in found.pairs] == [
        (["release 2", "release 3"], 1, 3),  # 40 has b or a in the first, a or c in the second
        (["release 1", "release 2"], 0, 2),
        (["release 1", "release 3"], 0, 0),
    ]


def test_files_are_named_by_their_last_part_unless_two_are_called_alike(tmp_path: Path) -> None:
    assert _names(["x/one.csv", Path("y/two.csv"), pa.table({})]) == [
        "one.csv", "two.csv", "release 3",
    ]  # fmt: skip
    assert _names(["x/one.csv", "y/one.csv", "two.csv"]) == ["x/one.csv", "y/one.csv", "two.csv"]
    path = tmp_path / "one.csv"
    pc.write_csv(released(["20", "x"], "ab").slice(0, 1), path)
    assert _names([path]) == ["one.csv"]


@pytest.mark.parametrize(
    ("releases", "given", "says"),
    [
        ([], {}, "releases are tested together from 1 to 62; got 0"),
        ([TABLE.source], {"k": 0}, "k must be a whole number of at least 1; got 0"),
    ],
)
def test_what_cannot_be_asked(releases: Any, given: Any, says: str) -> None:
    with pytest.raises(UserError, match=says):
        test_releases(TABLE, releases, **given)


def test_62_releases_are_not_too_many() -> None:
    found = test_releases(TABLE, [released(["20", "30", "40", "50"], "abac")] * 62)
    assert int(found.determined.sum()) == 4
    assert len(found.pairs) == 62 * 61 // 2
    with pytest.raises(UserError, match="releases are tested together from 1 to 62; got 63"):
        test_releases(TABLE, [TABLE.source] * 63)


def test_a_region_that_covers_nobody_hides_no_other() -> None:
    found = test_releases(TABLE, [released(["20", "90", "[91, 99]"], "abc")])
    assert found.candidates.tolist() == [[1], [0], [0], [0]]
    assert found.to_dict()["releases"][0]["no_candidate"] == 3


def test_rows_of_other_people_are_said() -> None:
    found = test_releases(TABLE, [released(["20", "30", "40"], "azz")])
    (note,) = found.considered[0].notes
    assert note == (
        "2 of its rows hold a value of 'ill' that no record of the table has: rows of other people"
    )
    assert test_releases(TABLE, [released(["20", "30"], "ab")]).considered[0].notes == ()
