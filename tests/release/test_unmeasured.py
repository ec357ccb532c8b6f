"""The columns of a release that nothing measures, judged by what they hold."""

from __future__ import annotations

import datetime
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from indiff import read_release, read_table
from indiff.release.unmeasured import broken, gaps, judge_columns

SIZE = 200
RNG = np.random.default_rng(5)
ORDER = RNG.permutation(SIZE)
PEOPLE = pa.table(
    {
        "name": [f"Person {number:03}" for number in range(SIZE)],
        "household": [f"h{number // 2}" for number in range(SIZE)],
        "number": [7000 + 3 * number for number in range(SIZE)],
        "age": RNG.integers(20, 80, SIZE),
        "born": [datetime.date(1950 + i % 50, 1 + i % 12, 1 + i % 28) for i in range(SIZE)],
        "ward": RNG.choice(["a", "b", "c"], SIZE),
        "ill": RNG.choice(["flu", "cold", "none"], SIZE),
    }
)


def table(**roles: Any) -> Any:
    return read_table(PEOPLE, quasi=["age"], sensitive="ill", **roles)


def judged(extra: dict[str, Any], *, shuffled: bool = True, **roles: Any) -> list[tuple[bool, str]]:
    """Judge columns of a release whose ages are decades; its rows in another order."""
    ages = [f"[{age // 10 * 10}, {age // 10 * 10 + 9}]" for age in PEOPLE["age"].to_pylist()]
    released = pa.table({"age": ages, "ill": PEOPLE["ill"], **extra})
    if shuffled:
        released = released.take(pa.array(ORDER))
    original = table(**roles)
    found = judge_columns(read_release(released, original), original)
    return [(one.names_people, one.content) for one in found]


@pytest.mark.parametrize(
    ("cells", "roles", "content"),
    [
        (PEOPLE["name"], {"identifier": "name"}, "holds the values of the identifier 'name'"),
        # Text that is different in every record is an identifier, though --quasi was given.
        (PEOPLE["name"], {}, "holds the values of the identifier 'name'"),
        ([name.upper() + " " for name in PEOPLE["name"].to_pylist()], {},
         "holds the values of the identifier 'name'"),
        # A release of which most names are hidden still has the others.
        ([name if i % 20 == 0 else "*" for i, name in enumerate(PEOPLE["name"].to_pylist())], {},
         "holds the values of the identifier 'name'"),
        (PEOPLE["number"], {}, "holds the values of 'number', different in every record"),
        (PEOPLE["household"], {"identifier": "household"},
         "holds the values of the identifier 'household'"),
        (range(SIZE), {}, "is the original's row number"),
        (range(1, SIZE + 1), {}, "is the original's row number"),
        ([str(number) for number in range(SIZE)], {}, "is the original's row number"),
    ],
)  # fmt: skip
def test_a_column_names_people_whatever_it_is_called(cells: Any, roles: Any, content: str) -> None:
    assert judged({"x": list(cells) if isinstance(cells, range) else cells}, **roles) == [
        (True, content)
    ]


def test_a_pseudonym_stands_for_an_identifier_whose_values_repeat() -> None:
    codes = [hash((number // 2, "salt")) for number in range(SIZE)]
    found = judged({"x": codes}, shuffled=False, identifier="household")
    assert found == [(True, "stands for the identifier 'household'")]
    # In another order of the rows nobody can tell; it is a column that nobody measured.
    assert judged({"x": codes}, identifier="household") == [(False, "")]


@pytest.mark.parametrize(
    ("cells", "content"),
    [
        (PEOPLE["born"], "holds the values of 'born'"),
        ([day.isoformat() for day in PEOPLE["born"].to_pylist()], "holds the values of 'born'"),
        (PEOPLE["age"], "holds the values of 'age'"),
        (PEOPLE["ward"], "holds the values of 'ward'"),
        ([day.year for day in PEOPLE["born"].to_pylist()], ""),
        (RNG.permutation(SIZE), "different in nearly every row, as pseudonyms and row numbers are"),
        (RNG.random(SIZE), "different in nearly every row, as pseudonyms and row numbers are"),
        (["*"] * (SIZE - 1) + ["only one"], ""),
    ],
)
def test_another_column_was_measured_by_nobody(cells: Any, content: str) -> None:
    assert judged({"x": cells}) == [(False, content)]


def test_what_has_its_own_name_is_as_it_was() -> None:
    assert judged({"born": PEOPLE["born"]}) == [(False, "as it is in the original")]


@pytest.mark.parametrize("cell", ["*", "", None, "hospital 7", 4])
def test_a_column_that_says_the_same_throughout_tells_nothing(cell: Any) -> None:
    assert judged({"name": [cell] * SIZE, "x": [cell] * SIZE}, identifier="name") == []


def test_an_identifiers_own_name_is_enough() -> None:
    found = judged({"name": RNG.permutation([f"p{i}" for i in range(SIZE)])}, identifier="name")
    assert found == [(True, "is an identifier of the table")]


@pytest.mark.parametrize("place", range(4))
def test_an_identifier_is_found_wherever_it_stands(place: int) -> None:
    harmless = {f"x{number}": RNG.integers(0, 9, SIZE) for number in range(3)}
    columns = list(harmless.items())
    columns.insert(place, ("who", PEOPLE["name"]))
    found = judged(dict(columns), identifier="name")
    names = "holds the values of the identifier 'name'"
    assert found == [(i == place, names if i == place else "") for i in range(4)]


def test_an_identifier_is_found_whichever_of_several_it_is() -> None:
    columns = {"n": PEOPLE["number"], "w": PEOPLE["ward"], "h": PEOPLE["household"]}
    found = judged(columns, identifier=["name", "household"])
    assert [names_people for names_people, _ in found] == [True, False, True]
    assert found[2][1] == "holds the values of the identifier 'household'"


def test_a_file_with_suppressed_or_repeated_rows_is_judged_alike() -> None:
    original = table(identifier="name")
    for rows in (ORDER[:40], np.concatenate([ORDER, ORDER])):
        frame = PEOPLE.take(pa.array(rows)).rename_columns(
            ["who", "h", "n", "age", "b", "w", "ill"]
        )
        found = judge_columns(read_release(frame, original), original)
        assert [one.name for one in found if one.names_people] == ["who", "n"]
        assert {one.name: one.content for one in found}["w"] == "holds the values of 'ward'"


def test_the_sentences_name_the_columns_and_no_values() -> None:
    original = table(identifier="name")
    found = judge_columns(read_release(PEOPLE, original), original)
    assert broken(found)[0] == "the release has the identifier 'name', which names people"
    assert "its column 'number' holds the values" in broken(found)[1]
    (rest,) = gaps(found)
    assert rest.startswith(
        "nothing was measured of columns that the release has: 'household' (as it is in the "
        "original), 'born' (as it is in the original), 'ward' (as it is in the original); make"
    )
    assert judge_columns(read_release(PEOPLE, original), original, key="name")[0].name != "name"


def test_sixty_columns_of_many_records_take_seconds() -> None:
    size = 60_000
    columns = {f"c{i}": RNG.integers(0, 10 ** (1 + i % 6), size) for i in range(58)}
    people = pa.table({"age": RNG.integers(0, 90, size), "ill": RNG.choice(["a", "b"], size)})
    for name, cells in columns.items():
        people = people.append_column(name, pa.array(cells))
    original = read_table(people, quasi=["age"], sensitive="ill")
    release = read_release(people.take(pa.array(RNG.permutation(size))), original)
    start = time.process_time()
    found = judge_columns(release, original)
    assert time.process_time() - start < 15
    assert {one.content for one in found} == {"as it is in the original"}
